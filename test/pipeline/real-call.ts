// A call as people hear it: the real detector, G.711 both ways, real voices on both sides. The clock, the
// recogniser and the far end are fakes; what the agent says was rendered before.

import { readdirSync, readFileSync } from 'node:fs';
import { gainOfDb, levelDb } from '../../src/audio/gain.ts';
import { batchedVad } from '../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { readWav } from '../../src/audio/wav.ts';
import { pcmu } from '../../src/codec/g711.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import type { CallAudioEvent } from '../../src/pipeline/call-audio-event.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { defaultTuning, type TurnTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import { createFlite } from '../../src/speech/tts/flite/flite.ts';
import { createSentenceSplitter } from '../../src/speech/tts/sentence-splitter.ts';
import type {
  SpeechListener,
  SpeechRequest,
  TextToSpeech,
  WordTiming,
} from '../../src/speech/tts/tts.ts';
import { type Clock, systemClock } from '../../src/std/clock.ts';
import { spoken } from '../audio/vad/vad-fixture.ts';
import { CallerLine } from '../fakes/call/caller-line.ts';
import { FarEnd } from '../fakes/call/far-end.ts';
import { MemoryRecording } from '../fakes/call/memory-recording.ts';
import { ScriptedStt, type SpokenWord } from '../fakes/call/scripted-stt.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const PER_MS = 8;
const FIRST_AUDIO_MS = 60;
/** The caller's frames come between the ticks of the media clock, on no boundary of the agent's frames. */
const ARRIVAL_MS = 27;

export interface Voice {
  pcm: Int16Array;
  words: readonly WordTiming[];
}

/** One for all that a process renders: its thread takes as long to start as to speak ten sentences. It keeps no process
 *  running. */
let flite: Promise<TextToSpeech> | undefined;

/** What flite makes of each text, by text. */
export async function render(
  lines: readonly { voice: string; text: string }[],
): Promise<Map<string, Voice>> {
  flite ??= createFlite({ clock: systemClock, log: quietLog().log, workers: 1 });
  try {
    return await renderedBy(await flite, lines);
  } catch (error) {
    flite = undefined; // The next test gets one that has not failed.
    throw error;
  }
}

async function renderedBy(
  speech: TextToSpeech,
  lines: readonly { voice: string; text: string }[],
): Promise<Map<string, Voice>> {
  const rendered = new Map<string, Voice>();
  for (const { voice, text } of lines) {
    const pieces: Int16Array[] = [];
    let words: readonly WordTiming[] = [];
    const listener = {
      onAudio: (samples: Int16Array) => pieces.push(samples),
      onWords: (told: readonly WordTiming[]) => {
        words = told;
      },
    };
    await speech.synthesize({ text, voice }, listener, new AbortController().signal);
    rendered.set(text, { pcm: pieces[0] ?? new Int16Array(), words });
  }
  return rendered;
}

/** The pieces in which the gateway has a text spoken. */
export function piecesOf(text: string): string[] {
  const splitter = createSentenceSplitter();
  return [...splitter.push(text), ...splitter.end()].map((piece) => piece.trim());
}

/** Speaks what was rendered, after a service's delay. */
class RenderedTts implements TextToSpeech {
  readonly name = 'rendered';
  readonly model = 'flite';
  readonly #clock: Clock;
  readonly #voices: ReadonlyMap<string, Voice>;
  readonly #firstAudioMs: number;

  constructor(clock: Clock, voices: ReadonlyMap<string, Voice>, firstAudioMs: number) {
    this.#clock = clock;
    this.#voices = voices;
    this.#firstAudioMs = firstAudioMs;
  }

  synthesize({ text }: SpeechRequest, to: SpeechListener, signal: AbortSignal): Promise<void> {
    const voice = this.#voices.get(text);
    if (voice === undefined) throw new Error(`not rendered: ${text}`);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.#firstAudioMs, () => {
        to.onWords(voice.words);
        to.onAudio(voice.pcm.slice());
        resolve();
      });
      signal.addEventListener('abort', () => {
        timer.cancel();
        reject(signal.reason);
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** One piece of a caller's speech from its real onset to its real end. */
export interface Clip {
  name: string;
  text: string;
  pcm: Int16Array;
}

const texts: Record<string, string> = {
  'fixture-0': 'i would like to make an appointment for next week please',
  'fixture-1': 'could you tell me what time you close today thank you',
  'fixture-2': 'my number is four two one',
  'fixture-3': 'stop',
};

/** Every caller's clip of the fixtures. */
export function callerClips(): Clip[] {
  const clips = spoken.speech.map(([from, to], nth) => {
    const name = `fixture-${nth}`;
    return { name, text: texts[name] ?? '', pcm: spoken.pcm.slice(from, to) };
  });
  for (const file of readdirSync('fixtures/audio/callers')) {
    const name = file.replace('.wav', '');
    const { samples } = readWav(readFileSync(`fixtures/audio/callers/${file}`));
    clips.push({ name, text: name.replaceAll('-', ' '), pcm: trimmed(samples).slice() });
  }
  return clips;
}

/** From the first to the last 10 ms that are within 40 dB of the loudest. */
function trimmed(pcm: Int16Array): Int16Array {
  const step = 80;
  const levels: number[] = [];
  for (let at = 0; at + step <= pcm.length; at += step) {
    levels.push(levelDb(pcm.subarray(at, at + step)));
  }
  const least = Math.max(-62, Math.max(...levels) - 40);
  const from = levels.findIndex((level) => level >= least);
  const to = levels.findLastIndex((level) => level >= least) + 1;
  return pcm.slice(from * step, to * step);
}

/** RMS level set to `db`. */
export function at(pcm: Int16Array, db: number): Int16Array {
  const gain = gainOfDb(db - levelDb(pcm));
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

const kernel = loadVadKernel();

export interface RealCallOptions {
  voices: ReadonlyMap<string, Voice>;
  oneWayMs?: number;
  tuning?: TurnTuning;
  /** In place of the call's own. */
  stt?: (clock: Clock) => SpeechToText;
  /** Delay of the agent's voice. */
  firstAudioMs?: number;
  /** Called with each item of news, as the session would be. */
  react?: (event: CallAudioEvent) => void;
}

export class RealCall {
  readonly clock = new FakeClock();
  readonly stt = new ScriptedStt(this.clock);
  readonly file = new MemoryRecording();
  readonly farEnd: FarEnd;
  readonly line: CallerLine;
  readonly audio: CallAudio;
  readonly news: (CallAudioEvent & { atMs: number })[] = [];
  readonly #payload = new Uint8Array(160);
  readonly #react: (event: CallAudioEvent) => void;
  #utterance = 0;
  #timestampMs = 0;

  constructor({ voices, oneWayMs = 0, tuning = defaultTuning, ...options }: RealCallOptions) {
    const { stt, firstAudioMs = FIRST_AUDIO_MS, react = () => undefined } = options;
    this.#react = react;
    this.farEnd = new FarEnd({
      clock: this.clock,
      codec: pcmu,
      semantics: 'echo-on-clear',
      oneWayMs,
    });
    this.line = new CallerLine(this.farEnd);
    this.audio = new CallAudio({
      clock: this.clock,
      mediaClock: new MediaClock(this.clock),
      codecIn: pcmu,
      codecOut: pcmu,
      wire: this.farEnd,
      lead: { aimMs: 80, maxMs: 160, stallMsMax: 160, stepMs: 60 },
      marks: true,
      vad: batchedVad(kernel, this.clock),
      stt: stt?.(this.clock) ?? this.stt,
      tts: new RenderedTts(this.clock, voices, firstAudioMs),
      voice: undefined,
      recording: this.file,
      tuning,
      onEvent: (event) => this.#listen(event),
      log: quietLog().log,
    });
    this.farEnd.onMark = (name) => this.audio.mark(name);
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  async run(ms: number): Promise<void> {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; ) {
      this.clock.advance(this.#timestampMs === 0 ? ARRIVAL_MS : 20);
      pcmu.encode(this.line.frameBefore(this.nowMs), this.#payload);
      this.audio.audioIn(this.#payload, this.#timestampMs);
      this.#timestampMs += 20;
      await settle();
    }
  }

  say(text: string, how: { interruptible?: boolean } = {}): void {
    this.#utterance++;
    const speech = this.audio.speak({
      utteranceId: this.#utterance,
      interruptible: how.interruptible ?? true,
    });
    speech.text(text);
    speech.end();
  }

  /** The caller says something from `atMs` on; its words end evenly unless `words` tells. */
  callerSays(clip: Clip, how: { atMs: number; words?: readonly SpokenWord[] }): number {
    this.line.play(clip.pcm, how.atMs);
    const lengthMs = clip.pcm.length / PER_MS;
    const { length } = clip.text;
    const evenly = [...clip.text.matchAll(/\S+/g)].map((word) => ({
      word: word[0],
      endMs: how.atMs + ((word.index + word[0].length) / length) * lengthMs,
    }));
    this.stt.hears(how.words ?? evenly);
    return how.atMs + lengthMs;
  }

  of<T extends CallAudioEvent['type']>(
    type: T,
  ): (Extract<CallAudioEvent, { type: T }> & { atMs: number })[] {
    return this.news.filter(
      (item): item is Extract<CallAudioEvent, { type: T }> & { atMs: number } => item.type === type,
    );
  }

  get turns(): string[] {
    return this.of('turn').map(({ turn }) => turn.text);
  }

  /** When the sound that goes on at `ms` ends for at least 60 ms. */
  soundEndsAfter(ms: number): number {
    let endMs = ms;
    for (const { atMs, untilMs } of this.farEnd.frames) {
      if (untilMs <= ms) continue;
      if (atMs - endMs >= 60) break;
      endMs = Math.max(endMs, untilMs);
    }
    return endMs;
  }

  #listen(event: CallAudioEvent): void {
    if (event.type === 'broken') throw event.error;
    this.news.push({ ...event, atMs: this.nowMs });
    this.#react(event);
  }
}
