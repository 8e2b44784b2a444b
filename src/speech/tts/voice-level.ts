// Level of a service's voice in the telephone band, measured over all calls while it speaks, and the gain that brings
// it to the level of the embedded voices. While a voice is not yet known, the gain changes slowly.

import { softLimited } from '../../audio/soft-limiter.ts';
import { telephoneBand } from '../../audio/telephone-band.ts';
import { SPEECH_LEVEL } from './loudness-normalization.ts';

/** Blocks of speech after which a voice is known and no longer measured. */
const KNOWN_BLOCKS = 2_000;
/** Blocks of speech after which a gain is applied. */
const FIRST_BLOCKS = 30;
/** 10 ms at 8 kHz. */
const BLOCK_SAMPLES = 80;
/** Level of -45 dBFS, below which a block is a pause. */
const ACTIVE_LEVEL = 184;
const GAIN_MIN = 0.25;
const GAIN_MAX = 4;
/** Difference of half a decibel, below which the gain stays. */
const NEAR = 10 ** (0.5 / 20);
/** Fastest change of the gain: 6 dB in a second. */
const GROWTH_PER_SAMPLE = 2 ** (1 / 8_000);

/** Level of one voice, shared by all utterances of a process. */
export class VoiceLevel {
  #power = 0;
  #blocks = 0;
  #gain = 1;

  /** Current gain of the voice, at which a new utterance begins. */
  get gain(): number {
    return this.#gain;
  }

  get isKnown(): boolean {
    return this.#blocks >= KNOWN_BLOCKS;
  }

  /** Measures `band`: audio of the voice, filtered to the telephone band. */
  measure(band: Float64Array): void {
    for (let from = 0; from + BLOCK_SAMPLES <= band.length; from += BLOCK_SAMPLES) {
      let sum = 0;
      for (let i = from; i < from + BLOCK_SAMPLES; i++) sum += (band[i] as number) ** 2;
      const power = sum / BLOCK_SAMPLES;
      if (power < ACTIVE_LEVEL ** 2) continue;
      this.#power += power;
      this.#blocks += 1;
    }
    if (this.#blocks < FIRST_BLOCKS) return;
    const wanted = SPEECH_LEVEL / Math.sqrt(this.#power / this.#blocks);
    const isNear = wanted < NEAR && wanted > 1 / NEAR;
    this.#gain = isNear ? 1 : Math.min(GAIN_MAX, Math.max(GAIN_MIN, wanted));
  }
}

/** Applies the gain to the audio of one utterance, in order and in place. */
export function levelled(voice: VoiceLevel): (samples: Int16Array) => void {
  const filter = telephoneBand();
  let gain = voice.gain;
  return (samples) => {
    if (!voice.isKnown) {
      const band = Float64Array.from(samples);
      filter.process(band);
      voice.measure(band);
    }
    const target = voice.gain;
    if (gain === 1 && target === 1) return;
    for (let i = 0; i < samples.length; i++) {
      if (gain < target) gain = Math.min(target, gain * GROWTH_PER_SAMPLE);
      else if (gain > target) gain = Math.max(target, gain / GROWTH_PER_SAMPLE);
      samples[i] = softLimited((samples[i] as number) * gain);
    }
  };
}
