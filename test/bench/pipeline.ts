// What one 20 ms frame costs in the pipeline, in and out: microseconds, and bytes allocated.
// The detector and the speech services are fakes; their own cost is measured elsewhere.

import { pcmu } from '../../src/codec/g711.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import {
  BackgroundNoise,
  officeBackgroundNoise,
} from '../../src/pipeline/speak/background-noise.ts';
import { defaultTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import { vadOf } from '../fakes/call/vad-of.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { deafStt, ignoreEvents, minuteTts, nowhere } from './calls/silent-services.ts';
import { StepClock } from './calls/step-clock.ts';
import { median } from './median.ts';

export interface FrameCost {
  frames: number;
  microseconds: number;
  /** Heap bytes; below zero if the collector ran. */
  bytes: number;
}

export interface PipelineBench {
  /** From the provider's payload to VAD, recogniser, recording and turn. */
  inbound: FrameCost;
  /** From queued PCM to the provider's payload and the recording; a tick included. */
  outbound: FrameCost;
  /** A tick of a call in which nobody speaks. */
  idle: FrameCost;
  /** The same with background noise: one frame of it is sent. */
  noise: FrameCost;
}

/** One round of 3 to 15 ms is as long as the compiler or the collector takes when it comes between. */
const ROUNDS = 31;

/** Runs the four paths `frames` times each, in rounds of which the medians count. Frames of one round fit into a
 *  minute: at most 2,900. */
export async function benchPipeline(frames = 2_900): Promise<PipelineBench> {
  for (let nth = 0; nth < 3; nth++) await measureAll(frames); // Warms the compiler up.
  const rounds: PipelineBench[] = [];
  for (let nth = 0; nth < ROUNDS; nth++) rounds.push(await measureAll(frames));
  const middle = (path: keyof PipelineBench): FrameCost => ({
    frames,
    microseconds: median(rounds.map((round) => round[path].microseconds)),
    bytes: median(rounds.map((round) => round[path].bytes)),
  });
  return {
    inbound: middle('inbound'),
    outbound: middle('outbound'),
    idle: middle('idle'),
    noise: middle('noise'),
  };
}

async function measureAll(frames: number): Promise<PipelineBench> {
  const inbound = bench();
  const payload = new Uint8Array(160).fill(0xff);
  let timestampMs = 0;
  const inCost = measure(frames, () => {
    inbound.clock.nowMs += 20;
    inbound.audio.audioIn(payload, timestampMs);
    timestampMs += 20;
  });
  const idleCost = measure(frames, () => tick(inbound.clock));
  await inbound.audio.close();

  const outbound = bench();
  const speech = outbound.audio.speak({ utteranceId: 1, interruptible: true });
  speech.text('A minute of it.');
  speech.end();
  await Promise.resolve();
  const outCost = measure(frames, () => tick(outbound.clock));
  if (outbound.sent() < frames) throw new Error('the bench did not send every frame');
  await outbound.audio.close();

  const noisy = bench(new BackgroundNoise(officeBackgroundNoise(), 0.3));
  const noiseCost = measure(frames, () => tick(noisy.clock));
  if (noisy.sent() < frames) throw new Error('the bench did not send every frame of noise');
  await noisy.audio.close();
  return { inbound: inCost, outbound: outCost, idle: idleCost, noise: noiseCost };
}

function measure(frames: number, step: () => void): FrameCost {
  const heapBefore = process.memoryUsage().heapUsed;
  const before = performance.now();
  for (let nth = 0; nth < frames; nth++) step();
  const elapsedMs = performance.now() - before;
  const bytes = (process.memoryUsage().heapUsed - heapBefore) / frames;
  return { frames, microseconds: (1_000 * elapsedMs) / frames, bytes };
}

function tick(clock: StepClock): void {
  clock.nowMs += 20;
  clock.tick();
}

function bench(ambient?: BackgroundNoise): {
  clock: StepClock;
  audio: CallAudio;
  sent: () => number;
} {
  const clock = new StepClock();
  let sent = 0;
  const audio = new CallAudio({
    clock,
    mediaClock: new MediaClock(clock),
    codecIn: pcmu,
    codecOut: pcmu,
    wire: {
      audio(payload) {
        sent += payload.length / pcmu.frameBytes;
      },
      mark: () => undefined,
      clear: () => undefined,
      bufferedBytes: 0,
    },
    lead: { aimMs: 80, maxMs: 160, stallMsMax: 160, stepMs: 60 },
    marks: true,
    vad: vadOf(() => ({ process: () => 0 })),
    stt: deafStt,
    tts: minuteTts,
    voice: undefined,
    recording: nowhere,
    tuning: defaultTuning,
    ambient,
    onEvent: ignoreEvents,
    log: quietLog('silent').log,
  });
  return { clock, audio, sent: () => sent };
}
