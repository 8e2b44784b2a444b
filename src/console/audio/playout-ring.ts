// Adaptive jitter buffer of the agent's audio: a ring that plays after a short delay, which grows after an underrun and
// shrinks again without one. Marks are bound to samples. Pure: the worklet calls it for every quantum.

/** Longest audio in the ring: more than the gateway sends ahead. The oldest is dropped beyond it. */
const RING_MS = 4_000;
const FIRST_MS = 60;
const DELAY_MS_MIN = 40;
const DELAY_MS_MAX = 300;
const UNDERRUN_MS = 20;
const RELIEF_MS = 10;
/** Time without an underrun after which the delay becomes shorter. */
const CLEAN_MS = 10_000;
/** Marks that wait: an utterance has a handful. */
const MARKS_MAX = 256;

export interface PlayedMark {
  name: string;
  atFrame: number;
}

export class PlayoutRing {
  /** Samples that were played, without silence. */
  played = 0;
  underruns = 0;
  readonly #rate: number;
  readonly #ring: Float32Array;
  /** Positions in samples; the index in the ring is the rest of the division by its length. */
  #read = 0;
  #written = 0;
  #isPlaying = false;
  /** Samples that are there before playing begins. */
  #delaySamples: number;
  #waited = 0;
  #clean = 0;
  #marks: { name: string; at: number }[] = [];
  /** Position of the last mark. */
  #markedAt = 0;

  constructor(rate: number) {
    this.#rate = rate;
    this.#ring = new Float32Array(this.#samples(RING_MS));
    this.#delaySamples = this.#samples(FIRST_MS);
  }

  /** Samples that wait. */
  get length(): number {
    return this.#written - this.#read;
  }

  get delayMs(): number {
    return (this.#delaySamples / this.#rate) * 1_000;
  }

  /** Adds audio behind what waits; `pcm` is borrowed. */
  write(pcm: Int16Array): void {
    const ring = this.#ring;
    const size = ring.length;
    for (let i = 0; i < pcm.length; i++) {
      ring[(this.#written + i) % size] = (pcm[i] as number) / 32_768;
    }
    this.#written += pcm.length;
    this.#read = Math.max(this.#read, this.#written - size);
  }

  /** Marks the end of what was written so far. */
  mark(name: string): void {
    this.#markedAt = this.#written;
    this.#marks.push({ name, at: this.#written });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** Drops what waits, and its marks. */
  clear(): void {
    this.#read = this.#written;
    this.#marks = [];
    this.#markedAt = this.#written;
    this.#isPlaying = false;
    this.#waited = 0;
  }

  /** Fills a quantum, with silence where there is no audio. Returns how many samples were played. */
  play(output: Float32Array): number {
    if (!this.#isPlaying) this.#begin(output.length);
    const count = this.#isPlaying ? Math.min(output.length, this.length) : 0;
    const ring = this.#ring;
    for (let i = 0; i < count; i++) output[i] = ring[(this.#read + i) % ring.length] as number;
    output.fill(0, count);
    this.#read += count;
    this.played += count;
    if (this.#isPlaying) this.#adapt(count, output.length);
    return count;
  }

  /** The marks whose audio was played since the last call, in order. */
  reached(): readonly PlayedMark[] {
    const [first] = this.#marks;
    if (first === undefined || first.at > this.#read) return NONE;
    const reached: PlayedMark[] = [];
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#read) {
      const { name, at } = this.#marks.shift() as { name: string; at: number };
      reached.push({ name, atFrame: this.played - (this.#read - at) });
    }
    return reached;
  }

  /** Begins when there is enough, or when nothing more comes: the end of an utterance may be short. */
  #begin(quantum: number): void {
    if (this.length === 0) return;
    this.#waited += quantum;
    this.#isPlaying = this.length >= this.#delaySamples || this.#waited >= this.#delaySamples;
    if (this.#isPlaying) this.#waited = 0;
  }

  #adapt(count: number, quantum: number): void {
    this.#clean += quantum;
    if (count === quantum) {
      if (this.#clean < this.#samples(CLEAN_MS)) return;
      this.#clean = 0;
      this.#delaySamples = Math.max(
        this.#samples(DELAY_MS_MIN),
        this.#delaySamples - this.#samples(RELIEF_MS),
      );
      return;
    }
    this.#isPlaying = false;
    // A mark ends what is said: behind it the ring runs empty as it should.
    if (this.#markedAt === this.#written) return;
    this.underruns += 1;
    this.#clean = 0;
    this.#delaySamples = Math.min(
      this.#samples(DELAY_MS_MAX),
      this.#delaySamples + this.#samples(UNDERRUN_MS),
    );
  }

  #samples(ms: number): number {
    return (this.#rate * ms) / 1_000;
  }
}

const NONE: readonly PlayedMark[] = [];
