// How long a caller waits for an answer: real voices answer a closed question, in simulated time. The embedded recogniser
// and the embedded voice take in it what they take on this machine; `fixedServices` takes the same time everywhere.

import { setTimeout as delay } from 'node:timers/promises';
import { turnLatencyOf } from '../../../src/call/session/session-events.ts';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { openPocketSphinx } from '../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import type { RecognizedWords, SpeechToText } from '../../../src/speech/stt/stt.ts';
import { createFlite } from '../../../src/speech/tts/flite/flite.ts';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  at,
  type Clip,
  callerClips,
  piecesOf,
  RealCall,
  render,
  type Voice,
} from '../../pipeline/real-call.ts';

/** The caller's words are all expected. */
const EXPECTED = callerClips().filter(({ name }) => !name.startsWith('fixture'));
const QUESTION = {
  ...OPEN_SPEECH,
  closed: true,
  phrases: EXPECTED.map(({ text }) => text),
};
/** Each in another place between two frames, and at another level. */
const ROUNDS = 4;
const LEVELS_DB = [-14, -20, -26, -32];
/** The agent answers each caller with another sentence: equal ones are rendered once. */
const HOURS = ['nine', 'ten', 'eleven', 'two'];
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const ANSWERS = HOURS.flatMap((hour) => DAYS.map((day) => `Would ${day} at ${hour} suit you?`));
/** Silence before and after the words, as the recogniser gets it. */
const AROUND_SAMPLES = 2_400;
/** The silence after them of which the recogniser has what it prepares the final words with, and the time that it has for that,
 *  at most what it has in a call: then the detector waits for 96 ms of silence, and the turn for 270. */
const PAUSE_MS = 120;
const PREPARING_MS = 140;
const FRAME_MS = 20;
const PER_MS = 8;
const FRAME_SAMPLES = 160;
/** With `fixedServices`, the words are known this long before the last sound. */
const INTERIM_BEFORE_END_MS = 100;
/** The audio of so many frames comes at once, and its interim words after this time. */
const BATCH_FRAMES = 5;
const INTERIM_MS = 15;
const WAIT_MS_MAX = 30_000;

export interface Answers {
  /** From the caller's last speech, as the detector finds it, to the agent's first frame on the wire: what the run's log
   *  and the metrics have. */
  responseMs: number[];
  /** The same from the last audible sound, which a room or a breath may follow. */
  afterSoundMs: number[];
  recognitionMs: number[];
  voiceMs: number[];
  /** Utterances of which the recogniser made other words; they are not in the times above. */
  misrecognised: number;
}

export interface Recognized {
  words: RecognizedWords;
  /** From the request for the final words to them, when the recogniser was asked `preparingMs` before to prepare them. */
  ms: number;
  preparingMs: number;
  /** Interim words from then on, with their time from then. */
  prepared: readonly { afterMs: number; text: string }[];
  /** Interim words, with their time from the begin of the clip. */
  interim: readonly { atMs: number; text: string }[];
}

/** What recogniser and voice take for one answer. */
export interface AnsweringServices {
  recognize(clip: Clip): Promise<Recognized>;
  /** Milliseconds until the first audio. */
  speak(text: string): Promise<number>;
  close(): Promise<void>;
}

