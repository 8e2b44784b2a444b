// People who pause within an answer, in whole calls with the embedded recogniser: what it recognises of a pause may be an answer
// of its own, and does not end the turn early.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import type { SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { comfortNoise } from '../../../audio/sounds.ts';
import { RealCall } from '../../../pipeline/real-call.ts';
import { openInProcess, samplesOf } from './human-speech.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
const BEFORE_MS = 700;
const AFTER_MS = 3_000;
const PER_MS = 8;

const CLOSED: ExpectedInput = { ...OPEN_SPEECH, closed: true };
const CARDS = ['four', 'four queen of clubs', 'ten of clubs', 'seven of clubs'];
const DIGITS = { countMax: 5, terminator: null };

describe.skipIf(missing !== undefined)(`a pause within an answer${skipped}`, () => {
  let stt: SpeechToText;
  beforeAll(() => {
    stt = openInProcess();
  }, 60_000);
  afterAll(() => stt.close());

  /** The turns of a recording that stands still for `pauseMs` at `atMs`. */
  async function turnsOf(
    file: string,
    { atMs, pauseMs, expectation }: { atMs: number; pauseMs: number; expectation: ExpectedInput },
  ): Promise<string[]> {
    const call = new RealCall({ voices: new Map(), stt: () => stt });
    call.line.noise = comfortNoise({ seed: 5, levelDbfs: -60 });
    call.audio.expect(expectation);
    const pcm = samplesOf({ file, text: '' });
    call.line.play(pcm.slice(0, atMs * PER_MS), BEFORE_MS);
    call.line.play(pcm.slice(atMs * PER_MS), BEFORE_MS + atMs + pauseMs);
    await call.run(BEFORE_MS + pcm.length / PER_MS + pauseMs + AFTER_MS);
    await call.audio.close();
    return call.turns;
  }

  it.each([0, 100, 200])(
    'of %i ms more leaves "four queen of clubs" one turn, though "four" is a choice',
    async (pauseMs) => {
      const expectation = { ...CLOSED, phrases: CARDS };
      const turns = await turnsOf('cards-002', { atMs: 770, pauseMs, expectation });
      expect(turns).toEqual(['four queen of clubs']);
    },
    60_000,
  );

  it.each([200, 500, 800, 1_100])(
    'of %i ms leaves digits in groups one turn, until all have come',
    async (pauseMs) => {
      const expectation: ExpectedInput = { ...CLOSED, slots: ['digits'], digits: DIGITS };
      const turns = await turnsOf('digits-2934z', { atMs: 930, pauseMs, expectation });
      expect(turns).toHaveLength(1);
      expect(turns[0]).toMatch(/^two nine three four (zero|oh)$/);
    },
    60_000,
  );

  it('of a second and a half ends the turn after a whole answer: what follows is another one', async () => {
    const expectation = { ...CLOSED, phrases: CARDS };
    const turns = await turnsOf('cards-002', { atMs: 770, pauseMs: 1_500, expectation });
    expect(turns[0]).toBe('four');
    expect(turns).toHaveLength(2);
  }, 60_000);
});
