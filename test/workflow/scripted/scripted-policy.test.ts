import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

const menu = definition(
  [
    start('1', { greeting: 'Sales or support?' }),
    end('2', { say: 'To sales. Goodbye.' }),
    end('3', { say: 'To support. Goodbye.' }),
  ],
  [
    edge('1', '2', { label: 'Sales', phrases: ['sales'], dtmf: '1', slot: 'department' }),
    edge('1', '3', { label: 'Support', phrases: ['technical support'], dtmf: '2' }),
  ],
);

function asked(slots: object[], more: object = {}, edges = [edge('1', '2', { slot: 'all' })]) {
  const nodes = [start('1', { say: 'Tell me.', slots, ...more }), end('2', { say: 'Bye.' })];
  return new Conversation(definition(nodes, edges), 'scripted').start().heard();
}

describe('a scripted menu', () => {
  const begun = () => new Conversation(menu, 'scripted').start().heard();

  it('never asks a model', () => {
    const call = begun().caller('sales').heard();
    expect(call.all.map(({ type }) => type)).not.toContain('generate');
    expect(call.last('end').reason).toBe('user_qualified');
  });

  it('keeps the phrase that was said where an edge names a variable', () => {
    expect(begun().caller('Sales, please').gathered).toEqual({ department: 'sales' });
    expect(begun().keys('1').gathered).toEqual({ department: 'sales' });
  });

  it('asks whether it was understood where the recogniser is not sure', () => {
    const call = begun().caller('sales', 0.4);
    expect(call.said).toEqual(['I understood sales. Is that right?']);
    expect(call.last('expect').expectation).toMatchObject({ slots: ['yes_no'], phrases: [] });
    expect(call.heard().caller('yes', 0.9).node).toBe('2');
    expect(begun().caller('sales', 0.4).heard().keys('1').node).toBe('2');
  });

  it('asks the question again after a no', () => {
    const call = begun().caller('sales', 0.4).heard().caller('no');
    expect(call.node).toBe('1');
    expect(call.said).toEqual(['Sales or support?']);
    expect(call.last('expect').expectation.phrases).toContain('technical support');
  });

  it('does not say the same twice where there is no menu to read out', () => {
    const call = asked([], {}, [edge('1', '2', { label: 'fallback' })]).caller('pizza');
    expect(call.said).toEqual(["Sorry, I didn't understand that. Tell me."]);
    expect(call.heard().caller('pizza').said).toEqual([
      "Sorry, I still didn't understand you. Please say it in other words. Tell me.",
    ]);
    expect(call.heard().caller('pizza').node).toBe('2');
  });

  it('asks again, then reads the menu, then ends politely', () => {
    const call = begun().caller('pizza');
    expect(call.said).toEqual(["Sorry, I didn't understand that. Sales or support?"]);
    call.heard().caller('pizza', 0.1);
    expect(call.said).toEqual([
      "Sorry, I didn't understand that. For sales, press 1. For technical support, press 2.",
    ]);
    call.heard().caller('');
    expect(call.of('say')).toMatchObject([{ kind: 'goodbye', interruptible: true }]);
    expect(call.heard().last('end').reason).toBe('unknown');
  });

  it('does not act on words of low confidence', () => {
    expect(begun().caller('sales', 0.1).node).toBe('1');
  });

  it.each([
    ['repeat that', ['Sales or support?']],
    ['help', ['For sales, press 1. For technical support, press 2.']],
    ['operator', ["I'm sorry, I can't connect you to a person. Sales or support?"]],
  ])('answers %s everywhere', (text, said) => {
    expect(begun().caller(text).said).toEqual(said);
  });

  it.each([null, 0.95, 0.4])(
    'ends no call on a goodbye (confidence %s) without asking',
    (confidence) => {
      const call = begun().caller('goodbye', confidence);
      expect(call.said).toEqual(['Do you want to end the call?']);
      expect(call.heard().caller('no').said).toEqual(['Sales or support?']);
      call.heard().caller('goodbye', confidence).heard().caller('yes', 0.4);
      expect(call.state.phase).toBe('talking');
      expect(call.heard().caller('yes', 0.9).heard().last('end').reason).toBe('user_hangup');
    },
  );

  it('ends a call on the second of two doubtful yeses, and on none that is hardly recognised', () => {
    const call = begun().caller('goodbye', 0.9).heard().caller('yes', 0.4).heard();
    expect(call.state.phase).toBe('talking');
    expect(call.caller('yes', 0.4).heard().last('end').reason).toBe('user_hangup');
    const other = begun().caller('goodbye', 0.9).heard().caller('yes', 0.1).heard();
    expect(other.caller('yes', 0.1).heard().state.phase).toBe('talking');
  });

  it('accepts a doubtful yes to its question, and the same hardly recognised answer twice', () => {
    expect(begun().caller('sales', 0.4).heard().caller('yes', 0.4).node).toBe('2');
    const call = begun().caller('sales', 0.4).heard().caller('yes', 0.1).heard();
    expect(call.node).toBe('1');
    expect(call.caller('yeah', 0.1).node).toBe('2');
    const no = begun().caller('sales', 0.4).heard().caller('yes', 0.1).heard().caller('no', 0.1);
    expect(no.said[0]).toContain('press 1 for yes');
  });

  it('offers the keys after the second no', () => {
    const call = begun().caller('sales', 0.4).heard().caller('no').heard();
    expect(call.caller('sales', 0.4).heard().caller('no').said[0]).toContain('press 1');
  });

  it.each(['hello', 'Hi', 'good morning'])('takes %s at the begin for a greeting', (text) => {
    expect(begun().caller(text).said).toEqual(['Sales or support?']);
    const call = begun().caller('pizza').heard();
    expect(call.caller('hello').said).toEqual(["I'm still here. Sales or support?"]);
  });

  it('takes a greeting in a text chat for one at any time', () => {
    const chat = begun().caller('pizza').heard();
    chat.tell({ type: 'caller-turn', text: 'hello', confidence: null, source: 'chat' });
    expect(chat.said).toEqual(['Sales or support?']);
  });

  it('asks before it follows the author’s own edge of a farewell to the end', () => {
    const nodes = [start('1', { say: 'More?' }), end('2', { say: 'Bye.' })];
    const edges = [edge('1', '2', { label: 'x', phrases: ['goodbye'] })];
    const call = new Conversation(definition(nodes, edges), 'scripted').start().heard();
    expect(call.caller('goodbye', 0.9).said).toEqual(['I understood goodbye. Is that right?']);
    expect(call.heard().caller('yes', 0.9).node).toBe('2');
  });

  it.each(['stop', 'Wait a minute, please.', 'hold on'])('waits when asked to: %s', (text) => {
    const call = begun().caller(text, 0.8);
    expect(call.said).toEqual(['Of course, take your time.']);
    for (let silence = 0; silence < 3; silence++) {
      expect(call.heard().idle().said).toEqual(["I'm still here."]);
    }
    expect(call.heard().caller('are you there', 0.8).said).toEqual([
      "I'm still here. Sales or support?",
    ]);
    expect(call.heard().caller('sales', 0.9).node).toBe('2');
  });

  it('asks after silence as ever once the caller has spoken again, or has been silent for long', () => {
    const call = begun().caller('hold on');
    for (let silence = 0; silence < 3; silence++) call.heard().idle();
    expect(call.heard().idle().said).toEqual(['Are you still there? Sales or support?']);
    const spoken = begun().caller('hold on').heard().caller('pizza').heard();
    expect(spoken.idle().said).toEqual(['Are you still there? Sales or support?']);
  });

  it('offers the keys when speech cannot be recognised any more, once', () => {
    const call = begun().tell({ type: 'keys-only' });
    expect(call.said).toEqual([
      "I'm sorry, I can't understand speech at the moment. Please use the keys of your telephone. " +
        'For sales, press 1. For technical support, press 2.',
    ]);
    expect(call.heard().tell({ type: 'keys-only' }).said).toEqual([]);
    const early = new Conversation(menu, 'scripted').tell({ type: 'keys-only' }).start();
    expect(early.said[1]).toContain('Please use the keys');
  });

  it('asks after silence, then says goodbye', () => {
    const call = begun().idle();
    expect(call.said).toEqual(['Are you still there? Sales or support?']);
    call.heard().idle().heard();
    expect(call.last('end').reason).toBe('user_idle_max_duration_exceeded');
  });

  it('takes lines in another language', () => {
    const call = new Conversation(menu, 'scripted', { lines: { notUnderstood: 'Bitte?' } });
    expect(call.start().heard().caller('pizza').said).toEqual(['Bitte? Sales or support?']);
  });
});

