// A model that uses tools. Source: contract §8.2, §8.4, §8.7, §8.9.

import { describe, expect, it } from 'vitest';
import { ToolConversation } from '../tool-conversation.ts';

const ORDER = { state: 'sent' };

describe('tools', () => {
  it('are offered before the edges', () => {
    const { tools } = new ToolConversation().last('generate');
    expect(tools.map(({ name }) => name)).toEqual([
      'find_order',
      'save',
      'safe_calculator',
      'hang_up',
      'leave',
      'front_desk',
      'colleague',
      'route',
      'more',
    ]);
  });

  it('that ask another system say their message, and the model speaks about the reply', () => {
    const talk = new ToolConversation().calls('', ['find_order', { id: 'A 7' }]);
    expect(talk.said).toEqual(['One moment, Ana.']);
    expect(talk.of('say')[0]).toMatchObject({ kind: 'notice', interruptible: false });
    expect(talk.of('call-out')).toMatchObject([
      {
        tool: 'http_api',
        request: { method: 'GET', url: 'https://shop.example/orders/A%207?id=A%207' },
      },
    ]);
    talk.replies(200, ORDER);
    expect(talk.types).toEqual(['log', 'generate']);
    expect(talk.results).toEqual({ c0: { status: 'success', status_code: 200, data: ORDER } });
    const messages = JSON.stringify(talk.last('generate').messages);
    expect(messages).not.toContain('One moment');
  });

  // The notice stood between the calls and their results: OpenAI and others refuse such a conversation, and no later
  // request of the call was answered.
  it('have their results directly behind their calls, whatever was said while the model wrote', () => {
    const talk = new ToolConversation().tell({ type: 'ending-soon', text: 'One minute left.' });
    talk.calls('Let me see.', ['find_order', { id: '1' }]).replies(200, ORDER);
    const messages = talk.last('generate').messages.slice(-2);
    expect(messages).toMatchObject([
      {
        role: 'assistant',
        content: 'Let me see. One minute left.',
        toolCalls: [{ name: 'find_order' }],
      },
      { role: 'tool', callId: 'c0' },
    ]);
  });

  it.each([
    [302, null, 'The server redirects the request, and redirects are not followed (status 302).'],
    [404, null, 'The server refused the request (status 404).'],
    [409, { detail: 'slot taken' }, 'The server refused the request (status 409).'],
    [422, { detail: [] }, 'The server refused the request (status 422).'],
    [500, 'broken', 'The server failed (status 500).'],
  ])('tell the model that the request failed with status %i', (status, data, error) => {
    const talk = new ToolConversation().calls('', ['save']).replies(status, data);
    expect(talk.results).toEqual({ c0: { status: 'error', error, status_code: status, data } });
  });

  it('keep the error of a long reply that is cut off', () => {
    const talk = new ToolConversation().calls('', ['save']).replies(500, 'x'.repeat(50_000));
    expect(talk.results['c0']).toMatchObject({
      status: 'error',
      error: 'The server failed (status 500).',
      status_code: 500,
      is_cut_off: true,
    });
  });

  it('that get no reply are reported to the model', () => {
    const talk = new ToolConversation().calls('', ['save']).noReply('Nobody answered.', true);
    expect(talk.results).toEqual({ c0: { status: 'error', error: 'Nobody answered.' } });
  });

  it('cut off a reply that is too long for a model', () => {
    const talk = new ToolConversation().calls('', ['save']).replies(200, 'x'.repeat(50_000));
    expect(talk.results['c0']).toMatchObject({ status: 'success', is_cut_off: true });
    expect(JSON.stringify(talk.results).length).toBeLessThan(20_000);
  });

  it('with arguments that do not fit are not run: the model gets the fault', () => {
    const talk = new ToolConversation().calls('', ['find_order']);
    expect(talk.of('call-out')).toEqual([]);
    expect(talk.results).toEqual({
      c0: { status: 'error', error: 'The arguments are invalid: id is required' },
    });
  });

  it('do sums at once', () => {
    const talk = new ToolConversation().calls('', ['safe_calculator', { expression: '2*(3+4)' }]);
    expect(talk.results).toEqual({ c0: { expression: '2*(3+4)', result: 14 } });
    talk.calls('', ['safe_calculator', { expression: 'two' }]);
    expect(talk.results['c0']).toMatchObject({ status: 'error' });
  });

  it('run side by side, and the model speaks when all are over', () => {
    const talk = new ToolConversation().calls('Let me see.', ['find_order', { id: '1' }], ['save']);
    const [first, second] = talk.of('call-out');
    if (first === undefined || second === undefined) throw new Error('two requests');
    talk.replies(201, 'b', second);
    expect(talk.of('generate')).toEqual([]);
    talk.replies(200, 'a', first);
    expect(talk.of('generate')).toHaveLength(1);
    expect(talk.results).toEqual({
      c0: { status: 'success', status_code: 200, data: 'a' },
      c1: { status: 'success', status_code: 201, data: 'b' },
    });
  });

  it('beside an edge come first, then the conversation moves', () => {
    const talk = new ToolConversation().calls('', ['more'], ['save'], ['hang_up', { reason: 'x' }]);
    expect(talk.node).toBe('talk');
    talk.replies(200, 1);
    expect(talk.node).toBe('more');
    expect(talk.results).toEqual({
      c0: { status: 'done' },
      c1: { status: 'success', status_code: 200, data: 1 },
      c2: { status: 'error', error: 'The conversation has already moved on.' },
    });
  });

  it('beside an edge and a question: what the caller says meanwhile is answered in the new node', () => {
    const asked = new ToolConversation().calls('What is your name?', ['save'], ['more']);
    expect(asked.replies(200, 1).of('generate')).toEqual([]);
    const talk = new ToolConversation().calls('What is your name?', ['save'], ['more']);
    talk.caller('Ana').replies(200, 1);
    expect(talk.node).toBe('more');
    expect(talk.last('generate').messages.at(-1)).toEqual({ role: 'user', content: 'Ana' });
    expect(talk.types.at(-1)).toBe('generate');
  });

  it('that do not exist leave no announcement without its rest, and no question is asked twice', () => {
    const announced = new ToolConversation().calls('Let me look that up.', ['look_up']);
    expect(announced.of('generate')).toHaveLength(1);
    expect(announced.results['c0']).toMatchObject({ status: 'error' });
    const asked = new ToolConversation().calls('Which day suits you?', ['wait']);
    expect(asked.of('generate')).toEqual([]);
  });

  it('are heard out: what the caller says meanwhile is answered with their result', () => {
    const talk = new ToolConversation().calls('', ['save']).caller('are you there');
    expect(talk.actions).toEqual([]);
    talk.idle();
    expect(talk.actions).toEqual([]);
    talk.replies(200, 1);
    const messages = talk.last('generate').messages;
    expect(messages.at(-2)).toMatchObject({ role: 'tool' });
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'are you there' });
  });

  it('that are no longer needed are stopped, and each has one result', () => {
    const talk = new ToolConversation().calls('', ['save'], ['front_desk']).ending('user_hangup');
    expect(talk.of('stop-tool')).toHaveLength(2);
    expect(talk.of('end')).toEqual([{ type: 'end', reason: 'user_hangup' }]);
    expect(talk.logged).toEqual([
      ['save', { status: 'error', error: 'The call ended before this was finished.' }],
      ['front_desk', { status: 'error', error: 'The call ended before this was finished.' }],
    ]);
    talk.replies(200, 1);
    expect(talk.actions).toEqual([]);
  });

  it('answers that come twice, or for nothing, change nothing', () => {
    const talk = new ToolConversation().calls('', ['save']).replies(200, 1).replies(200, 2);
    expect(talk.actions).toEqual([]);
    talk.tell({ type: 'transferred', toolRunId: 999 });
    talk.tell({ type: 'transfer-failed', toolRunId: 999, reason: 'timeout', message: '' });
    expect(talk.actions).toEqual([]);
  });
});

