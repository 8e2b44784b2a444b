// Packet loss concealment: fills gaps in 8 kHz speech by repeating the last pitch periods, with a fade-out. The
// reason of a gap does not matter; without previous audio the result is silence. Nothing is delayed: where the
// appendix smooths the last samples before a gap, this code smooths the first samples in it.
// Source: ITU-T G.711 appendix I (09/99), for its method, lengths and fading.

/** Pitch periods in samples: 200 to 67 Hz. */
const PITCH_MIN = 40;
const PITCH_MAX = 120;
/** A longer gap repeats up to this many pitch periods; repeating one alone would buzz. */
const PERIODS_MAX = 3;
/** Length of the correlation window, 20 ms: it is compared with the samples one period earlier. */
const MATCH_SAMPLES = 160;
/** The pitch search compares every second period and sample first, then at each period near the best one. */
const COARSE = 2;
/** History in samples: three of the longest periods, and a quarter of one for the cross-fade. */
export const CONCEALMENT_SAMPLES = PERIODS_MAX * PITCH_MAX + PITCH_MAX / 4;
/** 10 ms. The first step has full loudness; each further step loses a fifth. */
const STEP_SAMPLES = 80;
const FADE_PER_SAMPLE = 0.2 / STEP_SAMPLES;
/** Cross-fade at the end of a gap: a quarter of a period, and this many samples more for each 10 ms of the gap. */
const JOIN_SAMPLES_A_STEP = 32;
const JOIN_SAMPLES_MAX = 80;
/** In `silence`: the interrupted sound is faded out over this many samples, so that no click is heard. */
const DYING_SAMPLES = 40;

/** Length of a gap after which the concealed audio has faded to silence. */
export const CONCEALED_SAMPLES_MAX = 6 * STEP_SAMPLES;

export class PacketLossConcealer {
  /** The samples before the gap. */
  readonly #said = new Float64Array(CONCEALMENT_SAMPLES);
  /** Samples of the gap so far. */
  #lost = 0;
  #pitch = PITCH_MAX;
  /** Number of pitch periods that are repeated, and the next position in them. */
  #periods = 1;
  #at = 0;
  /** Position in the pattern with one period less, and the samples left of the cross-fade from it. */
  #atBefore = 0;
  #blending = 0;
  /** The step from the last sample before the gap to the first of the gap; it is smoothed out. */
  #step = 0;

  /** A gap begins. The samples before it end at index `at` of the circular buffer `ring`, which holds at least
   *  CONCEALMENT_SAMPLES; they are copied. */
  begin(ring: Int16Array, at: number): void {
    const said = this.#said;
    let place = (at + ring.length - CONCEALMENT_SAMPLES) % ring.length;
    for (let i = 0; i < CONCEALMENT_SAMPLES; i++) {
      said[i] = ring[place] as number;
      place = place + 1 === ring.length ? 0 : place + 1;
    }
    this.#lost = 0;
    this.#pitch = pitchOf(said);
    this.#periods = 1;
    this.#at = 0;
    this.#blending = 0;
    const last = CONCEALMENT_SAMPLES - 1;
    this.#step = (said[last] as number) - (said[last - this.#pitch] as number);
  }

  /** Overwrites the first `count` samples of `pcm` with concealed audio. */
  conceal(pcm: Int16Array, count: number): void {
    for (let i = 0; i < count; i++) pcm[i] = this.#next();
  }