describe('globals', () => {
  it('lead to a person where the author drew an edge to one', () => {
    const nodes = [start('1', { say: 'Hello.' }), end('2', { say: 'Connecting.' })];
    const edges = [edge('1', '2', { label: 'Operator', condition: 'They want a person.' })];
    const call = new Conversation(definition(nodes, edges), 'scripted').start().heard();
    expect(call.last('expect').expectation.phrases).toContain('speak to a person');
    expect(call.caller('Can I speak to a person').node).toBe('2');
  });

  it("give way to the author's own phrases", () => {
    const nodes = [start('1', { say: 'Hello.' }), end('2', { say: 'Helping.' })];
    const edges = [edge('1', '2', { label: 'x', phrases: ['help'] })];
    expect(new Conversation(definition(nodes, edges), 'scripted').start().caller('help').node).toBe(
      '2',
    );
  });
});

describe('scripted nodes', () => {
  it('go on by themselves along an edge that is taken always, once they have been heard', () => {
    const call = new Conversation(
      definition(
        [start('1', { say: 'This call is recorded.' }), agent('2', { say: 'Which day?' })],
        [edge('1', '2', { condition: 'always', transition_speech: 'For {{name}}:' })],
      ),
      'scripted',
    ).start({ name: 'Ana' });
    expect(call.node).toBe('1');
    const { utteranceId } = call.last('say');
    call.caller('mhm').tell({
      type: 'utterance-finished',
      utteranceId,
      heardText: 'This call is recorded.',
      interrupted: false,
    });
    expect(call.node).toBe('2');
    expect(call.said).toEqual(['For Ana:', 'Which day?']);
  });

  it('do not run in a circle for ever, for any graph', () => {
    const always = { condition: 'always' };
    const call = new Conversation(
      definition(
        [start('1', { say: 'One.' }), agent('2', { say: 'Two.' }), agent('3', { say: 'Three.' })],
        [edge('1', '2', always), edge('2', '3', always), edge('3', '2', always)],
      ),
      'scripted',
    ).start();
    expect(call.heard().last('end').reason).toBe('unknown');
  });

  it('take the fallback edge before they give up', () => {
    const nodes = [start('1', { say: 'Day?' }), end('2', { say: 'A person will call you.' })];
    const call = new Conversation(
      definition(nodes, [edge('1', '2', { label: 'fallback' })]),
      'scripted',
    ).start();
    expect(call.caller('a').caller('b').caller('c').said).toEqual(['A person will call you.']);
  });

  it('say the own reprompt of the author first', () => {
    const nodes = [start('1', { say: 'Day?', reprompt: 'Which day, {{name}}?' })];
    const call = new Conversation(definition(nodes), 'scripted').start({ name: 'Bo' });
    expect(call.caller('what').said).toEqual(['Which day, Bo?']);
  });

  it('without own words end the call instead of inventing some', () => {
    const nodes = [start('1', { say: 'Hi.' }), agent('2')];
    const edges = [edge('1', '2', { phrases: ['go'] })];
    const call = new Conversation(definition(nodes, edges), 'scripted')
      .start()
      .caller('go')
      .heard();
    expect(call.last('end').reason).toBe('pipeline_error');
  });

  it('greet, then ask, where both are written', () => {
    const nodes = [start('1', { greeting: 'Welcome.', say: 'Which day?' })];
    const call = new Conversation(definition(nodes), 'scripted').start();
    expect(call.said).toEqual(['Welcome. Which day?']);
    expect(call.heard().caller('repeat that').said).toEqual(['Which day?']);
  });

  it('do not render twice what a caller gave', () => {
    const nodes = [start('1', { say: 'Hi {{name}}.' })];
    const call = new Conversation(definition(nodes), 'scripted').start({
      name: '{{secret}}',
      secret: 's',
    });
    expect(call.said).toEqual(['Hi {{secret}}.']);
    expect(call.caller('repeat that').said).toEqual(['Hi {{secret}}.']);
  });
});

