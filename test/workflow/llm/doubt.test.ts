// Words that a recogniser is not sure of, in a conversation with a model.

import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { agent, type Data, definition, edge, start } from '../definitions.ts';

const graph = definition(
  [start('1', { prompt: 'Help.', greeting: 'Hello.' }), agent('2', { prompt: 'More.' })],
  [edge('1', '2', { label: 'More' })],
);
const begun = () => new Conversation(graph, 'model').start().heard();
const OTHERWISE = "Sorry, I still didn't understand you. Please say it in other words.";
const CLEARLY = "I'm sorry, the line seems to be bad. Please speak slowly and clearly.";
const SAY_AGAIN = 'Sorry, could you say that again, please?';

describe('words with little confidence', () => {
  it('are not shown to the model: the caller is asked again', () => {
    const call = begun().caller('not really', 0.2);
    expect(call.of('generate')).toEqual([]);
    expect(call.said).toEqual([SAY_AGAIN]);
    const messages = call.heard().caller('I would like a table', 0.9).last('generate').messages;
    expect(JSON.stringify(messages)).not.toContain('not really');
  });

  it('are asked for in other words each time, without keys that do nothing, then comes a goodbye', () => {
    const call = begun();
    const lines = [0, 1, 2, 3, 4, 5].map(() => call.heard().caller('', 0).said.join(' '));
    const three = [SAY_AGAIN, OTHERWISE, CLEARLY];
    expect(lines).toEqual([...three, ...three]);
    expect(lines.join(' ')).not.toContain('keys');
    expect(call.heard().caller('', 0).of('say')).toMatchObject([{ kind: 'goodbye' }]);
    expect(call.heard().last('end').reason).toBe('unknown');
  });
});

describe('the keys of the telephone', () => {
  const second = (node: Data, hints: Partial<Data> = {}) => {
    const keyed = definition(
      [start('1', { prompt: 'Help.', greeting: 'Hello.', ...node }), agent('2')],
      [edge('1', '2', { label: 'More', ...hints })],
    );
    const call = new Conversation(keyed, 'model').start().heard().caller('', 0).heard();
    return call.caller('', 0).said[0];
  };

  it('are offered the second time where one does something', () => {
    expect(second({})).toBe(OTHERWISE);
    expect(second({}, { dtmf: '1' })).toContain('or use the keys of your telephone');
    const slots = [{ name: 'number', type: 'digits', digits_max: 5 }];
    expect(second({ slots })).toContain('or use the keys of your telephone');
  });
});

describe('doubtful words', () => {
  it('are asked about, and count after a yes', () => {
    const call = begun().caller('table for two', 0.4);
    expect(call.said).toEqual(['I understood table for two. Is that right?']);
    expect(call.of('generate')).toEqual([]);
    expect(call.heard().caller('yes', 0.5).of('generate')).toHaveLength(1);
  });

  it('are asked for again after a no, and replaced by certain ones', () => {
    expect(begun().caller('table for two', 0.4).heard().caller('no', 0.8).said).toEqual([
      SAY_AGAIN,
    ]);
    const call = begun().caller('table for two', 0.4).heard();
    expect(call.caller('table for ten', 0.9).of('generate')).toHaveLength(1);
  });

  it.each([
    'I would like to book a table for two on Sunday at noon',
    '我想预订星期天中午十二点的两个人的桌子',
  ])('of a whole sentence are not repeated to the caller: %s', (text) => {
    expect(begun().caller(text, 0.4).said).toEqual([SAY_AGAIN]);
  });
});

describe('doubtful answers to the question about doubtful words', () => {
  it('count the second time, however little they are trusted', () => {
    const call = begun().caller('table for two', 0.4).heard().caller('yes', 0.1);
    expect(call.said).toEqual(['I understood table for two. Is that right?']);
    expect(call.heard().caller('yeah', 0.1).of('generate')).toHaveLength(1);
  });

  it('are not asked about after the second failure', () => {
    const call = begun().caller('table for two', 0.4).heard().caller('noodles', 0.4);
    expect(call.said).toEqual(['I understood noodles. Is that right?']);
    expect(call.heard().caller('needles', 0.4).said).toEqual([OTHERWISE]);
    const silent = begun().caller('table for two', 0.4).heard().caller('hm', 0.1).heard();
    expect(silent.caller('hm', 0.1).said).toEqual([OTHERWISE]);
  });
});

describe('a sound without words', () => {
  it('costs no answer that is on its way', () => {
    const call = begun().caller('hello there', 0.9);
    expect(call.caller('', 0).actions).toEqual([]);
  });
});

describe('a caller with a model', () => {
  it('who asks to wait is not hung up on', () => {
    const call = begun().caller('hold on', 0.9).answer('Sure.').heard();
    for (let silence = 0; silence < 3; silence++) {
      expect(call.idle().heard().state.phase).toBe('talking');
    }
    expect(call.all.filter(({ type }) => type === 'generate')).toHaveLength(1);
  });

  it('is asked to use the keys when speech cannot be recognised any more', () => {
    expect(begun().tell({ type: 'keys-only' }).said[0]).toContain('use the keys');
  });
});
