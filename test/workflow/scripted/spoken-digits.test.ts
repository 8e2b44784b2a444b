// Spoken digits of any number: a recogniser that is not quite sure of them has them read back. Of two and three digits by a
// human reader, the embedded one took every second for others, with a confidence of 0.6 to 0.93.

import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { definition, edge, end, start } from '../definitions.ts';

const slots = [{ name: 'code', type: 'digits', digits_max: 3 }];
const graph = definition(
  [start('1', { say: 'Tell me.', slots }), end('2', { say: 'Bye.' })],
  [edge('1', '2', { slot: 'code' })],
);
const asked = () => new Conversation(graph, 'scripted').start().heard();

describe('two or three digits', () => {
  it.each([0.56, 0.8, 0.93])('are read back with a confidence of %f', (confidence) => {
    const call = asked().caller('two eight', confidence);
    expect(call.said).toEqual(['I understood 2 8. Is that right?']);
    expect(call.gathered).toEqual({});
    expect(call.heard().caller('yes', 0.9).gathered).toEqual({ code: '28' });
  });

  it.each([0.95, 1, null])('count at once with a confidence of %s', (confidence) => {
    expect(asked().caller('two eight', confidence).gathered).toEqual({ code: '28' });
  });

  it('count at once from the keys', () => {
    expect(asked().keys('28').gathered).toEqual({ code: '28' });
  });
});