describe('slots', () => {
  it('are asked for one after the other', () => {
    const call = asked([
      { name: 'day', type: 'weekday' },
      { name: 'at', type: 'time', ask: 'On {{gathered_context.day}} at what time?' },
      { name: 'kind', choices: ['Cleaning', 'Check up'] },
    ]);
    expect(call.caller('tuesday').said).toEqual(['On tuesday at what time?']);
    expect(call.heard().caller('half past two').said).toEqual([
      'You can say Cleaning or Check up.',
    ]);
    expect(call.last('expect').expectation.phrases).toContain('check up');
    expect(call.heard().caller('check up').node).toBe('2');
    expect(call.gathered).toEqual({ day: 'tuesday', at: '2:30', kind: 'Check up' });
  });

  it('are filled together when the caller says everything at once', () => {
    const call = asked([
      { name: 'day', type: 'weekday' },
      { name: 'at', type: 'time' },
    ]);
    expect(call.caller('tuesday at two thirty pm').node).toBe('2');
    expect(call.gathered).toEqual({ day: 'tuesday', at: '14:30' });
  });

  it('of digits are read back, and can be corrected in one breath', () => {
    const call = asked([{ name: 'code', type: 'digits', digits_max: 5 }]);
    expect(call.caller('five five five one two').said).toEqual([
      'I understood 5 5 5 1 2. Is that right?',
    ]);
    expect(call.gathered).toEqual({});
    expect(call.heard().caller('no five five five one three').said).toEqual([
      'I understood 5 5 5 1 3. Is that right?',
    ]);
    call.heard().caller('correct');
    expect(call.gathered).toEqual({ code: '55513' });
    expect(call.node).toBe('2');
  });

  it('can be entered again with the keys while they are being confirmed', () => {
    const call = asked([{ name: 'code', type: 'digits' }])
      .caller('one two three four')
      .heard();
    expect(call.keys('5678#').said).toEqual(['I understood 5 6 7 8. Is that right?']);
    expect(call.heard().keys('1').gathered).toEqual({ code: '5678' });
  });

  it('of dates and money are read back', () => {
    expect(asked([{ name: 'x', type: 'date' }]).caller('first of october').said).toEqual([
      'I understood October 1. Is that right?',
    ]);
    expect(asked([{ name: 'x', type: 'money' }]).caller('ten dollars').said).toEqual([
      'I understood 10 dollars. Is that right?',
    ]);
  });

  it('are not asked for without end: a caller who always says no gets the end', () => {
    const call = asked([{ name: 'x', type: 'date' }]);
    for (let count = 0; count < 3; count += 1)
      call.caller('first of may').heard().caller('no').heard();
    expect(call.last('end').reason).toBe('unknown');
    expect(call.gathered).toEqual({});
  });

  it('ask for yes or no again when the answer is neither, with the keys at last', () => {
    const call = asked([{ name: 'x', type: 'date' }])
      .caller('first of may')
      .heard()
      .caller('hm what');
    expect(call.said).toEqual([
      "Sorry, I didn't understand that. I understood May 1, 2027. Is that right?",
    ]);
    expect(call.heard().caller('hm what').said[0]).toContain('press 1 for yes');
  });

  it('are read back even if they are certain where the recogniser is not', () => {
    const call = asked([{ name: 'day', type: 'weekday' }]).caller('monday', 0.4);
    expect(call.said).toEqual(['I understood Monday. Is that right?']);
    expect(call.heard().caller('yes').gathered).toEqual({ day: 'monday' });
  });

  it('lead along the edge that names them, or to the only other way', () => {
    const named = asked([{ name: 'day', type: 'weekday' }], {}, [
      edge('1', '2', { label: 'a', slot: 'day' }),
    ]);
    expect(named.caller('friday').node).toBe('2');
    const only = asked([{ name: 'day', type: 'weekday' }], {}, [edge('1', '2', { label: 'a' })]);
    expect(only.caller('friday').node).toBe('2');
  });

  it('of yes and no are booleans', () => {
    const edges = [
      edge('1', '2', { label: 'a', phrases: ['yes'], slot: 'coming' }),
      edge('1', '2', { label: 'b', phrases: ['no'], slot: 'coming' }),
    ];
    const call = () => asked([{ name: 'coming', type: 'yes_no' }], {}, edges);
    expect(call().caller('yes please').gathered).toEqual({ coming: true });
    expect(call().caller('not today').gathered).toEqual({ coming: false });
  });

  it('do not replace an edge that the caller chose', () => {
    const edges = [
      edge('1', '2', { label: 'a', slot: 'all' }),
      edge('1', '3', { label: 'b', phrases: ['cancel my visit'] }),
    ];
    const nodes = [
      start('1', { say: 'Day?', slots: [{ name: 'day', type: 'weekday' }] }),
      end('2', { say: 'Bye.' }),
      end('3', { say: 'Cancelled.' }),
    ];
    const call = new Conversation(definition(nodes, edges), 'scripted').start();
    expect(call.caller('cancel my visit on monday').node).toBe('3');
  });

  it('and declared variables that stay empty are noted as not extracted', () => {
    const call = asked([{ name: 'day', type: 'weekday' }], {
      extraction_enabled: true,
      extraction_variables: [{ name: 'mood', type: 'string' }],
    }).caller('friday');
    expect(call.gathered).toEqual({ day: 'friday' });
    expect(call.engine.summarize(call.state).details).toMatchObject({
      day: { source: 'speech', turn: 1, reason: null },
      mood: { reason: 'not_extracted' },
    });
  });
});
