// DTMF detection in 8 kHz audio (Goertzel filters). pipeline/receive/in-band-dtmf decides whether the provider's
// own digit events count instead; tone-generator makes the tones.
// Source: ITU-T Q.23 (frequencies), Q.24 (what must be detected, and what must not). The limits of a block are
// Asterisk's, proven on real lines; in addition the frequency of each tone is measured.

import { RATE_HZ } from '../pcm.ts';
import { DTMF_DIGITS, DTMF_HIGH_HZ, DTMF_LOW_HZ } from './dtmf-frequencies.ts';
import { GoertzelBank, NO_TONE } from './goertzel.ts';

/** 12.75 ms: narrow enough to separate the rows, and any tone of 40 ms contains two whole blocks. */
const BLOCK_SAMPLES = 102;
/** Lowest power of each tone: that of a sine of -45 dBFS (-42 dBm0). */
const POWER_MIN = 8e7;
/** Twist limits: the low tone may be up to 8 dB stronger (long lines attenuate high frequencies), the high tone
 *  up to 4 dB. Voices exceed them. */
const LOW_OVER_HIGH_MAX = 10 ** 0.8;
const HIGH_OVER_LOW_MAX = 10 ** 0.4;
/** Least share of the two tones in the energy of each of two blocks, corrected for their frequency offset. */
const SHARE_MIN = 0.82;
/** The same without the correction: what is left of it if both tones have the largest allowed offset. */
const RAW_SHARE_MIN = 0.6;
/** Largest frequency offset of a tone. Q.24: up to 1.5 % + 2 Hz must be accepted, 3.5 % must be rejected. The
 *  other tone leaks into the measurement and moves it by up to 4 Hz. */
const OFF_MAX = 0.022;
/** Blocks with a key before it is reported, and blocks without it before it counts as released. */
const HITS_MIN = 2;
const MISSES_MIN = 3;

/** Factor between the filters' power and the block's energy when a block holds the tones alone. */
const POWER_OF_ENERGY = BLOCK_SAMPLES / 2;
/** A block with less energy has no key. */
const ENERGY_MIN = (2 * POWER_MIN) / POWER_OF_ENERGY;

const NO_KEY = -1;

export class DtmfDetector {
  readonly #onKey: (key: string) => void;
  readonly #block = new Float64Array(BLOCK_SAMPLES);
  #filled = 0;
  readonly #lows = new GoertzelBank(DTMF_LOW_HZ, { rateHz: RATE_HZ, blockSamples: BLOCK_SAMPLES });
  readonly #highs = new GoertzelBank(DTMF_HIGH_HZ, {
    rateHz: RATE_HZ,
    blockSamples: BLOCK_SAMPLES,
  });
  /** Energy of this block and of the one before. */
  #energy = 0;
  #energyBefore = 0;
  /** The key of the last block, as its index in DTMF_KEYS, and how many blocks in a row had it. */
  #seen = NO_KEY;
  #hits = 0;
  /** The key that is pressed, and how many blocks in a row were without it. */
  #held = NO_KEY;
  #misses = 0;

  /** `onKey` is called once per key (0-9 * # A-D), within `push`, 25 to 40 ms after the tone began. */
  constructor(onKey: (key: string) => void) {
    this.#onKey = onKey;
  }

  /** The next samples (borrowed), any number. */
  push(pcm: Int16Array): void {
    const block = this.#block;
    for (let at = 0; at < pcm.length; ) {
      const count = Math.min(BLOCK_SAMPLES - this.#filled, pcm.length - at);
      for (let i = 0; i < count; i++) block[this.#filled + i] = pcm[at + i] as number;
      at += count;
      this.#filled += count;
      if (this.#filled < BLOCK_SAMPLES) return;
      this.#filled = 0;
      this.#follow(this.#keyOfBlock());
    }
  }

  /** A gap in the audio: the next samples belong to another sound. */
  reset(): void {
    this.#filled = 0;
    this.#seen = NO_KEY;
    this.#held = NO_KEY;
  }

  #follow(key: number): void {
    this.#hits = key === this.#seen ? this.#hits + 1 : 1;
    this.#seen = key;
    this.#misses = key === this.#held ? 0 : this.#misses + 1;
    if (this.#misses >= MISSES_MIN) this.#held = NO_KEY;
    if (key === NO_KEY || key === this.#held || this.#hits < HITS_MIN || !this.#isTrue()) return;
    this.#held = key;
    this.#misses = 0;
    this.#onKey(DTMF_DIGITS.charAt(key));
  }

  /** The key whose tones the block has, or NO_KEY. */
  #keyOfBlock(): number {
    const block = this.#block;
    let energy = 0;
    for (let i = 0; i < BLOCK_SAMPLES; i++) energy += (block[i] as number) ** 2;
    this.#energyBefore = this.#energy;
    this.#energy = energy;
    if (energy < ENERGY_MIN) return NO_KEY;
    const row = this.#lows.strongest(block);
    if (row === NO_TONE) return NO_KEY;
    const column = this.#highs.strongest(block);
    if (column === NO_TONE) return NO_KEY;
    const low = this.#lows.power;
    const high = this.#highs.power;
    if (low < POWER_MIN || low > high * LOW_OVER_HIGH_MAX) return NO_KEY;
    if (high < POWER_MIN || high > low * HIGH_OVER_LOW_MAX) return NO_KEY;
    if (low + high < RAW_SHARE_MIN * POWER_OF_ENERGY * energy) return NO_KEY;
    return row * DTMF_HIGH_HZ.length + column;
  }

  /** Whether the tones of the last two blocks have the key's frequencies, and nothing else sounds. */
  #isTrue(): boolean {
    const [lows, highs] = [this.#lows, this.#highs];
    const lowOff = lows.offHz();
    const highOff = highs.offHz();
    if (Math.abs(lowOff) > OFF_MAX * lows.hz || Math.abs(highOff) > OFF_MAX * highs.hz)
      return false;
    const lowHeard = lows.heard(lowOff);
    const highHeard = highs.heard(highOff);
    const power = lows.power / lowHeard + highs.power / highHeard;
    const before = lows.powerBefore / lowHeard + highs.powerBefore / highHeard;
    const needed = SHARE_MIN * POWER_OF_ENERGY;
    return power >= needed * this.#energy && before >= needed * this.#energyBefore;
  }
}
