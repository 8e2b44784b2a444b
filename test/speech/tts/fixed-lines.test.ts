// Lines of a call that may be kept, as greetings: they go to the voice that speaks as requests, and to the others where it
// fails. Their place in the limit of a key: voice-limit.test.ts.

import { expect, it } from 'vitest';
import type { SpeechListener, SpeechRequest } from '../../../src/speech/tts/tts.ts';
import { Parts, setUp } from './voices-of-a-call.ts';

const LINE = 'Welcome to Hill Dental.';

/** A call whose first voice answers requests so; what it was asked for, by requests and for kept lines. */
function call(answer: (listener: SpeechListener, signal: AbortSignal) => Promise<void>) {
  const given = setUp({}, {});
  const asked: (string | undefined)[] = [];
  Object.assign(given.services[0]?.service ?? {}, {
    synthesize: (request: SpeechRequest, listener: SpeechListener, signal: AbortSignal) => {
      asked.push(request.voice);
      return answer(listener, signal);
    },
    kept: (_text: string, voice: string | undefined) => {
      asked.push(voice);
      return undefined;
    },
  });
  const tts = given.open();
  const heard = new Parts();
  const makes = (signal: AbortSignal, voice?: string) =>
    tts.synthesize({ text: LINE, voice, isFixed: true }, heard, signal);
  return { ...given, asked, tts, heard, makes };
}

const usage = { job: 'tts', service: 'voice-0', model: 'fake', source: 'counted' } as const;
const { signal } = new AbortController();

it('a line is made in the voice of the settings where none is asked for, and its characters count', async () => {
  const { asked, heard, makes, tts, logOf } = call((listener) => {
    listener.onUsage?.({ ...usage, unit: 'characters', amount: 23 });
    listener.onAudio(new Int16Array(800));
    return Promise.resolve();
  });
  await makes(signal);
  await makes(signal, 'Anna');
  tts.kept?.(LINE, undefined);
  expect(asked).toEqual(['mapped-0', 'Anna', 'mapped-0']);
  expect([heard.samples, heard.characters, logOf(0)]).toEqual([1_600, 46, []]);
});

it.each([
  ['fails', () => Promise.reject(new Error('test'))],
  ['has no audio', () => Promise.resolve()],
])('a line whose request %s is spoken as every other text', async (_what, answer) => {
  const { clock, heard, makes, logOf } = call(answer);
  const made = makes(signal);
  await clock.advanceAsync(100);
  await made;
  expect(logOf(0)).toEqual([`push ${LINE}`, 'end']);
  expect(heard.samples).toBeGreaterThan(0);
});

it('a line that is not awaited any more goes to no other voice', async () => {
  const stop = new AbortController();
  const { makes, voicesOf } = call(
    (_listener, given) =>
      new Promise((_resolve, reject) => {
        given.addEventListener('abort', () => reject(given.reason));
      }),
  );
  const made = makes(stop.signal);
  stop.abort(new Error('the call is over'));
  await expect(made).rejects.toThrow('the call is over');
  expect([voicesOf(0), voicesOf(1)]).toEqual([[], []]);
});