describe('the tool that ends the call', () => {
  it('says its message, and ends once that is heard', () => {
    const talk = new ToolConversation().calls('', ['hang_up', { reason: 'wrong number' }]);
    expect(talk.said).toEqual(['Goodbye, Ana.']);
    expect(talk.logged).toEqual([['hang_up', { status: 'success', action: 'ending_call' }]]);
    talk.heard();
    expect(talk.last('end')).toEqual({ type: 'end', reason: 'end_call_tool' });
    expect(talk.engine.summarize(talk.state).disposition).toBe('wrong number');
    expect(talk.all).toContainEqual({
      type: 'log',
      body: { type: 'disposition.given', disposition: 'wrong number' },
    });
  });

  it('needs its reason, if its author asks for one', () => {
    const talk = new ToolConversation().calls('', ['hang_up']);
    expect(talk.results['c0']).toMatchObject({ status: 'error' });
    expect(talk.state.phase).toBe('talking');
  });

  it('without a message ends once what the model said is heard', () => {
    const talk = new ToolConversation().calls('Bye.', ['leave']);
    expect(talk.said).toEqual([]);
    expect(talk.of('end')).toEqual([]);
    talk.heard();
    expect(talk.of('end')).toEqual([{ type: 'end', reason: 'end_call_tool' }]);
    expect(talk.engine.summarize(talk.state).disposition).toBeNull();
  });
});

