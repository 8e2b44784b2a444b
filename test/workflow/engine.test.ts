import { describe, expect, it } from 'vitest';
import { Conversation } from './conversation.ts';
import { agent, definition, edge, end, start } from './definitions.ts';

const booking = definition(
  [
    start('1', { greeting: 'Hello {{name | there}}.', prompt: 'Find out what {{name}} wants.' }),
    agent('2', { prompt: 'Ask for the day.', allow_interrupt: true }),
    end('3', { prompt: 'Thank them.' }),
    { id: 'g', type: 'globalNode', data: { name: 'Global', prompt: 'You work for {{company}}.' } },
  ],
  [
    edge('1', '2', { label: 'Book', condition: 'They want to book.' }),
    edge('2', '3', { label: 'Done', condition: 'The day is known.' }),
  ],
);

function begun(): Conversation {
  return new Conversation(booking, 'model').start({ name: 'Ana', company: 'Acme' }).heard();
}

describe('the start of a call', () => {
  it('enters the start node, listens and speaks the greeting', () => {
    const call = new Conversation(booking, 'model', { dictionary: 'Acme, root canal' });
    call.start({ name: 'Ana' });
    expect(call.actions).toEqual([
      {
        type: 'log',
        body: {
          type: 'node.entered',
          nodeId: '1',
          nodeName: 'Start',
          previousNodeId: null,
          previousNodeName: null,
          allowInterrupt: false,
        },
      },
      {
        type: 'expect',
        expectation: {
          closed: false,
          phrases: expect.any(Array),
          slots: ['yes_no'],
          boost: ['Acme', 'root canal'],
        },
      },
      { type: 'say', utteranceId: 1, kind: 'greeting', text: 'Hello Ana.', interruptible: false },
    ]);
  });

  it('asks the model to open if there is no greeting', () => {
    const call = new Conversation(definition([start('1')]), 'model').start();
    const { messages, tools, kind } = call.last('generate');
    expect(kind).toBe('greeting');
    expect(tools).toEqual([]);
    expect(messages[0]).toEqual({ role: 'system', content: 'Open the call.' });
    expect(messages[1]?.role).toBe('user');
  });

  it('takes a greeting that renders to no words for no greeting', () => {
    for (const policy of ['model', 'scripted'] as const) {
      const greeted = definition([start('1', { greeting: '{{name}}, {{question}}?' }), end('2')]);
      const call = new Conversation(greeted, policy).start({ name: ' ' });
      expect(call.said, policy).not.toContain(' , ?');
      expect(
        call.said.filter((text) => !/\p{L}/u.test(text)),
        policy,
      ).toEqual([]);
    }
  });

  it('speaks an override in the place of the greeting, and ignores a wrong one', () => {
    const call = (greeting: unknown) =>
      new Conversation(booking, 'model').start({ name: 'Bo', greeting_override: greeting }).said;
    expect(call({ type: 'text', text: 'Hi {{name}}!' })).toEqual(['Hi Bo!']);
    expect(call({ type: 'audio', recording_id: 'x' })).toEqual(['Hello Bo.']);
    expect(call('Hi')).toEqual(['Hello Bo.']);
  });

  it('waits before it opens where the author wants that, unless the caller speaks first', () => {
    const delayed = definition([
      start('1', { greeting: 'Hello.', delayed_start: true, delayed_start_duration: 1.5 }),
    ]);
    const call = new Conversation(delayed, 'model').start();
    expect(call.actions).toEqual([{ type: 'wait', waitId: 1, delayMs: 1_500 }]);
    expect(call.tell({ type: 'waited', waitId: 1 }).said).toEqual(['Hello.']);
    const impatient = new Conversation(delayed, 'model').start().caller('Anyone?');
    expect(impatient.said).toEqual(['Hello.']);
    expect(impatient.tell({ type: 'waited', waitId: 1 }).actions).toEqual([]);
  });
});

