// Callers who interrupt: real voices at several levels and noises speak into a long announcement, and the
// far end tells when it fell silent. Used by the test and by the benchmark.

import { comfortNoise } from '../../audio/sounds.ts';
import { at, type Clip, callerClips, RealCall, type Voice } from '../real-call.ts';

export const LONG =
  'Thank you for calling the dental clinic, all of our agents are busy at the moment. ' +
  'Please stay on the line and somebody will be with you in a few minutes. ' +
  'You can also book a visit on our website at any time of the day or the night.';
const LEVELS_DB = [-12, -16, -20, -25, -30, -35];
const SNR_DB = 20;
/** Noise of a line without noise. */
const CLEAN_DB = -66;
/** Each clip is spoken so often, at other times and levels. */
const ROUNDS = 4;

export interface BargeIn {
  what: string;
  /** Without noise on the caller's line. */
  isClean: boolean;
  silenceMs: number;
  call: RealCall;
  onsetMs: number;
}

/** The caller speaks into LONG and is given time to be answered. */
export async function bargeIn(
  clip: Clip,
  how: { nth: number; levelDb: number; noiseDb: number; call: RealCall },
): Promise<BargeIn> {
  const { nth, levelDb, noiseDb, call } = how;
  const isClean = noiseDb === CLEAN_DB;
  call.line.noise = comfortNoise({ seed: nth + 1, levelDbfs: noiseDb });
  call.say(LONG);
  const onsetMs = 1_500 + ((nth * 337) % 6_000) + (nth % 7) * 4.5;
  const endMs = call.callerSays({ ...clip, pcm: at(clip.pcm, levelDb) }, { atMs: onsetMs });
  await call.run(endMs + 1_500);
  const silenceMs = call.soundEndsAfter(onsetMs) - onsetMs;
  return { what: `${clip.name} at ${levelDb} dB, nr ${nth}`, isClean, silenceMs, call, onsetMs };
}

/** One call per clip and round; half of the lines are noisy. `voices` has LONG in pieces. */
export async function bargeIns(voices: ReadonlyMap<string, Voice>): Promise<BargeIn[]> {
  const clips = callerClips();
  const found: BargeIn[] = [];
  for (let nth = 0; nth < clips.length * ROUNDS; nth++) {
    const clip = clips[nth % clips.length] as Clip;
    const levelDb = LEVELS_DB[nth % LEVELS_DB.length] as number;
    const noiseDb = nth % 2 === 0 ? levelDb - SNR_DB : CLEAN_DB;
    const call = new RealCall({ voices, oneWayMs: 0 });
    found.push(await bargeIn(clip, { nth, levelDb, noiseDb, call }));
    await call.audio.close();
  }
  return found;
}