export async function benchAnswers(): Promise<Record<string, number>> {
  const services = await embeddedServices();
  const { responseMs, afterSoundMs, recognitionMs, voiceMs, misrecognised } =
    await answersOf(services);
  await services.close();
  return {
    answers: responseMs.length,
    misrecognised,
    'last word to first frame (ms) p50': percentile(responseMs, 0.5),
    'last word to first frame (ms) p95': percentile(responseMs, 0.95),
    'last sound to first frame (ms) p50': percentile(afterSoundMs, 0.5),
    'of it recognition (ms) p50': percentile(recognitionMs, 0.5),
    'of it voice (ms) p50': percentile(voiceMs, 0.5),
  };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

export async function answersOf(services: AnsweringServices): Promise<Answers> {
  const voices = await render(ANSWERS.flatMap(piecesOf).map((text) => ({ voice: 'slt', text })));
  const found: Answers = {
    responseMs: [],
    afterSoundMs: [],
    recognitionMs: [],
    voiceMs: [],
    misrecognised: 0,
  };
  for (let nth = 0; nth < EXPECTED.length * ROUNDS; nth++) {
    const { name, text, pcm } = EXPECTED[nth % EXPECTED.length] as Clip;
    const clip = { name, text, pcm: at(pcm, LEVELS_DB[nth % LEVELS_DB.length] as number) };
    const heard = await services.recognize(clip);
    if (heard.words.text !== text) {
      found.misrecognised += 1;
      continue;
    }
    const answer = ANSWERS[nth % ANSWERS.length] as string;
    const voiceMs = await services.speak(piecesOf(answer)[0] ?? answer);
    const waited = await answeredAfter(clip, { nth, voices, answer, heard, voiceMs });
    found.responseMs.push(waited.totalMs);
    found.afterSoundMs.push(waited.afterSoundMs);
    found.recognitionMs.push(heard.ms);
    found.voiceMs.push(voiceMs);
  }
  return found;
}

/** One call: the caller speaks, the agent answers. */
async function answeredAfter(
  clip: Clip,
  how: {
    nth: number;
    voices: ReadonlyMap<string, Voice>;
    answer: string;
    heard: Recognized;
    voiceMs: number;
  },
): Promise<{ totalMs: number; afterSoundMs: number }> {
  const { nth, voices, answer, heard, voiceMs } = how;
  const startMs = 1_000 + ((nth * 7.3) % 20);
  const call: RealCall = new RealCall({
    voices,
    firstAudioMs: voiceMs,
    stt: (clock) => recognizerOf(heard, startMs, clock),
    react: ({ type }) => {
      if (type === 'turn') call.say(answer);
    },
  });
  call.audio.expect(QUESTION);
  call.line.play(clip.pcm, startMs);
  const endMs = startMs + clip.pcm.length / PER_MS;
  // As long as the services take on a machine that is busy with other work.
  await call.run(endMs + 2_500 + heard.ms + voiceMs);
  const first = call.farEnd.frames.find(({ atMs }) => atMs > endMs);
  const [turn] = call.of('turn');
  const [begin] = call.of('utterance-started');
  await call.audio.close();
  if (first === undefined || turn === undefined || begin === undefined) {
    throw new Error(`${clip.name} was not answered`);
  }
  const { totalMs } = turnLatencyOf(turn.turn, begin.facts);
  return { totalMs, afterSoundMs: first.atMs - endMs };
}

/** Recognises what was recognised before, as late as then. A call that leaves it less time to prepare has no figure. */
function recognizerOf(heard: Recognized, startMs: number, clock: Clock): SpeechToText {
  return {
    name: 'measured',
    model: 'measured',
    capabilities: { interimWords: true, finalMsP99: 300, closedOnly: true },
    open: (_expectation, listener) => {
      const interim = [...heard.interim];
      let isSpeech = false;
      let preparingAt = Number.NaN;
      return {
        push: () => {
          const [next] = interim;
          if (!isSpeech || next === undefined) return;
          if (clock.monotonicMs() - startMs < next.atMs) return;
          interim.shift();
          listener.onPartial({ text: next.text, confidence: null });
        },
        speechStarted: () => {
          isSpeech = true;
        },
        speechResumed: () => {
          preparingAt = Number.NaN;
        },
        prepareFinal: () => {
          const nowMs = clock.monotonicMs();
          preparingAt = nowMs;
          for (const { afterMs, text } of heard.prepared) {
            clock.after(afterMs, () => {
              if (preparingAt === nowMs) listener.onPartial({ text, confidence: null });
            });
          }
        },
        finalize: () => {
          const isLater = clock.monotonicMs() - preparingAt >= heard.preparingMs;
          if (!isLater) throw new Error(`prepared for less than ${heard.preparingMs} ms`);
          preparingAt = Number.NaN;
          clock.after(heard.ms, () => listener.onFinal(heard.words));
        },
        expect: () => undefined,
        close: () => undefined,
      };
    },
    close: () => Promise.resolve(),
  };
}

async function embeddedServices(): Promise<AnsweringServices> {
  const { log } = quietLog();
  const stt = await openPocketSphinx({ clock: systemClock, log });
  if (stt === undefined) throw new Error('PocketSphinx is not installed');
  const flite = await createFlite({ clock: systemClock, log, workers: 1 });
  const services: AnsweringServices = {
    recognize: (clip) => recognized(stt, clip),
    async speak(text) {
      const startMs = performance.now();
      let firstMs = Number.NaN;
      const onAudio = () => {
        if (Number.isNaN(firstMs)) firstMs = performance.now() - startMs;
      };
      const signal = AbortSignal.timeout(WAIT_MS_MAX);
      await flite.synthesize({ text, voice: 'slt' }, { onAudio, onWords: () => 0 }, signal);
      return firstMs;
    },
    async close() {
      await Promise.all([stt.close(), flite.close()]);
    },
  };
  // Model and voice are loaded before the first call is answered.
  await services.recognize(EXPECTED[0] as Clip);
  await services.speak('Hello.');
  return services;
}

async function recognized(stt: SpeechToText, { pcm }: Clip): Promise<Recognized> {
  let resolve: (words: RecognizedWords) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const final = new Promise<RecognizedWords>((onWords, onError) => {
    resolve = onWords;
    reject = onError;
  });
  const interim: { atMs: number; text: string }[] = [];
  const prepared: { afterMs: number; text: string }[] = [];
  let atMs = 0;
  let preparingAt = Number.NaN;
  const recognizer = stt.open(QUESTION, {
    onPartial: ({ text }) => {
      if (Number.isNaN(preparingAt)) interim.push({ atMs, text });
      else prepared.push({ afterMs: performance.now() - preparingAt, text });
    },
    onFinal: (words) => resolve(words),
    onError: (error) => reject(error),
  });
  recognizer.speechStarted();
  const sound = new Int16Array(AROUND_SAMPLES + pcm.length + PAUSE_MS * PER_MS);
  sound.set(pcm, AROUND_SAMPLES);
  for (let frame = 0; (frame + 1) * FRAME_SAMPLES <= sound.length; frame++) {
    recognizer.push(sound.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES));
    atMs = ((frame + 1) * FRAME_SAMPLES - AROUND_SAMPLES) / PER_MS;
    if (frame % BATCH_FRAMES === BATCH_FRAMES - 1) await delay(INTERIM_MS);
  }
  preparingAt = performance.now();
  recognizer.prepareFinal?.();
  const silence = new Int16Array(FRAME_SAMPLES);
  for (let untilMs = FRAME_MS; untilMs <= PREPARING_MS; untilMs += FRAME_MS) {
    await delay(Math.max(0, preparingAt + untilMs - performance.now()));
    recognizer.push(silence);
  }
  const startMs = performance.now();
  recognizer.finalize();
  const words = await final;
  const ms = performance.now() - startMs;
  recognizer.close();
  return { words, ms, preparingMs: PREPARING_MS, prepared, interim };
}

/** A recogniser that understands, and a voice, with these times. */
export function fixedServices(ms: { recognition: number; voice: number }): AnsweringServices {
  return {
    recognize: ({ text, pcm }) =>
      Promise.resolve({
        words: { text, confidence: 0.9 },
        ms: ms.recognition,

        preparingMs: PREPARING_MS,
        prepared: [],
        interim: [{ atMs: pcm.length / 8 - INTERIM_BEFORE_END_MS, text }],
      }),
    speak: () => Promise.resolve(ms.voice),
    close: () => Promise.resolve(),
  };
}