describe('a caller who only greets and thereby cuts off the greeting', () => {
  const cut = (text: string) =>
    new Conversation(booking, 'model').start({ name: 'Ana' }).interrupted(1, 'Hello').caller(text);

  it('gets it once more from its beginning, and no second one of the model', () => {
    const call = cut('Hello?');
    expect(call.of('say')).toMatchObject([{ kind: 'greeting', text: 'Hello Ana.' }]);
    expect(call.of('generate')).toEqual([]);
    const { utteranceId } = call.last('say');
    expect(call.interrupted(utteranceId, 'Hel').caller('Hello?').of('generate')).toHaveLength(1);
  });

  it('gets an answer to everything else', () => {
    expect(cut('Hello, I want to book').of('generate')).toHaveLength(1);
    expect(begun().caller('Hello?').of('generate')).toHaveLength(1);
  });
});

describe('what the model is asked', () => {
  it('is under the global prompt, a blank line and the prompt of the node', () => {
    const { messages } = begun().caller('Hi.').last('generate');
    expect(messages).toEqual([
      { role: 'system', content: 'You work for Acme.\n\nFind out what Ana wants.' },
      { role: 'user', content: '(The call is connected.)' },
      { role: 'assistant', content: 'Hello Ana.', toolCalls: [] },
      { role: 'user', content: 'Hi.' },
    ]);
  });

  it('leaves the global prompt out where the node does not want it', () => {
    const call = new Conversation(
      definition([
        start('1', { add_global_prompt: false }),
        { id: 'g', type: 'globalNode', data: { name: 'G', prompt: 'Never shown.' } },
      ]),
      'model',
    ).start();
    expect(call.last('generate').messages[0]?.content).toBe('Open the call.');
  });

  it('offers every edge as a function that carries what the next step needs', () => {
    const [tool] = begun().caller('Hi.').last('generate').tools;
    expect(tool?.name).toBe('book');
    expect(tool?.description).toMatch(/^They want to book\.\n.*Ask for the day\.$/);
    expect(tool?.parameters).toEqual({ type: 'object', properties: {}, required: [] });
  });

  it('can name gathered values in prompts', () => {
    const call = new Conversation(
      definition(
        [
          start('1', {
            extraction_enabled: true,
            extraction_variables: [{ name: 'day', type: 'string' }],
          }),
          agent('2', { prompt: 'The day is {{gathered_context.day | unknown}}.' }),
        ],
        [edge('1', '2', { label: 'go' })],
      ),
      'model',
    ).start();
    call.answer('Which day?').heard().caller('Monday').answer('', 'go');
    expect(call.last('generate').messages[0]?.content).toBe('The day is unknown.');
    const { extractionId } = call.last('extract');
    call.tell({ type: 'extracted', extractionId, values: { day: 'monday' } });
    call.answer('So?').heard().caller('Yes');
    expect(call.last('generate').messages[0]?.content).toBe('The day is monday.');
  });

  it('reports the keys that were pressed', () => {
    const { messages } = begun().keys('12').last('generate');
    expect(messages.at(-1)).toEqual({ role: 'user', content: '(keys pressed: 12)' });
  });
});

