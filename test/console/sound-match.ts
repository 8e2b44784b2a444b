// Whether a sound came out as it went in: the utterances of the original are searched in what was heard, in their order, and
// compared in windows of 100 ms by normalised cross-correlation. Level and delay do not count; silence, other words, lost
// pieces and gaps do.

export interface SoundMatch {
  /** Utterances of the original, and seconds in which they are loud. */
  utterances: number;
  loudS: number;
  /** Share of their loud windows that were heard, 0 to 1. */
  share: number;
  /** Longest time within an utterance that was silent, inserted or left out. */
  gapMs: number;
}

const WINDOW_MS = 100;
const HOP_MS = 50;
const FRAME_MS = 5;
/** Pause that separates two utterances, and the shortest utterance: less is a click. */
const PAUSE_MS = 250;
const UTTERANCE_MS_MIN = 150;
/** Root mean square of 16-bit samples. */
const LOUD = 250;
/** A frame is silent that has less than this share of the original's level in it. */
const SILENT_SHARE = 0.1;
const CORRELATION_MIN = 0.7;
/** Of a window that has moved: voices repeat themselves, so that half of one matches a period away. */
const MOVED_CORRELATION_MIN = 0.9;
/** What the beginning of an utterance is searched by. */
const PROBE_MS = 200;
/** Windows across a gap match nowhere: those on both sides of them are compared. */
const TRANSITION = 4;
/** How far an utterance may have moved against the one before, and a piece within an utterance. */
const SHIFT_MS_MAX = 3_000;
const MOVED_MS_MAX = 500;

/** Both sounds at the same rate. `heard` may begin earlier or later; `original` must have been heard to its end. Its first
 *  utterance is searched before `latest`, a sample of `heard`. */
export function matchSound(
  original: Int16Array,
  heard: Int16Array,
  rateHz: number,
  latest = heard.length,
): SoundMatch {
  const spoken = utterancesIn(original, rateHz);
  const heardAs: HeardUtterance[] = [];
  let before: HeardUtterance | undefined;
  for (const span of spoken) {
    const range =
      before === undefined
        ? { from: 0, to: latest }
        : around(span.start + before.lag, (SHIFT_MS_MAX * rateHz) / 1_000);
    const utterance = new HeardUtterance({ original, heard, rateHz, span, range });
    heardAs.push(utterance);
    if (utterance.matched > 0) before = utterance;
  }
  const sum = (of: (utterance: HeardUtterance) => number): number =>
    heardAs.reduce((total, utterance) => total + of(utterance), 0);
  const loud = sum((utterance) => utterance.loud);
  return {
    utterances: spoken.length,
    loudS: (loud * HOP_MS) / 1_000,
    share: loud === 0 ? 0 : sum(({ matched }) => matched) / loud,
    gapMs: (Math.max(0, ...heardAs.map(({ gap }) => gap)) * 1_000) / rateHz,
  };
}

interface Span {
  start: number;
  end: number;
}

/** One utterance of the original, searched in a part of what was heard. */
class HeardUtterance {
  /** Windows. */
  loud = 0;
  matched = 0;
  /** The longest, in samples. */
  gap = 0;
  /** How many samples later it was heard. */
  lag: number;
  readonly #original: Int16Array;
  readonly #heard: Int16Array;
  readonly #rateHz: number;
  readonly #span: Span;
  /** Of the last windows that matched. */
  readonly #lags: number[] = [];
  #silent = 0;

