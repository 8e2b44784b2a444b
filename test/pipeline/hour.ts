// An hour of a call in which the far end's clock runs fast or slow, packets tremble, get lost, and the
// process stalls. Every ten seconds caller and agent make a sound; the file must tell when. Used by the
// test and by the benchmark.

import { readWav } from '../../src/audio/wav.ts';
import { l16 } from '../../src/codec/l16.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import { ignoreEvents } from '../bench/calls/silent-services.ts';
import { FarEnd } from '../fakes/call/far-end.ts';
import { MemoryRecording } from '../fakes/call/memory-recording.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { FakeTts, loudnessVad } from '../fakes/speech-services.ts';

export const MINUTES = 60;
const EVENT_MS = 10_000;
const LOUD = packet(9_000);
const QUIET = packet(0);

export interface HourOptions {
  /** How far the far end's clock is off. */
  ppm: number;
  /** Whether its packets carry the time of their capture. */
  timestamps: boolean;
}

export interface Hour {
  /** Sounds found in the caller's and the agent's channel. */
  heard: number;
  said: number;
  /** Sounds that the agent made. */
  spoken: number;
  /** Between the earliest and the latest sound of both channels, against when they really began. */
  spreadMs: number;
}

export async function recordHour({ ppm, timestamps }: HourOptions): Promise<Hour> {
  const clock = new FakeClock();
  const farEnd = new FarEnd({ clock, codec: l16, semantics: 'echo-on-clear' });
  const file = new MemoryRecording();
  const audio = start(clock, farEnd, file);
  const caller = new SkewedCaller({ clock, audio, ppm, timestamps });
  const random = seeded(7);
  for (let second = 0; second < MINUTES * 60; second++) {
    if (second % 10 === 5) {
      const speech = audio.speak({ utteranceId: second, interruptible: false });
      speech.text('Ah.');
      speech.end();
    }
    if (second % 97 === 50) clock.stall(500);
    caller.send(1_000, random);
    clock.advance(1_000);
    await settle();
  }
  await audio.close();

  const { samples } = readWav(file.bytes);
  const heard = onsets(samples, 0);
  const said = onsets(samples, 1);
  const spokenAtMs = farEnd.frames.filter(isFirst).map(({ atMs }) => atMs);
  const errorsMs = [
    ...heard.map((atMs) => atMs - nearest(caller.soundsAtMs, atMs)),
    ...said.map((atMs) => atMs - nearest(spokenAtMs, atMs)),
  ];
  return {
    heard: heard.length,
    said: said.length,
    spoken: spokenAtMs.length,
    spreadMs: Math.max(...errorsMs) - Math.min(...errorsMs),
  };
}

/** Sends 20 ms packets by a clock that is `ppm` off, with jitter and losses. */
class SkewedCaller {
  /** True times at which its sounds began. */
  readonly soundsAtMs: number[] = [];
  readonly #clock: FakeClock;
  readonly #audio: CallAudio;
  readonly #timestamps: boolean;
  readonly #frameMs: number;
  #packets = 0;
  #arrivedMs = 0;

  constructor(options: { clock: FakeClock; audio: CallAudio; ppm: number; timestamps: boolean }) {
    this.#clock = options.clock;
    this.#audio = options.audio;
    this.#timestamps = options.timestamps;
    this.#frameMs = 20 / (1 + options.ppm / 1e6);
  }

  /** Schedules what it captures in the next `ms`. */
  send(ms: number, random: () => number): void {
    const untilMs = this.#clock.monotonicMs() + ms;
    for (; (this.#packets + 1) * this.#frameMs <= untilMs; this.#packets++) {
      const capturedMs = this.#packets * this.#frameMs;
      const sound = this.#packets % (EVENT_MS / 20) < 5;
      if (sound && this.#packets % (EVENT_MS / 20) === 0) this.soundsAtMs.push(capturedMs);
      if (!sound && this.#timestamps && random() < 0.01) continue;
      const jitterMs = Math.min(60, -8 * Math.log(1 - random()));
      this.#arrivedMs = Math.max(this.#arrivedMs, capturedMs + this.#frameMs + jitterMs);
      const timestampMs = this.#timestamps ? this.#packets * 20 : Number.NaN;
      this.#clock.after(this.#arrivedMs - this.#clock.monotonicMs(), () =>
        this.#audio.audioIn(sound ? LOUD : QUIET, timestampMs),
      );
    }
  }
}

function start(clock: FakeClock, farEnd: FarEnd, file: MemoryRecording): CallAudio {
  const audio = new CallAudio({
    clock,
    mediaClock: new MediaClock(clock),
    codecIn: l16,
    codecOut: l16,
    wire: farEnd,
    lead: { aimMs: 80, maxMs: 160, stallMsMax: 160, stepMs: 60 },
    marks: true,
    vad: loudnessVad(),
    stt: undefined,
    tts: new FakeTts(clock),
    voice: undefined,
    recording: file,
    tuning: defaultTuning,
    onEvent: ignoreEvents,
    log: quietLog().log,
  });
  farEnd.onMark = (name) => audio.mark(name);
  return audio;
}

function packet(value: number): Uint8Array {
  const payload = new Uint8Array(320);
  l16.encode(new Int16Array(160).fill(value), payload);
  return payload;
}

/** Times at which a channel becomes loud after at least a second of quiet. */
function onsets(samples: Int16Array, channel: number): number[] {
  const found: number[] = [];
  let lastLoud = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < samples.length / 2; i++) {
    if (Math.abs(samples[2 * i + channel] as number) < 3_000) continue;
    if (i - lastLoud > 8_000) found.push(i / 8);
    lastLoud = i;
  }
  return found;
}

function isFirst(frame: { atMs: number }, nth: number, all: readonly { atMs: number }[]): boolean {
  return nth === 0 || frame.atMs - (all[nth - 1]?.atMs ?? 0) > 1_000;
}

function nearest(times: readonly number[], atMs: number): number {
  return times.reduce((best, each) =>
    Math.abs(each - atMs) < Math.abs(best - atMs) ? each : best,
  );
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