describe('history', () => {
  it('carries what a service wants back to the next request', () => {
    const vendor = {
      service: 'anthropic',
      family: 'haiku',
      data: [{ thinking: '', signature: 's' }],
    };
    const call = begun().caller('Hi.');
    const { requestId } = call.last('generate');
    const toolCalls = [{ id: 'c', name: 'nonsense', arguments: {}, vendor }];
    call.tell({ type: 'model-answered', requestId, text: '', toolCalls, vendor });
    expect(call.last('generate').messages.at(-2)).toEqual({
      role: 'assistant',
      content: '',
      toolCalls,
      vendor,
    });
  });

  it('keeps only what was heard, and the model gets the interruption', () => {
    const call = begun().caller('Hi.');
    const { utteranceId } = call.last('generate');
    call.answer('We have Monday, Tuesday and Wednesday free.');
    call.interrupted(utteranceId, 'We have Monday,').caller('Monday!');
    expect(call.last('generate').messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'We have Monday,', toolCalls: [] },
      {
        role: 'user',
        content: '(The caller interrupted you there and heard nothing after it.) Monday!',
      },
    ]);
  });

  it('drops what was cut off before its first word', () => {
    const call = begun().caller('Hi.');
    const { utteranceId } = call.last('generate');
    call.answer('We have Monday.').interrupted(utteranceId, '').caller('And I want to book.');
    expect(call.last('generate').messages.at(-1)).toEqual({
      role: 'user',
      content: 'Hi.\nAnd I want to book.',
    });
  });

  it('keeps what was heard of a request that was abandoned', () => {
    const call = begun().caller('Hi.');
    const first = call.last('generate');
    call.caller('Wait.');
    expect(call.types).toEqual(['abandon', 'generate']);
    expect(call.of('abandon')).toEqual([{ type: 'abandon', requestId: first.requestId }]);
    call.interrupted(first.utteranceId, 'We');
    call.tell({ type: 'model-answered', requestId: first.requestId, text: 'late', toolCalls: [] });
    expect(call.actions).toEqual([]);
    call.answer('Yes?').heard().caller('Book.');
    const contents = call.last('generate').messages.map(({ content }) => content);
    expect(contents).not.toContain('late');
    expect(contents).toContain('We');
  });

  it('abandons a request whose speech the caller interrupts', () => {
    const call = begun().caller('Hi.');
    const { requestId, utteranceId } = call.last('generate');
    call.interrupted(utteranceId, 'Well, we');
    expect(call.actions).toEqual([{ type: 'abandon', requestId }]);
  });

  it('has no second answer for a caller who interrupts before the first word of a slow model', () => {
    const call = begun().caller('Hi.');
    call.interrupted(call.last('generate').utteranceId, '');
    expect(call.answer('We have Monday.').actions).toEqual([]);
    expect(call.caller('And I want to book.').types).toEqual(['generate']);
  });

  it('asks a caller whose voice without words has cut off an answer', () => {
    const call = begun().caller('Hi.');
    const { requestId, utteranceId } = call.last('generate');
    call.interrupted(utteranceId, '').caller('', 0);
    expect(call.of('abandon')).toEqual([{ type: 'abandon', requestId }]);
    expect(call.said).toEqual(['Sorry, could you say that again, please?']);
  });

  it('fails a request whose speech ended without a word', () => {
    const call = begun().caller('Hi.');
    const { utteranceId } = call.last('generate');
    expect(call.interrupted(utteranceId, '').actions).toEqual([]);
    expect(call.fail().said).toEqual([expect.stringContaining('trouble')]);
  });
});

