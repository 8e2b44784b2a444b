// What every synthesiser must do.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextToSpeech, WordTiming } from '../../../src/speech/tts/tts.ts';

export interface Heard {
  audio: Int16Array[];
  words: WordTiming[];
  samples: number;
}

export async function synthesize(
  speech: TextToSpeech,
  text: string,
  options: { voice?: string; signal?: AbortSignal; isAhead?: boolean } = {},
): Promise<Heard> {
  const heard: Heard = { audio: [], words: [], samples: 0 };
  const { voice, isAhead = false } = options;
  await speech.synthesize(
    { text, voice, isAhead },
    {
      onAudio(samples) {
        heard.audio.push(samples);
        heard.samples += samples.length;
      },
      onWords: (words) => void heard.words.push(...words),
    },
    options.signal ?? new AbortController().signal,
  );
  return heard;
}

export function textToSpeechContract(
  name: string,
  open: () => Promise<TextToSpeech>,
  { givesWordTimings }: { givesWordTimings: boolean },
): void {
  describe(`${name}, as text to speech`, () => {
    let speech: TextToSpeech;
    beforeAll(async () => {
      speech = await open();
    });
    afterAll(() => speech.close());

    it('gives speech of a natural length at 8 kHz before it resolves', async () => {
      const { samples } = await synthesize(speech, 'Hello, thank you for calling.');
      expect(samples).toBeGreaterThan(8_000);
      expect(samples).toBeLessThan(32_000);
    });

    it('gives the same speech again, in samples that are the listener’s', async () => {
      const first = await synthesize(speech, 'Once more.');
      const copy = first.audio.map((each) => each.slice());
      for (const each of first.audio) each.fill(0);
      expect((await synthesize(speech, 'Once more.')).audio).toEqual(copy);
    });

    it.runIf(givesWordTimings)(
      'gives a timing for each word within the audio, in order',
      async () => {
        const text = 'Your code is 42, and the price is $3.50.';
        const { words, samples } = await synthesize(speech, text);
        expect(words.map(({ word }) => word)).toEqual(text.split(' '));
        for (const [index, { startMs, endMs }] of words.entries()) {
          expect(startMs).toBeGreaterThanOrEqual(words[index - 1]?.endMs ?? 0);
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          expect(endMs).toBeLessThanOrEqual(samples / 8);
        }
      },
    );

    it.each(['', '   ', '…', '?!', '😀'])('says nothing for %j', async (text) => {
      expect((await synthesize(speech, text)).samples).toBe(0);
    });

    it('takes any text', async () => {
      for (const text of ['-voice kal', 'naïve “café” 100 % <b>&amp;</b>', 'a\0b', '\ud800x']) {
        expect((await synthesize(speech, text)).samples).toBeGreaterThan(0);
      }
    });

    it('uses its own voice for a voice that it does not have', async () => {
      const own = await synthesize(speech, 'Who is there?');
      const other = await synthesize(speech, 'Who is there?', { voice: 'nobody' });
      expect(other.audio).toEqual(own.audio);
    });

    it('rejects with the reason and gives nothing more when it is aborted', async () => {
      const abort = new AbortController();
      const heard: Int16Array[] = [];
      const outcome = speech
        .synthesize(
          { text: 'You will never hear this.', voice: undefined },
          { onAudio: (samples) => void heard.push(samples), onWords: () => undefined },
          abort.signal,
        )
        .catch((error: unknown) => error);
      abort.abort('barge-in');
      expect(await outcome).toBe('barge-in');
      await synthesize(speech, 'But this.');
      expect(heard).toEqual([]);
    });

    it('does not begin when it is aborted already', async () => {
      const signal = AbortSignal.abort('late');
      await expect(synthesize(speech, 'No.', { signal })).rejects.toBe('late');
    });

    it('serves many at once', async () => {
      const texts = Array.from({ length: 12 }, (_, i) => `Number ${i}.`);
      const heard = await Promise.all(texts.map((text) => synthesize(speech, text)));
      expect(heard.every(({ samples }) => samples > 2_000)).toBe(true);
    });
  });
}
