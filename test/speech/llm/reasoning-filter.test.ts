import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReasoningFilter } from '../../../src/speech/llm/reasoning-filter.ts';

function spoken(deltas: string[]): string {
  const filter = createReasoningFilter();
  return deltas.map((delta) => filter.push(delta)).join('') + filter.end();
}

describe('inline reasoning', () => {
  it.each([
    ['<think>The caller is angry.</think>\n\nI am sorry.', 'I am sorry.'],
    ['\n<think>\n</think>\n\nHello.', 'Hello.'],
    ['Hello <think> there', 'Hello <think> there'],
    ['<thin air', '<thin air'],
    ['<think>never ends', ''],
    ['', ''],
  ])('%j is spoken as %j, however it is cut', (text, expected) => {
    expect(spoken([text])).toBe(expected);
    expect(spoken([...text])).toBe(expected);
  });

  it('gives text that is no reasoning at once', () => {
    const filter = createReasoningFilter();
    expect(filter.push('Hel')).toBe('Hel');
  });

  it('never changes text without a tag', () => {
    const text = fc.string().filter((each) => !each.includes('<think>'));
    fc.assert(
      fc.property(text, (whole) => {
        expect(spoken([...whole])).toBe(whole);
      }),
    );
  });
});