describe('a move to another node', () => {
  it('needs no second response when the first one asked for the new node', () => {
    const call = begun().caller('Book, please.').answer('Sure. Which day?', 'book');
    expect(call.node).toBe('2');
    expect(call.types).toEqual(['log', 'log', 'log', 'expect']);
    expect(call.of('log').map(({ body }) => body.type)).toEqual([
      'function.called',
      'function.returned',
      'node.entered',
    ]);
    call.heard().caller('Monday.');
    expect(call.last('generate').messages.slice(-3)).toEqual([
      {
        role: 'assistant',
        content: 'Sure. Which day?',
        toolCalls: [expect.objectContaining({ name: 'book' })],
      },
      { role: 'tool', callId: expect.any(String), content: '{"status":"done"}' },
      { role: 'user', content: 'Monday.' },
    ]);
  });

  it('goes on speaking at once when the first response was a statement', () => {
    const call = begun().caller('Book, please.').answer('Sure.', 'book');
    const request = call.last('generate');
    expect(call.of('generate')).toEqual([request]);
    expect(request.messages[0]?.content).toContain('Ask for the day.');
    expect(request.interruptible).toBe(true);
    expect(request.messages.map(({ content }) => content)).toContain('Sure.');
  });

  it('speaks under the new prompt when the first response was silent', () => {
    const call = begun().caller('Book, please.').answer('', 'book');
    expect(call.last('generate').messages.at(-1)?.role).toBe('tool');
    expect(call.last('generate').tools.map(({ name }) => name)).toEqual(['done']);
  });

  it('speaks the line of the transition first, rendered and uninterruptible', () => {
    const call = new Conversation(
      definition(
        [start('1', { greeting: 'Hi.' }), agent('2', { allow_interrupt: true })],
        [edge('1', '2', { label: 'go', transition_speech: 'One moment, {{name}}.' })],
      ),
      'model',
    )
      .start({ name: 'Ana' })
      .heard()
      .caller('Go.');
    expect(call.last('generate').tools[0]?.description).toMatch(/Say nothing yourself/);
    call.answer('', 'go');
    expect(call.types).toEqual(['log', 'log', 'say', 'log', 'expect', 'generate']);
    expect(call.of('say')).toMatchObject([
      { kind: 'transition', text: 'One moment, Ana.', interruptible: false },
    ]);
    const shown = call.last('generate').messages.map(({ content }) => content);
    expect(shown).not.toContain('One moment, Ana.');
  });

  it('takes one edge of an answer and refuses the others once', () => {
    const call = begun().caller('Book.').answer('', 'book', 'book', 'nonsense');
    const results = call
      .of('log')
      .flatMap(({ body }) => (body.type === 'function.returned' ? [JSON.parse(body.result)] : []));
    expect(results.map(({ status }) => status)).toEqual(['done', 'error', 'error']);
    expect(call.node).toBe('2');
  });

  it('answers the model that a function does not exist, and has it speak', () => {
    const call = begun().caller('Book.').answer('', 'fly');
    expect(call.node).toBe('1');
    const last = call.last('generate').messages.at(-1);
    expect(last).toMatchObject({ role: 'tool', content: expect.stringContaining('fly') });
  });

  it('stops a model that calls functions in a cycle without a word', () => {
    const call = new Conversation(
      definition(
        [start('1', { greeting: 'Hi.' }), agent('2')],
        [edge('1', '2', { label: 'go' }), edge('2', '2', { label: 'again' })],
      ),
      'model',
    )
      .start()
      .heard()
      .caller('Go.')
      .answer('', 'go');
    for (let count = 0; count < 5; count += 1) call.answer('', 'again');
    expect(call.of('generate')).toEqual([]);
    expect(call.said).toEqual(['Sorry, could you say that again, please?']);
    expect(call.caller('Go on.').of('generate')).toHaveLength(1);
  });
});

describe('the end of a call', () => {
  it('comes when closing words that came with the move have been heard', () => {
    const call = begun().caller('Book.').answer('Which day?', 'book').heard().caller('Monday.');
    call.answer('Thank you, goodbye.', 'done');
    expect(call.types).toEqual(['log', 'log', 'log', 'expect', 'wait']);
    expect(call.heard().actions).toEqual([{ type: 'end', reason: 'user_qualified' }]);
    expect(call.caller('Hello?').actions).toEqual([]);
  });

  it('has the closing words generated when the move was silent', () => {
    const call = begun().caller('Book.').answer('Which day?', 'book').heard().caller('Monday.');
    call.answer('', 'done');
    expect(call.last('generate')).toMatchObject({
      kind: 'goodbye',
      interruptible: false,
      tools: [],
    });
    expect(call.answer('Goodbye.').actions).toEqual([]);
    expect(call.heard().actions).toEqual([{ type: 'end', reason: 'user_qualified' }]);
  });

  it('comes even if the model fails at the closing words', () => {
    const call = begun().caller('Book.').answer('Which day?', 'book').heard().caller('Monday.');
    call.answer('', 'done').fail();
    expect(call.said).toEqual(['Thank you for your time. Goodbye.']);
    call.heard();
    expect(call.last('end').reason).toBe('user_qualified');
  });

  it('comes by a timer if the closing words are never heard to their end', () => {
    const call = begun().caller('Book.').answer('Which day?', 'book').heard().caller('Monday.');
    call.answer('', 'done');
    const { waitId, delayMs } = call.last('wait');
    expect(delayMs).toBe(30_000);
    call.tell({ type: 'waited', waitId });
    expect(call.types).toEqual(['abandon', 'end']);
  });

  it('comes by silence if the model says goodbye and never moves', () => {
    const call = begun().caller('Bye.').answer('Goodbye, have a nice day.').heard().idle();
    expect(call.last('end').reason).toBe('user_idle_max_duration_exceeded');
  });
});

