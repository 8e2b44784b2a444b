// Talk-off: an hour each of sounds that must not be taken for keys.

import { describe, expect, it } from 'vitest';
import { DtmfDetector } from '../../../src/audio/tones/dtmf-detector.ts';
import { type FrameTaker, hourOfMusic, hourOfNoise, hourOfSpeech, hourOfTones } from '../hours.ts';

describe('no key is detected', () => {
  it.each<[string, (take: FrameTaker) => void]>([
    ['noise', hourOfNoise],
    ['speech', hourOfSpeech],
    ['music', hourOfMusic],
    ['the tones of lines, and gliding ones', hourOfTones],
  ])('in an hour of %s', (_, hour) => {
    const keys: string[] = [];
    let frames = 0;
    const detector = new DtmfDetector((key) => keys.push(`${key} after ${frames / 50} s`));
    hour((frame) => {
      frames++;
      detector.push(frame);
    });
    expect(keys).toEqual([]);
    expect(frames).toBe(180_000);
  });
});