describe('the tool that transfers the call', () => {
  const announced = () => new ToolConversation().calls('', ['front_desk']);

  it('is announced to the caller, then requested from the provider, and the run ends with it', () => {
    const talk = announced();
    expect(talk.said).toEqual(['I put you through.']);
    expect(talk.of('transfer')).toEqual([]);
    talk.heard();
    const { toolRunId } = talk.last('transfer');
    expect(talk.last('transfer')).toMatchObject({ to: '+15550100', ringS: 20 });
    talk.tell({ type: 'transferred', toolRunId });
    expect(talk.of('end')).toEqual([{ type: 'end', reason: 'transfer_call' }]);
    expect(talk.logged).toEqual([
      ['front_desk', { status: 'transfer_success', destination: '+15550100' }],
    ]);
  });

  it('is not announced to the destination, unless its author sets that', () => {
    expect(announced().heard().last('transfer')).not.toHaveProperty('announcement');
    const talk = new ToolConversation().calls('', ['colleague', { topic: 'a bill' }]).heard();
    expect(talk.last('transfer')).toMatchObject({
      announcement: { text: 'Ana, a bill.', accept: 'key', callerHears: 'music' },
    });
  });

  it('does not wait for ever for its announcement to be heard', () => {
    const talk = announced();
    const { waitId, delayMs } = talk.last('wait');
    expect(delayMs).toBe(30_000);
    talk.tell({ type: 'waited', waitId });
    expect(talk.of('transfer')).toHaveLength(1);
    talk.heard();
    expect(talk.all.filter(({ type }) => type === 'transfer')).toHaveLength(1);
  });

  it('that fails is reported to the model, with the reason', () => {
    const talk = announced().heard();
    const { toolRunId } = talk.last('transfer');
    const failure = { reason: 'provider_error', message: 'Refused.' } as const;
    talk.tell({ type: 'transfer-failed', toolRunId, ...failure });
    expect(talk.results).toEqual({ c0: { status: 'transfer_failed', ...failure } });
    expect(talk.state.phase).toBe('talking');
  });

  it('without a destination is reported to the model', () => {
    const talk = new ToolConversation(undefined, { name: 'Ana', desk: '' }).calls('', [
      'front_desk',
    ]);
    expect(talk.said).toEqual([]);
    expect(talk.results['c0']).toMatchObject({
      status: 'transfer_failed',
      reason: 'no_destination',
    });
  });

  it('that is under way when the line goes quiet still counts: the provider has taken the caller', () => {
    const talk = announced().heard().ending('user_hangup');
    expect(talk.of('stop-tool')).toEqual([]);
    expect(talk.of('end')).toEqual([]);
    talk.tell({ type: 'transferred', toolRunId: talk.last('transfer').toolRunId });
    expect(talk.of('end')).toEqual([{ type: 'end', reason: 'transfer_call' }]);
  });

  it('that fails once the caller is gone, or says nothing, leaves it at that', () => {
    const failing = announced().heard().ending('user_hangup');
    const { toolRunId } = failing.last('transfer');
    failing.tell({ type: 'transfer-failed', toolRunId, reason: 'provider_error', message: '' });
    expect(failing.of('end')).toEqual([{ type: 'end', reason: 'user_hangup' }]);
    const silent = announced().heard().ending('user_hangup');
    silent.tell({ type: 'waited', waitId: silent.last('wait').waitId });
    expect(silent.of('end')).toEqual([{ type: 'end', reason: 'user_hangup' }]);
    expect(silent.logged).toHaveLength(1);
  });
});

describe('a transfer whose destination comes from a server', () => {
  const asked = () => new ToolConversation().calls('', ['route', { topic: 'bill' }]);

  it('announces the request, then what the server wants said, and transfers', () => {
    const talk = asked();
    expect(talk.said).toEqual(['I look who is there.']);
    expect(talk.of('call-out')).toMatchObject([
      { tool: 'resolver', request: { body: '{"topic":"bill"}', timeoutMs: 3_000 } },
    ]);
    const destination = { destination: 'sip:desk@pbx.example', custom_message: 'Ben takes it.' };
    talk.replies(200, { transfer_context: destination });
    expect(talk.said).toEqual(['Ben takes it.']);
    talk.heard();
    expect(talk.last('transfer')).toMatchObject({ to: 'sip:desk@pbx.example', ringS: 30 });
  });

  it('says its own message where the server has none', () => {
    const talk = asked().replies(200, { transfer_context: { destination: '+1' } });
    expect(talk.said).toEqual(['Hold on.']);
  });

  it.each([
    ['resolver_http_error', (talk: ToolConversation) => talk.replies(404, null)],
    ['resolver_invalid_response', (talk: ToolConversation) => talk.replies(200, {})],
    ['resolver_timeout', (talk: ToolConversation) => talk.noReply('late', true)],
    ['resolver_error', (talk: ToolConversation) => talk.noReply('no')],
  ])('fails with %s', (reason, answer) => {
    const talk = answer(asked());
    expect(talk.results['c0']).toMatchObject({ status: 'transfer_failed', reason });
    expect(talk.of('transfer')).toEqual([]);
  });
});
