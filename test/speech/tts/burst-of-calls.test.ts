// A burst: 100 calls at 20 a second with one greeting and the same lines. What a voice renders is counted, for a service
// by its requests, which are paid.

import { expect, it } from 'vitest';
import { serviceSeconds } from '../../../src/metrics/speech-metrics.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { SessionLimit } from '../../../src/speech/service/session-limit.ts';
import { createFlite } from '../../../src/speech/tts/flite/flite.ts';
import { serviceVoice } from '../../../src/speech/tts/service-voice.ts';
import type { SpeechListener, SpeechRequest, TextToSpeech } from '../../../src/speech/tts/tts.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const CALLS = 100;
const APART_MS = 50;
const GREETING = 'Welcome to Hill Dental.';
const LINES = [GREETING, ...Array.from({ length: 9 }, (_, nth) => `Please wait, line ${nth}.`)];

/** A service that needs `ms` for a line, and the texts that it was asked for. */
function slowService(clock: FakeClock, ms: number) {
  const asked: string[] = [];
  const tts: TextToSpeech = {
    name: 'service',
    model: 'm',
    synthesize: ({ text }, listener) => {
      asked.push(text);
      return new Promise((resolve) => {
        clock.after(ms, () => {
          listener.onAudio(new Int16Array(800).fill(asked.length));
          listener.onUsage?.({
            job: 'tts',
            service: 'service',
            model: 'm',
            source: 'counted',
            unit: 'characters',
            amount: text.length,
          });
          resolve();
        });
      });
    },
    close: () => Promise.resolve(),
  };
  return { asked, tts };
}

/** What one call gets of a line. */
class Line implements SpeechListener {
  samples = 0;
  characters = 0;
  onAudio(samples: Int16Array): void {
    this.samples += samples.length;
  }
  readonly onWords = (): void => undefined;
  onUsage({ amount }: { amount: number }): void {
    this.characters += amount;
  }
}

async function burst(clock: FakeClock, open: () => TextToSpeech) {
  const heard: Line[] = [];
  const all: Promise<void>[] = [];
  for (let nth = 0; nth < CALLS; nth += 1) {
    const tts = open();
    const { signal } = new AbortController();
    const lines = async (): Promise<void> => {
      for (const text of LINES) {
        const line = new Line();
        heard.push(line);
        const request: SpeechRequest = { text, voice: undefined, isFixed: true, isAhead: true };
        await tts.synthesize(request, line, signal);
      }
    };
    all.push(lines());
    await clock.advanceAsync(APART_MS, APART_MS);
  }
  await clock.advanceAsync(10_000, 100);
  await Promise.all(all);
  return heard;
}

/** A thread that gives as many samples as it has rendered sentences so far, late. */
const counting = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    let jobs = 0;
    parentPort.on('message', ({ id }) => {
      jobs += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      const speech = { samples: new Int16Array(jobs), words: [] };
      parentPort.postMessage({ id, speech, failure: '' });
    });`)}`,
);

const renderings = async () => {
  const { values } = await serviceSeconds.get();
  const counts = values.filter(({ metricName }) => metricName?.endsWith('_count') === true);
  return counts.find(({ labels }) => labels.service === 'flite')?.value ?? 0;
};

it('the embedded voice renders each line once, and counts one rendering', async () => {
  const clock = new FakeClock();
  const speech = await createFlite({ clock, log: quietLog().log, workers: 1, entry: counting });
  const before = await renderings();
  const request = { voice: undefined, isFixed: true, isAhead: true };
  const says = async (text: string) => {
    const line = new Line();
    await speech.synthesize({ ...request, text }, line, new AbortController().signal);
    return line.samples;
  };
  const heard = await Promise.all(
    Array.from({ length: CALLS }, (_, nth) =>
      Promise.all(LINES.map((line) => says(`${line}${nth % 2 ? ' ' : ''}`))),
    ),
  );
  for (const each of heard) expect(each).toEqual(heard[0]);
  // After the greeting at the start and the ten lines.
  expect(await says('The last one.')).toBe(1 + LINES.length + 1);
  expect((await renderings()) - before).toBe(LINES.length + 1);
  await speech.close();
});

it('a service is asked once for each line of a hundred calls, which all get it; one of them counts it', async () => {
  const clock = new FakeClock();
  const { asked, tts } = slowService(clock, 700);
  const voice = serviceVoice(tts, clock);
  const heard = await burst(clock, () => voice);
  expect(asked).toHaveLength(LINES.length);
  expect(heard.filter(({ samples }) => samples === 800)).toHaveLength(CALLS * LINES.length);
  const characters = heard.reduce((sum, line) => sum + line.characters, 0);
  expect(characters).toBe(LINES.join('').length);
});

it('lines that are under way take no session of the key', async () => {
  const clock = new FakeClock();
  const { asked, tts } = slowService(clock, 700);
  const sessions = new SessionLimit(clock, 4);
  const of = { service: serviceVoice(tts, clock), sessions };
  const circuit = new CircuitBreaker({ clock, job: 'tts', service: 'service' });
  const services = [{ ...of, circuit }];
  const heard = await burst(clock, () =>
    createTtsFallback({ services, clock, log: quietLog().log }),
  );
  expect(asked).toHaveLength(LINES.length);
  expect(heard.filter(({ samples }) => samples === 800)).toHaveLength(CALLS * LINES.length);
});
