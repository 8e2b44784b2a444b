// Callers who leave while the process stands still: the end is read long after it was there.

import { expect, it } from 'vitest';
import { OwnStalls } from '../../src/pipeline/stalls.ts';

/** A call of nine seconds, and then a process that stands still for a minute. */
function stalls(): OwnStalls {
  const made = new OwnStalls();
  for (let nowMs = 20; nowMs <= 9_000; nowMs += 20) made.turn(nowMs);
  return made;
}

it.each([
  ['before the first turn after it', false, 9_000],
  ['after the first turn', true, 9_000],
])(
  'a caller who left in a stall left where it began, if the end is read %s',
  (_, hasTurn, left) => {
    const made = stalls();
    if (hasTurn) made.turn(69_000);
    expect(made.endOfMedia(8_980, 69_010)).toBe(left);
  },
);

it('a caller who left in a stall left where the audio ends that waited', () => {
  expect(stalls().endOfMedia(11_500.4, 69_000)).toBe(11_500);
});

it('a caller of whom audio has come since the stall left at the end of the media', () => {
  const made = stalls();
  made.turn(69_000);
  expect(made.endOfMedia(69_020, 69_040)).toBe(69_040);
});

it('a caller who says nothing and leaves long after a stall left at the end of the media', () => {
  const made = stalls();
  for (let nowMs = 69_000; nowMs <= 75_000; nowMs += 20) made.turn(nowMs);
  expect(made.endOfMedia(9_000, 75_000)).toBe(75_000);
});

it('without a stall a caller left at the end of the media, whatever was heard', () => {
  expect(stalls().endOfMedia(2_000, 9_500)).toBe(9_500);
});
