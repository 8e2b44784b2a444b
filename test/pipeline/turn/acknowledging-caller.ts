// Calls in which the caller makes one sound while the agent speaks LONG: whether it stops the agent for good, and when the
// agent goes on.

import type { ExpectedInput } from '../../../src/model/expected-input.ts';
import type { RecognizedWords, SpeechToText } from '../../../src/speech/stt/stt.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { print, share } from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { RealCall, type Voice } from '../real-call.ts';
import { LONG } from './barge-ins.ts';

export interface Acknowledged {
  isStopped: boolean;
  /** The agent did not finish, and the dialogue was told nothing. */
  isSilent: boolean;
  /** From the end of the sound to the agent's next; NaN if the agent was not paused. */
  pauseMs: number;
}

export interface AcknowledgedOptions {
  /** Voice for each piece of LONG. */
  agent: ReadonlyMap<string, Voice>;
  stt: (clock: Clock) => SpeechToText;
  expectation: ExpectedInput;
  pcm: Int16Array;
  onsetMs: number;
}

export async function acknowledged(options: AcknowledgedOptions): Promise<Acknowledged> {
  const { agent, stt, expectation, pcm, onsetMs } = options;
  const call = new RealCall({ voices: agent, stt });
  call.audio.expect(expectation);
  call.say(LONG);
  call.line.play(pcm, onsetMs);
  await call.run(16_500);
  const endMs = onsetMs + pcm.length / 8;
  const silentMs = call.soundEndsAfter(onsetMs);
  const resumed = call.farEnd.frames.find(({ atMs }) => atMs > silentMs);
  const isPaused = silentMs < endMs + 500;
  const isFinished = call.of('utterance-finished')[0]?.report.heardText === LONG;
  const isTold = call.of('turn').length + call.of('unrecognized').length > 0;
  const isStopped = call.of('interruption').length > 0;
  await call.audio.close();
  return {
    isStopped,
    isSilent: !(isFinished || isTold),
    pauseMs: isPaused ? (resumed?.atMs ?? Number.POSITIVE_INFINITY) - endMs : Number.NaN,
  };
}

export interface AcknowledgedShares {
  stopped: number;
  silent: number;
  /** Pauses of the agent in those calls that had one. */
  pauses: number;
  pauseMsP50: number;
  pauseMsP95: number;
}

/** Printed for the reader of the tests' output. */
export function sharesOf(found: readonly Acknowledged[]): AcknowledgedShares {
  const count = (what: 'isStopped' | 'isSilent') => found.filter((each) => each[what]).length;
  const pauses = found
    .filter(({ isStopped, pauseMs }) => !isStopped && !Number.isNaN(pauseMs))
    .map(({ pauseMs }) => pauseMs)
    .sort((one, other) => one - other);
  const at = (part: number) => pauses[Math.floor(pauses.length * part)] ?? Number.NaN;
  print(`resumes after the sound: ${pauses.length} pauses, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  return {
    stopped: share('acknowledgements that stop the agent', count('isStopped'), found.length),
    silent: share('of them followed by silence', count('isSilent'), found.length),
    pauses: pauses.length,
    pauseMsP50: at(0.5),
    pauseMsP95: at(0.95),
  };
}

export interface ScriptedRecognizer {
  words: RecognizedWords;
  /** From the request for them to the final words; undefined: never. */
  finalMs: number | undefined;
  finalMsP99: number;
  closedOnly: boolean;
}

/** Recognises these words at once, as a guess, and with their confidence when it is asked. */
export function recognizes(
  { words, finalMs, finalMsP99, closedOnly }: ScriptedRecognizer,
  clock: Clock,
): SpeechToText {
  return {
    name: 'scripted',
    model: 'scripted',
    capabilities: { interimWords: true, finalMsP99, closedOnly },
    open: (_expectation, listener) => ({
      push: () => undefined,
      speechStarted: () => listener.onPartial({ text: words.text, confidence: null }),
      finalize: () => {
        if (finalMs !== undefined) clock.after(finalMs, () => listener.onFinal(words));
      },
      expect: () => undefined,
      close: () => undefined,
    }),
    close: () => Promise.resolve(),
  };
}