  /** Overwrites the first `count` samples of `pcm` with silence, for a gap whose content is unknown; a sound
   *  that the gap interrupts is faded out first. */
  silence(pcm: Int16Array, count: number): void {
    for (let i = 0; i < count; i++) {
      if (this.#lost < DYING_SAMPLES) {
        pcm[i] = Math.round((1 - this.#lost / DYING_SAMPLES) * this.#next());
      } else {
        pcm[i] = 0;
        this.#lost = CONCEALED_SAMPLES_MAX;
      }
    }
  }

  /** The gap is over: `pcm` from `from` to `to` is received audio, whose begin is cross-faded with the concealed
   *  audio. */
  end(pcm: Int16Array, from: number, to: number): void {
    if (this.#lost > 0) this.#join(pcm, from, to);
    this.#lost = 0;
  }

  #join(pcm: Int16Array, from: number, to: number): void {
    const steps = Math.ceil(this.#lost / STEP_SAMPLES);
    const wanted = (this.#pitch >> 2) + steps * JOIN_SAMPLES_A_STEP;
    const count = Math.min(to - from, wanted, JOIN_SAMPLES_MAX);
    for (let i = 0; i < count; i++) {
      const heard = (i + 1) / (count + 1);
      pcm[from + i] = Math.round(heard * (pcm[from + i] as number) + (1 - heard) * this.#next());
    }
  }

  #next(): number {
    const lost = this.#lost++;
    if (lost >= CONCEALED_SAMPLES_MAX) return 0;
    if (lost > 0 && lost % STEP_SAMPLES === 0 && this.#periods < PERIODS_MAX) this.#widen();
    const quarter = this.#pitch >> 2;
    let sample = this.#repeated(this.#periods, this.#at);
    this.#at = this.#after(this.#at, this.#periods);
    if (this.#blending > 0) {
      const before = this.#repeated(this.#periods - 1, this.#atBefore);
      sample += ((before - sample) * this.#blending) / (quarter + 1);
      this.#atBefore = this.#after(this.#atBefore, this.#periods - 1);
      this.#blending--;
    }
    if (lost < quarter) sample += this.#step * (1 - lost / quarter);
    const gain = 1 - Math.max(0, lost - STEP_SAMPLES) * FADE_PER_SAMPLE;
    return Math.max(-32_768, Math.min(32_767, Math.round(gain * sample)));
  }

  /** Adds one pitch period; the position stays the same within the first of them. */
  #widen(): void {
    this.#periods++;
    this.#atBefore = this.#at;
    this.#at %= this.#pitch;
    this.#blending = this.#pitch >> 2;
  }

  #after(at: number, periods: number): number {
    return at + 1 === periods * this.#pitch ? 0 : at + 1;
  }

  /** Sample `at` of the last `periods` periods. The last quarter period is cross-faded with the samples before
   *  the first period, so that the repetition has no step. */
  #repeated(periods: number, at: number): number {
    const said = this.#said;
    const length = periods * this.#pitch;
    const place = CONCEALMENT_SAMPLES - length + at;
    const sample = said[place] as number;
    const quarter = this.#pitch >> 2;
    const late = at - (length - quarter);
    if (late < 0) return sample;
    return sample + (((said[place - length] as number) - sample) * (late + 1)) / (quarter + 1);
  }
}

/** The pitch period in samples: the lag at which the end of `said` correlates best with itself. */
function pitchOf(said: Float64Array): number {
  let best = PITCH_MAX;
  let bestLikeness = Number.NEGATIVE_INFINITY;
  for (let pitch = PITCH_MIN; pitch <= PITCH_MAX; pitch += COARSE) {
    const likeness = likenessAt(said, pitch, COARSE);
    if (likeness <= bestLikeness) continue;
    bestLikeness = likeness;
    best = pitch;
  }
  const coarse = best;
  bestLikeness = Number.NEGATIVE_INFINITY;
  for (let pitch = coarse - 1; pitch <= coarse + 1; pitch++) {
    if (pitch < PITCH_MIN || pitch > PITCH_MAX) continue;
    const likeness = likenessAt(said, pitch, 1);
    if (likeness <= bestLikeness) continue;
    bestLikeness = likeness;
    best = pitch;
  }
  return best;
}

/** Correlation with the samples one period earlier, divided by the magnitude of those. */
function likenessAt(said: Float64Array, pitch: number, step: number): number {
  let product = 0;
  let energy = 1;
  for (let i = CONCEALMENT_SAMPLES - MATCH_SAMPLES; i < CONCEALMENT_SAMPLES; i += step) {
    const before = said[i - pitch] as number;
    product += (said[i] as number) * before;
    energy += before * before;
  }
  return product / Math.sqrt(energy);
}
