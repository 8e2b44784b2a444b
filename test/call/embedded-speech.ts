// A call harness with the embedded recogniser, the embedded voices and the real voice activity detection, in a fake clock's
// time: the clock stands still while a voice is rendered. Callers' sounds are PCM that a test plays on their line. The
// services are opened once for the calls of a file: to open them takes longer than a call.

import { levelDb } from '../../src/audio/gain.ts';
import { telephoneBand } from '../../src/audio/telephone-band.ts';
import { batchedVad } from '../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { createFlite } from '../../src/speech/tts/flite/flite.ts';
import type { SpeechListener, SpeechRequest, TextToSpeech } from '../../src/speech/tts/tts.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { openInProcess } from '../speech/stt/pocketsphinx/human-speech.ts';
import type { CallHarness } from './call-harness.ts';
import type { Stream } from './stream.ts';

/** Digital silence is at the bottom of G.711. */
const SILENT_DB = -60;
const PER_MS = 8;

/** Flite, and those of its sentences that are under way. */
class CountedVoice implements TextToSpeech {
  readonly name = 'flite';
  readonly model = 'slt';
  readonly #pending = new Set<Promise<void>>();
  readonly #flite: TextToSpeech;

  constructor(flite: TextToSpeech) {
    this.#flite = flite;
  }

  synthesize(request: SpeechRequest, to: SpeechListener, signal: AbortSignal): Promise<void> {
    const speech = this.#flite.synthesize(request, to, signal);
    this.#pending.add(speech);
    const forget = () => void this.#pending.delete(speech);
    speech.then(forget, forget);
    return speech;
  }

  /** No sentence is under way. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  close(): Promise<void> {
    return this.#flite.close();
  }
}

/** A piece of what the far end got, from its first sound to its last. */
export interface Heard {
  fromMs: number;
  untilMs: number;
}

/** What calls use one after another. */
export class EmbeddedSpeech {
  readonly voice: CountedVoice;
  readonly stt = openInProcess();
  readonly vadKernel = loadVadKernel();

  private constructor(voice: CountedVoice) {
    this.voice = voice;
  }

  static async open(): Promise<EmbeddedSpeech> {
    // Time that does not pass, as none does for a call while a sentence is rendered.
    const clock = new FakeClock();
    const flite = await createFlite({ clock, log: quietLog().log, workers: 1 });
    return new EmbeddedSpeech(new CountedVoice(flite));
  }

  async close(): Promise<void> {
    await this.voice.close();
    await this.stt.close();
  }
}

export class SpokenCalls {
  readonly harness: CallHarness;
  readonly #voice: CountedVoice;

  constructor(harness: CallHarness, { voice, stt, vadKernel }: EmbeddedSpeech) {
    this.harness = harness;
    this.#voice = voice;
    harness.speech.tts = voice;
    harness.speech.stt = stt;
    Object.assign(harness.deps.services, { vad: batchedVad(vadKernel, harness.clock) });
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) {
      await this.#rendered();
      await this.harness.pass(20);
    }
    await this.#rendered();
  }

  async passUntil(condition: () => boolean, msMax = 30_000): Promise<boolean> {
    for (let passed = 0; passed < msMax && !condition(); passed += 20) await this.pass(20);
    return condition();
  }

  /** The agent has been silent for `quietMs`. */
  async heardOut(stream: Stream, quietMs = 700): Promise<void> {
    await this.pass(200);
    const { clock } = this.harness;
    const isOver = () => clock.monotonicMs() - lastSoundMs(stream) >= quietMs;
    if (!(await this.passUntil(isOver))) throw new Error('the agent speaks without an end');
  }

  /** The caller says it, and the agent has answered, if it does. */
  async says(stream: Stream, pcm: Int16Array, afterMs = 3_000): Promise<void> {
    stream.sound = pcm;
    await this.pass(pcm.length / PER_MS + afterMs);
    await this.heardOut(stream);
  }

  async #rendered(): Promise<void> {
    await settle();
    await this.#voice.idle();
    await settle();
  }
}

/** When the far end got the last sound; before the first one, never. */
export function lastSoundMs({ farEnd }: Stream): number {
  const last = farEnd.frames.findLast(({ pcm }) => levelDb(pcm) > SILENT_DB);
  return last?.untilMs ?? Number.NEGATIVE_INFINITY;
}

/** When the far end got the first sound from `fromMs` on. */
export function firstSoundMs({ farEnd }: Stream, fromMs: number): number {
  const first = farEnd.frames.find(({ atMs, pcm }) => atMs >= fromMs && levelDb(pcm) > SILENT_DB);
  return first?.atMs ?? Number.POSITIVE_INFINITY;
}

/** What the far end got of the agent. */
export function heardBetween({ farEnd }: Stream, { fromMs, untilMs }: Heard): Int16Array {
  const pcm = new Int16Array(Math.max(0, Math.round((untilMs - fromMs) * PER_MS)));
  farEnd.heard(fromMs, pcm);
  return pcm;
}

/** RMS in the telephone band from the first sound to the last, in dB below full scale, as a meter at the far end has it. */
export function levelInBandDb(pcm: Int16Array): number {
  const from = pcm.findIndex((sample) => Math.abs(sample) > 300);
  const to = pcm.findLastIndex((sample) => Math.abs(sample) > 300);
  const signal = Float64Array.from(pcm.subarray(Math.max(0, from), to + 1));
  telephoneBand().process(signal);
  const power = signal.reduce((sum, each) => sum + each * each, 0) / Math.max(1, signal.length);
  return 10 * Math.log10(power / 32_768 ** 2);
}
