// Final words that are decoded ahead: when they count, and that the thread answers with them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { openPocketSphinx } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { prepareWords } from '../../../../src/speech/stt/pocketsphinx/prepared-words.ts';
import type { Recognizer, SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { comfortNoise, taken } from '../../../audio/sounds.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { at, render } from '../../../pipeline/real-call.ts';
import { openRecognizer, pushFrames } from '../stt-contract.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
const WORDS = { text: 'yes', confidence: 0.9 };
const PAUSE_SAMPLES = 1_600;
const MENU: ExpectedInput = {
  ...OPEN_SPEECH,
  closed: true,
  phrases: ['sales', 'support', 'billing', 'speak to an agent'],
};

/** Sounds of these levels in dB, 200 ms each, one after the other. */
function sounds(...levels: number[]): Int16Array {
  const parts = levels.map((level, nth) => at(taken(comfortNoise({ seed: nth + 1 }), 10), level));
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

const isFollowedBySilence = (before: readonly number[], after: readonly number[]) =>
  prepareWords(WORDS, sounds(...before)).isFollowedBySilence(sounds(...before, ...after));

describe('prepared words', () => {
  it.each([
    ['the same silence', [-20, -60], [-60, -60]],
    ['nothing', [-20, -60], []],
    ['the same noise of a loud line', [-20, -40], [-40, -38]],
    ['a click that no word comes near', [-20, -65], [-57]],
  ])('count when they are followed by %s', (_what, before, after) => {
    expect(isFollowedBySilence(before, after)).toBe(true);
  });

  it.each([
    ['a soft sound', [-20, -60], [-60, -45, -60]],
    ['speech', [-20, -60], [-20]],
    ['a sound above the noise', [-20, -40], [-31]],
  ])('do not count when they are followed by %s', (_what, before, after) => {
    expect(isFollowedBySilence(before, after)).toBe(false);
  });
});

describe.skipIf(missing !== undefined)(`the thread of the embedded recogniser${skipped}`, () => {
  let stt: SpeechToText;
  let said: Int16Array;
  beforeAll(async () => {
    const opened = await openPocketSphinx({ clock: new FakeClock(), log: quietLog().log });
    if (opened === undefined) expect.unreachable();
    stt = opened;
    const voices = await render([{ voice: 'slt', text: 'Billing.' }]);
    const pcm = voices.get('Billing.')?.pcm ?? new Int16Array();
    said = new Int16Array(PAUSE_SAMPLES + pcm.length + PAUSE_SAMPLES);
    said.set(pcm, PAUSE_SAMPLES);
  }, 60_000);
  afterAll(() => stt.close());

  /** The confidence is another one for each audio that is decoded. */
  async function decoded(more: (recognizer: Recognizer) => void) {
    const call = openRecognizer(stt, MENU);
    call.recognizer.speechStarted();
    pushFrames(call.recognizer, said);
    more(call.recognizer);
    call.recognizer.finalize();
    const { text, confidence } = await call.final();
    call.recognizer.close();
    expect(text).toBe('billing');
    expect(call.finals).toHaveLength(1);
    return { confidence, partials: call.partials };
  }
  /** Silence of a line that hisses: digital silence would change nothing. */
  const silence = (recognizer: Recognizer) => {
    pushFrames(recognizer, at(taken(comfortNoise({ seed: 7 }), 15), -58));
  };

  it('answers with the words that it has prepared, if the silence went on', async () => {
    const toPause = await decoded(() => undefined);
    const whole = await decoded(silence);
    expect(whole.confidence).not.toBe(toPause.confidence);
    const prepared = await decoded((recognizer) => {
      recognizer.prepareFinal?.();
      silence(recognizer);
    });
    expect(prepared.confidence).toBe(toPause.confidence);
    expect(prepared.partials.at(-1)).toBe('billing');
  });

  it('decodes the whole utterance if speech went on, or a sound came', async () => {
    const whole = await decoded(silence);
    const resumed = await decoded((recognizer) => {
      recognizer.prepareFinal?.();
      recognizer.speechResumed?.();
      silence(recognizer);
    });
    expect(resumed.confidence).toBe(whole.confidence);
    expect(whole.confidence).not.toBe((await decoded(() => undefined)).confidence);
    const sound = at(taken(comfortNoise({ seed: 3 }), 10), -30);
    const louder = await decoded((recognizer) => pushFrames(recognizer, sound));
    const prepared = await decoded((recognizer) => {
      recognizer.prepareFinal?.();
      pushFrames(recognizer, sound);
    });
    expect(prepared.confidence).toBe(louder.confidence);
  });

  it('prepares words three times in an utterance, and again in the next one', async () => {
    const whole = await decoded(silence);
    const toPause = await decoded(() => undefined);
    expect(whole.confidence).not.toBe(toPause.confidence);
    const prepare = (times: number) => (recognizer: Recognizer) => {
      for (let nth = 1; nth <= times; nth++) {
        recognizer.speechResumed?.();
        recognizer.prepareFinal?.();
      }
      silence(recognizer);
    };
    expect((await decoded(prepare(3))).confidence).toBe(toPause.confidence);
    expect((await decoded(prepare(4))).confidence).toBe(whole.confidence);
    expect((await decoded(prepare(1))).confidence).toBe(toPause.confidence);
  });
});
