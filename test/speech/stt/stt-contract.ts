// What every recogniser must do.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/errors/gateway-error.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import type { RecognizedWords, Recognizer, SpeechToText } from '../../../src/speech/stt/stt.ts';

export interface Heard {
  partials: string[];
  finals: RecognizedWords[];
  errors: ErrorCode[];
  /** Announced delays in milliseconds. */
  delays: number[];
}

export interface OpenRecognizer extends Heard {
  recognizer: Recognizer;
  /** Resolves when `count` finals have come. */
  final(count?: number): Promise<RecognizedWords>;
  error(): Promise<ErrorCode>;
}

export function openRecognizer(stt: SpeechToText, expectation: ExpectedInput): OpenRecognizer {
  const heard: Heard = { partials: [], finals: [], errors: [], delays: [] };
  let wake = () => undefined as unknown;
  const changed = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const recognizer = stt.open(expectation, {
    onPartial: (words) => void heard.partials.push(words.text),
    onFinal(words) {
      heard.finals.push(words);
      wake();
    },
    onDelayed: (ms) => void heard.delays.push(ms),
    onError(error) {
      heard.errors.push(error.code);
      wake();
    },
  });
  return {
    ...heard,
    recognizer,
    async final(count = 1) {
      while (heard.finals.length < count && heard.errors.length === 0) await changed();
      const words = heard.finals[count - 1];
      if (words === undefined) throw new Error(`no words but ${heard.errors}`);
      return words;
    },
    async error() {
      while (heard.errors.length === 0) await changed();
      return heard.errors[0] ?? 'STT_FAILED';
    },
  };
}

export function pushFrames(recognizer: Recognizer, samples: Int16Array): void {
  const frame = new Int16Array(160);
  for (let from = 0; from + 160 <= samples.length; from += 160) {
    // One buffer for all frames: a recogniser that keeps it hears only the last.
    frame.set(samples.subarray(from, from + 160));
    recognizer.push(frame);
  }
}

export function utter(recognizer: Recognizer, samples: Int16Array): void {
  recognizer.speechStarted();
  pushFrames(recognizer, samples);
  recognizer.finalize();
}

const closed = (phrases: string[]): ExpectedInput => ({ ...OPEN_SPEECH, closed: true, phrases });
const MENU = closed(['sales', 'support', 'billing', 'speak to an agent']);

/** `say` gives telephone speech at 8 kHz. */
export function speechToTextContract(
  name: string,
  open: () => Promise<{
    stt: SpeechToText;
    /** Without phrases and slots too. */
    understandsOpenSpeech: boolean;
    say: (text: string) => Promise<Int16Array>;
    close(): Promise<void>;
  }>,
): void {
  describe(`${name}, as speech to text`, () => {
    let under: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.close());

    it('gives the words that were said, once', async () => {
      const call = openRecognizer(under.stt, MENU);
      utter(call.recognizer, await under.say('Speak to an agent.'));
      const words = await call.final();
      expect(words.text.toLowerCase()).toBe('speak to an agent');
      expect(words.confidence === null || words.confidence > 0.5).toBe(true);
      expect(call.finals).toHaveLength(1);
      call.recognizer.close();
    });

    it('recognises what was said just before speech was detected', async () => {
      const call = openRecognizer(under.stt, MENU);
      const speech = await under.say('Billing.');
      pushFrames(call.recognizer, speech.subarray(0, 2_400));
      utter(call.recognizer, speech.subarray(2_400));
      expect((await call.final()).text).toBe('billing');
      call.recognizer.close();
    });

    it('follows the expectation from utterance to utterance', async () => {
      const call = openRecognizer(under.stt, MENU);
      utter(call.recognizer, await under.say('Support.'));
      call.recognizer.expect({ ...OPEN_SPEECH, closed: true, slots: ['weekday'] });
      utter(call.recognizer, await under.say('Wednesday.'));
      call.recognizer.expect(MENU);
      utter(call.recognizer, await under.say('Sales.'));
      await call.final(3);
      expect(call.finals.map(({ text }) => text)).toEqual(['support', 'wednesday', 'sales']);
      call.recognizer.close();
    });

    it('gives empty words when nothing was said, or nothing is expected', async () => {
      const call = openRecognizer(under.stt, MENU);
      call.recognizer.finalize();
      expect((await call.final()).text).toBe('');
      call.recognizer.expect(OPEN_SPEECH);
      call.recognizer.speechStarted();
      pushFrames(call.recognizer, new Int16Array(16_000));
      call.recognizer.finalize();
      if (!under.understandsOpenSpeech) expect((await call.final(2)).text).toBe('');
      call.recognizer.close();
    });

    it('keeps calls apart that speak at the same time', async () => {
      const texts = ['sales', 'support', 'billing', 'speak to an agent'];
      const speech = await Promise.all(texts.map(under.say));
      const calls = texts.map(() => openRecognizer(under.stt, MENU));
      for (const call of calls) call.recognizer.speechStarted();
      for (let at = 0; at < 32_000; at += 800) {
        calls.forEach(({ recognizer }, index) => {
          pushFrames(recognizer, (speech[index] ?? new Int16Array()).subarray(at, at + 800));
        });
      }
      for (const call of calls) call.recognizer.finalize();
      const words = await Promise.all(calls.map((call) => call.final()));
      expect(words.map(({ text }) => text)).toEqual(texts);
      for (const call of calls) call.recognizer.close();
    });

    it('says nothing after it was closed', async () => {
      const call = openRecognizer(under.stt, MENU);
      utter(call.recognizer, await under.say('Sales.'));
      call.recognizer.close();
      call.recognizer.close();
      utter(call.recognizer, new Int16Array(1_600));
      const other = openRecognizer(under.stt, MENU);
      utter(other.recognizer, await under.say('Support.'));
      await other.final();
      expect([call.finals, call.errors]).toEqual([[], []]);
      other.recognizer.close();
    });
  });
}
