// Packet loss concealment: fills gaps in 8 kHz speech with what was said before, repeated by whole periods of its pitch and fading. It
// does not know why audio is missing; without any it makes silence. Nothing is delayed: where the appendix
// smooths the last samples before a gap, here the first ones in it are bent to meet them.
// Source: ITU-T G.711 appendix I (09/99), for its method, lengths and fading.

/** Periods of pitch: 200 to 67 Hz. */
const PITCH_MIN = 40;
const PITCH_MAX = 120;
/** A longer gap is made of up to so many periods, lest it buzzes. */
const PERIODS_MAX = 3;
/** What is compared with what lies a period before it: 20 ms. */
const MATCH_SAMPLES = 160;
/** Periods that are far apart in quality are looked for in every second sample, then near the best in each. */
const COARSE = 2;
/** Of what was heard: three of the longest periods, and a quarter for joining them. */
export const CONCEALMENT_SAMPLES = PERIODS_MAX * PITCH_MAX + PITCH_MAX / 4;
/** 10 ms: as long it is as loud as before; from then on a fifth less in each. */
const STEP_SAMPLES = 80;
const FADE_PER_SAMPLE = 0.2 / STEP_SAMPLES;
/** Audio that comes again is blended in over a quarter of a period, and this more for each 10 ms of the gap. */
const JOIN_SAMPLES_A_STEP = 32;
const JOIN_SAMPLES_MAX = 80;
/** What is cut off for longer is not continued, only ended without a click. */
const DYING_SAMPLES = 40;

/** After so much nothing is left of what was said. */
export const CONCEALED_SAMPLES_MAX = 6 * STEP_SAMPLES;

export class PacketLossConcealer {
  /** What was heard before the gap. */
  readonly #said = new Float64Array(CONCEALMENT_SAMPLES);
  /** Samples of the gap so far. */
  #lost = 0;
  #pitch = PITCH_MAX;
  /** The last so many periods are repeated; from the place after the last sample on. */
  #periods = 1;
  #at = 0;
  /** Of the pattern before the last change, and how many more samples have a part of it. */
  #atBefore = 0;
  #blending = 0;
  /** The step from the last sample that was heard to the first of the gap, which is bent away. */
  #step = 0;

  /** A gap begins. What was heard last ends before `at` of `ring`, in which samples lie round and round; it has
   *  CONCEALMENT_SAMPLES at least, and is copied. */
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

  /** Overwrites the first `count` samples of `pcm` with what is to be heard in their place. */
  conceal(pcm: Int16Array, count: number): void {
    for (let i = 0; i < count; i++) pcm[i] = this.#next();
  }

  /** Overwrites the first `count` samples of `pcm` with silence, as nobody knows what was there; a sound that was
   *  cut off dies away in the first of them. */
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

  /** Audio comes again, in `pcm` from `from` to `to`: the first of it is blended with what was concealed. */
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

  /** One period more, from the same place in the first of them. */
  #widen(): void {
    this.#periods++;
    this.#atBefore = this.#at;
    this.#at %= this.#pitch;
    this.#blending = this.#pitch >> 2;
  }

  #after(at: number, periods: number): number {
    return at + 1 === periods * this.#pitch ? 0 : at + 1;
  }

  /** Sample `at` of the last `periods` periods, whose last quarter goes over into what lies before their first. */
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

/** The period after which the last of `said` is most like itself. */
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

/** Correlation with what lies a period before, by that one's strength. */
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
