// The sounds of the simulated PBX, computed: nothing here is a recording. `hello-world` and the like have
// the lengths and the rhythm of Asterisk's prompts, so that silence and speech lie where they would.

import { RATE_HZ } from '../../../../src/audio/pcm.ts';
import { sine } from '../../../audio/sounds.ts';

/** A syllable and the gap after it. */
const SYLLABLE_MS = 180;
const GAP_MS = 60;

const lengthsMs: Record<string, number> = {
  'hello-world': 1_400,
  'demo-congrats': 30_300,
  'vm-intro': 5_600,
  'pbx-invalid': 3_000,
  beep: 420,
};

/** A prompt by name, 8 kHz; an unknown one is silence of no length. */
export function prompt(name: string): Int16Array {
  const samples = new Int16Array(((lengthsMs[name] ?? 0) * RATE_HZ) / 1_000);
  if (name === 'beep') {
    sine({ hz: 1_000, levelDbfs: -9 }).fill(samples);
    return samples;
  }
  const period = ((SYLLABLE_MS + GAP_MS) * RATE_HZ) / 1_000;
  const voiced = (SYLLABLE_MS * RATE_HZ) / 1_000;
  const low = new Int16Array(voiced);
  sine({ hz: 180, levelDbfs: -16 }).fill(low);
  for (let at = 0; at < samples.length; at += period) {
    samples.set(low.subarray(0, Math.min(voiced, samples.length - at)), at);
  }
  return samples;
}
