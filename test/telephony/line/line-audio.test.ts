// The bounds of the verdict on the audio of a test call, and which fault comes first.

import { describe, expect, it } from 'vitest';
import { faultOfBoth, faultOfEcho } from '../../../src/telephony/line/line-audio.ts';
import type { Heard } from '../../../src/telephony/line/line-end.ts';

const sound: Heard = {
  toneMs: 2_000,
  strangeMs: 40,
  purity: 0.99,
  levelDb: -15,
  lossShare: 0,
  delayMs: 60,
  jitterMs: 3,
};
const silence: Heard = {
  toneMs: 0,
  strangeMs: 0,
  purity: 0,
  levelDb: Number.NEGATIVE_INFINITY,
  lossShare: 1,
  delayMs: null,
  jitterMs: 0,
};

describe('the audio of a test call', () => {
  it.each([
    [null, {}],
    [null, { lossShare: 0.05, delayMs: 400, jitterMs: 100, levelDb: -40 }],
    ['loss', { lossShare: 0.06 }],
    ['late_audio', { delayMs: 401 }],
    ['jitter', { jitterMs: 101 }],
    ['faint', { levelDb: -41 }],
    ['codec', { toneMs: 100, strangeMs: 1_900 }],
    ['codec', { purity: 0.9, levelDb: -4 }],
    // A speech codec changes a tone, and not its level.
    [null, { purity: 0.9 }],
    ['loss', { lossShare: 0.5, delayMs: 900 }],
  ] as const)('is found to be %s with %j, in either direction', (fault, change) => {
    const heard = { ...sound, ...change };
    expect(faultOfBoth(heard, sound)).toBe(fault);
    expect(faultOfBoth(sound, heard)).toBe(fault);
  });

  it('that is silent says in which direction', () => {
    expect(faultOfBoth(silence, silence)).toBe('no_audio');
    expect(faultOfBoth(silence, sound)).toBe('one_way_to_caller');
    expect(faultOfBoth(sound, silence)).toBe('one_way_from_caller');
  });

  it('of an echo may take twice the time, and is somebody else if it comes unasked', () => {
    expect(faultOfEcho({ ...sound, delayMs: 800 }, 0)).toBeNull();
    expect(faultOfEcho({ ...sound, delayMs: 801 }, 0)).toBe('late_audio');
    expect(faultOfEcho(silence, 0)).toBe('no_audio');
    const speech = { ...silence, strangeMs: 3_000, levelDb: -20 };
    expect(faultOfEcho(speech, 400)).toBe('wrong_party');
    expect(faultOfEcho(speech, 0)).toBe('codec');
    // An echo that also hums is an echo.
    expect(faultOfEcho(sound, 400)).toBeNull();
  });
});