  constructor(of: {
    original: Int16Array;
    heard: Int16Array;
    rateHz: number;
    span: Span;
    range: { from: number; to: number };
  }) {
    this.#original = of.original;
    this.#heard = of.heard;
    this.#rateHz = of.rateHz;
    this.#span = of.span;
    const { start, end } = of.span;
    const probe = of.original.subarray(start, Math.min(end, start + this.#samples(PROBE_MS)));
    this.lag = bestPlace(probe, of.heard, of.range).at - start;
    for (let at = start; at < end; at += this.#samples(HOP_MS)) this.#look(at);
  }

  #samples(ms: number): number {
    return Math.round((ms * this.#rateHz) / 1_000);
  }

  #look(at: number): void {
    const { end } = this.#span;
    const window = this.#original.subarray(at, Math.min(at + this.#samples(WINDOW_MS), end));
    if (window.length > this.#samples(HOP_MS) && levelOf(window) >= LOUD) {
      this.loud += 1;
      const lag = this.#lagOf(window, at);
      if (lag !== undefined) this.#matches(lag);
    }
    this.#lookForSilence(at, Math.min(at + this.#samples(HOP_MS), end));
  }

  /** Undefined: it was not heard. */
  #lagOf(window: Int16Array, at: number): number | undefined {
    const near = bestPlace(window, this.#heard, around(at + this.lag, 2));
    if (near.correlation >= CORRELATION_MIN) return near.at - at;
    const moved = this.#samples(MOVED_MS_MAX);
    const far = bestPlace(window, this.#heard, around(at + this.lag, moved));
    return far.correlation >= MOVED_CORRELATION_MIN ? far.at - at : undefined;
  }

  #matches(lag: number): void {
    this.matched += 1;
    this.lag = lag;
    for (const before of this.#lags) this.gap = Math.max(this.gap, Math.abs(lag - before));
    this.#lags.push(lag);
    if (this.#lags.length > TRANSITION) this.#lags.shift();
  }

  /** Frames that are loud in the original and silent in what was heard. */
  #lookForSilence(from: number, to: number): void {
    const frame = this.#samples(FRAME_MS);
    for (let at = from; at < to; at += frame) {
      const level = levelOf(this.#original.subarray(at, at + frame));
      const start = Math.max(0, at + this.lag);
      const heard = levelOf(this.#heard.subarray(start, start + frame));
      const isSilent = level >= LOUD && heard < level * SILENT_SHARE;
      this.#silent = isSilent ? this.#silent + frame : 0;
      this.gap = Math.max(this.gap, this.#silent);
    }
  }
}

/** Root mean square. */
function levelOf(samples: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += (samples[i] as number) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

function utterancesIn(sound: Int16Array, rateHz: number): Span[] {
  const frame = (2 * FRAME_MS * rateHz) / 1_000;
  const pause = (PAUSE_MS * rateHz) / 1_000;
  const found: Span[] = [];
  for (let at = 0; at + frame <= sound.length; at += frame) {
    if (levelOf(sound.subarray(at, at + frame)) < LOUD) continue;
    const last = found.at(-1);
    if (last !== undefined && at - last.end < pause) last.end = at + frame;
    else found.push({ start: at, end: at + frame });
  }
  return found.filter(({ start, end }) => end - start >= (UTTERANCE_MS_MIN * rateHz) / 1_000);
}

function around(at: number, distance: number): { from: number; to: number } {
  return { from: at - distance, to: at + distance };
}

/** Where `piece` is most alike in `sound`, and how much: 1 is the same at another level. */
function bestPlace(
  piece: Int16Array,
  sound: Int16Array,
  { from, to }: { from: number; to: number },
): { at: number; correlation: number } {
  const pieceLevel = levelOf(piece) * Math.sqrt(piece.length);
  const first = Math.max(0, from);
  let best = { at: first, correlation: 0 };
  let energy =
    (levelOf(sound.subarray(first, first + piece.length)) * Math.sqrt(piece.length)) ** 2;
  for (let at = first; at <= Math.min(to, sound.length - piece.length); at++) {
    let product = 0;
    for (let i = 0; i < piece.length; i++) {
      product += (piece[i] as number) * (sound[at + i] as number);
    }
    const correlation = product / (pieceLevel * Math.sqrt(energy + 1));
    energy += (sound[at + piece.length] ?? 0) ** 2 - (sound[at] as number) ** 2;
    if (correlation > best.correlation) best = { at, correlation };
  }
  return best;
}