describe('failures of the model', () => {
  it('are explained to the caller once, then the call ends politely', () => {
    const call = begun().caller('Hi.').fail();
    expect(call.said).toEqual([expect.stringContaining('say that again')]);
    call.heard().caller('Hi!').fail();
    expect(call.said).toEqual([expect.stringContaining('Goodbye')]);
    expect(call.of('say')[0]?.interruptible).toBe(false);
    expect(call.heard().actions).toEqual([{ type: 'end', reason: 'pipeline_error' }]);
  });

  it('are reset by a good answer', () => {
    const call = begun().caller('Hi.').fail().heard().caller('Hi!').answer('Hello.').heard();
    call.caller('Hm?').fail();
    expect(call.said).toEqual([expect.stringContaining('say that again')]);
  });

  it('include an answer without words, after which the agent keeps listening', () => {
    const call = begun().caller('555 0100').answer('');
    expect(call.of('say')).toMatchObject([{ kind: 'fallback' }]);
    expect(call.heard().caller('Hello?').of('generate')).toHaveLength(1);
  });
});

describe('silence', () => {
  it('leads to a question, then ends the call', () => {
    const call = begun().idle();
    expect(call.last('generate')).toMatchObject({ kind: 'idle', tools: [] });
    call.answer('Are you there?').heard().idle();
    expect(call.last('generate')).toMatchObject({ kind: 'goodbye', interruptible: true });
    call.answer('Goodbye.').heard();
    expect(call.last('end').reason).toBe('user_idle_max_duration_exceeded');
  });

  it('is reset when the caller speaks', () => {
    const call = begun().idle().answer('Are you there?').heard().caller('Yes.').answer('Good.');
    expect(call.heard().idle().last('generate').kind).toBe('idle');
  });

  it('means nothing while the model is being asked', () => {
    expect(begun().caller('Hi.').idle().actions).toEqual([]);
  });

  it('is asked about in a fixed line if the model fails', () => {
    expect(begun().idle().fail().said).toEqual(['Are you still there?']);
  });
});

