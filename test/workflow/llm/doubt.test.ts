// Words that a recogniser is not sure of, in a conversation with a model.

import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { agent, definition, edge, start } from '../definitions.ts';

const graph = definition(
  [start('1', { prompt: 'Help.', greeting: 'Hello.' }), agent('2', { prompt: 'More.' })],
  [edge('1', '2', { label: 'More' })],
);
const begun = () => new Conversation(graph, 'model').start().heard();
const SAY_AGAIN = 'Sorry, could you say that again, please?';

describe('words with little confidence', () => {
  it('are not shown to the model: the caller is asked again', () => {
    const call = begun().caller('not really', 0.2);
    expect(call.of('generate')).toEqual([]);
    expect(call.said).toEqual([SAY_AGAIN]);
    const messages = call.heard().caller('I would like a table', 0.9).last('generate').messages;
    expect(JSON.stringify(messages)).not.toContain('not really');
  });

  it('are answered in other words, with the keys, the second time, and at last by a goodbye', () => {
    const call = begun().caller('no', 0.1).heard();
    expect(call.caller('', 0).said[0]).toContain('use the keys of your telephone');
    for (let more = 0; more < 4; more++) call.heard().caller('', 0);
    expect(call.said).toHaveLength(1);
    expect(call.heard().caller('', 0).of('say')).toMatchObject([{ kind: 'goodbye' }]);
    expect(call.heard().last('end').reason).toBe('unknown');
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

  it('lead to the keys after the second failure', () => {
    const call = begun().caller('table for two', 0.4).heard().caller('noodles', 0.4);
    expect(call.said).toEqual(['I understood noodles. Is that right?']);
    expect(call.heard().caller('needles', 0.4).said[0]).toContain('use the keys');
    const silent = begun().caller('table for two', 0.4).heard().caller('hm', 0.1).heard();
    expect(silent.caller('hm', 0.1).said[0]).toContain('use the keys');
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