describe('extraction', () => {
  const asking = definition(
    [
      start('1', {
        greeting: 'Hi.',
        extraction_enabled: true,
        extraction_prompt: 'For {{company}}.',
        extraction_variables: [
          { name: 'day', type: 'string', prompt: 'The day they want' },
          { name: 'count', type: 'number' },
          { name: 'first', type: 'boolean' },
        ],
      }),
      agent('2', {
        extraction_enabled: true,
        extraction_variables: [{ name: 'call_disposition', type: 'string' }],
      }),
      end('3'),
    ],
    [edge('1', '2', { label: 'next' }), edge('2', '3', { label: 'done' })],
  );
  const moved = () =>
    new Conversation(asking, 'model')
      .start({ company: 'Acme' })
      .heard()
      .caller('Two of us on Monday.')
      .answer('What else?', 'next');

  it('reads a node that is left, out of band', () => {
    const { messages } = moved().last('extract');
    expect(messages[0]?.content).toContain('- day (string): The day they want\n- count (number)');
    expect(messages[0]?.content).toContain('For Acme.');
    expect(messages[1]?.content).toContain('Caller: Two of us on Monday.');
  });

  it('keeps what was declared, in its type where nothing is lost', () => {
    const call = moved();
    const { extractionId } = call.last('extract');
    const values = { day: 1, count: '2', first: 'yes', nodes_visited: ['x'] };
    call.tell({ type: 'extracted', extractionId, values });
    expect(call.gathered).toEqual({ day: '1', count: 2, first: 'yes' });
    expect(call.of('log')).toEqual([
      {
        type: 'log',
        body: {
          type: 'variables.extracted',
          nodeId: '1',
          values: { day: '1', count: 2, first: 'yes' },
        },
      },
    ]);
    expect(call.tell({ type: 'extracted', extractionId, values: { day: 'late' } }).actions).toEqual(
      [],
    );
  });

  // Two nodes ask for the day, and the caller changes it in between. The first answer came last and won.
  it('keeps the later value of two nodes, whichever answer comes first', () => {
    const day = {
      extraction_enabled: true,
      extraction_variables: [
        { name: 'day', type: 'string' },
        { name: 'count', type: 'number' },
      ],
    };
    const twice = definition(
      [start('1', { greeting: 'Hi.', ...day }), agent('2', day), agent('3', day)],
      [edge('1', '2', { label: 'next' }), edge('2', '3', { label: 'on' })],
    );
    const call = new Conversation(twice, 'model').start().heard().caller('Two, on Monday.');
    call.answer('Sure?', 'next').heard().caller('No, on Friday.').answer('Well.', 'on');
    const [first = 0, second = 0] = call.all.flatMap((one) =>
      one.type === 'extract' ? [one.extractionId] : [],
    );
    const values = { day: 'friday', count: null };
    call.tell({ type: 'extracted', extractionId: second, values });
    call.tell({ type: 'extracted', extractionId: first, values: { day: 'monday', count: 2 } });
    expect(call.gathered).toEqual({ day: 'friday', count: 2 });
  });

  it('keeps an answer that was no object as it came', () => {
    const call = moved();
    const { extractionId } = call.last('extract');
    call.tell({ type: 'extracted', extractionId, values: { raw: 'I think Monday' } });
    expect(call.gathered).toEqual({ raw: 'I think Monday' });
  });

  it('is waited for at the end, the last node included, within a limit', () => {
    const call = moved().heard().caller('Nothing.').answer('Bye.', 'done').heard();
    expect(call.types).toEqual(['wait']);
    expect(call.last('wait').delayMs).toBe(5_000);
    const ids = call.all.flatMap((one) => (one.type === 'extract' ? [one.extractionId] : []));
    expect(ids).toHaveLength(2);
    const [first = 0, second = 0] = ids;
    call.tell({ type: 'extracted', extractionId: second, values: { call_disposition: 'booked' } });
    expect(call.types).toEqual(['log']);
    call.tell({ type: 'extraction-failed', extractionId: first, code: 'LLM_TIMEOUT' });
    expect(call.actions).toEqual([{ type: 'end', reason: 'user_qualified' }]);
    expect(call.engine.summarize(call.state)).toEqual({
      gatheredContext: {
        call_disposition: 'booked',
        extracted_variables: { call_disposition: 'booked' },
        nodes_visited: ['Start', 'Agent 2', 'End 3'],
      },
      extractedVariables: { call_disposition: 'booked' },
      details: {},
      nodesVisited: ['Start', 'Agent 2', 'End 3'],
      disposition: 'booked',
      lastNode: { id: '3', name: 'End 3' },
      userSpoke: true,
      endReason: 'user_qualified',
    });
  });

  it('does not hold the call for longer than that', () => {
    const call = moved().heard().caller('Nothing.').answer('Bye.', 'done').heard();
    call.tell({ type: 'waited', waitId: call.last('wait').waitId });
    expect(call.actions).toEqual([{ type: 'end', reason: 'user_qualified' }]);
  });

  it('reads the current node when the caller hangs up', () => {
    const call = moved().ending('user_hangup');
    expect(call.types).toEqual(['extract', 'wait']);
    for (const action of call.all) {
      if (action.type === 'extract')
        call.tell({ type: 'extracted', extractionId: action.extractionId, values: {} });
    }
    expect(call.last('end').reason).toBe('user_hangup');
  });

  // The last words come up to two seconds after the hang-up.
  it('reads the last words of a caller who hangs up, and nothing answers them', () => {
    const call = moved().ending('user_hangup').caller('On Friday.');
    expect(call.types).toEqual(['extract', 'wait']);
    expect(call.last('extract').messages[1]?.content).toMatch(/On Friday\.$/);
    for (const action of call.all) {
      if (action.type !== 'extract') continue;
      expect(call.state.phase).toBe('ending');
      call.tell({ type: 'extracted', extractionId: action.extractionId, values: {} });
    }
    expect(call.actions).toEqual([...call.of('log'), { type: 'end', reason: 'user_hangup' }]);
  });

  // The words of a first turn were in the transcript alone: the call had ended before they came.
  it('reads the words of a caller who hangs up within the first turn', () => {
    const call = new Conversation(asking, 'model').start().heard();
    call.tell({ type: 'ending', reason: 'user_hangup', lastWordsFollow: true });
    expect(call.types).toEqual(['wait']);
    expect(call.caller('Two of us on Monday.').types).toEqual(['log', 'extract', 'wait']);
    expect(call.last('log').body).toMatchObject({ code: 'VARIABLE_MISSING' });
    const { extractionId, messages } = call.last('extract');
    expect(messages[1]?.content).toMatch(/Two of us on Monday\.$/);
    expect(call.tell({ type: 'last-words-complete' }).actions).toEqual([]);
    call.tell({ type: 'extracted', extractionId, values: { day: 'monday' } });
    expect(call.gathered).toEqual({ day: 'monday' });
    expect(call.last('end').reason).toBe('user_hangup');
  });

  it('is waited for until the last words are there, however soon the values come', () => {
    const call = moved().tell({ type: 'ending', reason: 'user_hangup', lastWordsFollow: true });
    const giveValues = () => {
      for (const { extractionId } of call.state.extractions)
        call.tell({ type: 'extracted', extractionId, values: {} });
    };
    giveValues();
    expect(call.state.phase).toBe('ending');
    call.caller('On Friday.').tell({ type: 'last-words-complete' });
    expect(call.state.phase).toBe('ending');
    giveValues();
    expect(call.last('end').reason).toBe('user_hangup');
  });

  it('ends with the last words if there are none', () => {
    const call = new Conversation(asking, 'model').start().heard();
    call.tell({ type: 'ending', reason: 'user_hangup', lastWordsFollow: true });
    expect(call.tell({ type: 'last-words-complete' }).actions).toEqual([
      { type: 'end', reason: 'user_hangup' },
    ]);
  });

  it('is not asked for when the caller has said nothing', () => {
    const call = new Conversation(asking, 'model').start().ending('user_hangup');
    expect(call.actions).toEqual([{ type: 'end', reason: 'user_hangup' }]);
  });

  it('does not replace a value by null', () => {
    const call = moved();
    const { extractionId } = call.last('extract');
    call.tell({ type: 'extracted', extractionId, values: { day: 'monday' } });
    call.state = structuredClone(call.state);
    call.state.extractions = [{ extractionId: 99, nodeId: '1' }];
    call.tell({ type: 'extracted', extractionId: 99, values: { day: null, count: null } });
    expect(call.gathered).toEqual({ day: 'monday', count: null });
  });
});
