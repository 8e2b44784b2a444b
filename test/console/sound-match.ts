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
/** How far a piece may have moved within an utterance. */
const MOVED_MS_MAX = 500;

/** Both sounds at the same rate. `heard` may begin earlier or later; `original` must have been heard to its end. */
export function matchSound(original: Int16Array, heard: Int16Array, rateHz: number): SoundMatch {
  const samples = (ms: number): number => Math.round((ms * rateHz) / 1_000);
  const spoken = utterancesIn(original, samples);
  const counts = { loud: 0, matched: 0, gap: 0 };
  let from = 0;
  for (const { start, end } of spoken) {
    const probe = original.subarray(start, Math.min(end, start + samples(PROBE_MS)));
    const found = bestPlace(probe, heard, { from, to: heard.length - probe.length });
    let lag = found.at - start;
    /** Of the windows before that matched. */
    const lags: number[] = [];
    const gaps = new Gaps(original, heard, samples(FRAME_MS));
    for (let at = start; at < end; at += samples(HOP_MS)) {
      const window = original.subarray(at, Math.min(at + samples(WINDOW_MS), end));
      if (levelOf(window) >= LOUD && window.length > samples(HOP_MS)) {
        counts.loud += 1;
        const near = bestPlace(window, heard, around(at + lag, 2));
        const isNear = near.correlation >= CORRELATION_MIN;
        const place = isNear
          ? near
          : bestPlace(window, heard, around(at + lag, samples(MOVED_MS_MAX)));
        if (isNear || place.correlation >= MOVED_CORRELATION_MIN) {
          lag = place.at - at;
          for (const before of lags) counts.gap = Math.max(counts.gap, Math.abs(lag - before));
          lags.push(lag);
          if (lags.length > TRANSITION) lags.shift();
          counts.matched += 1;
        }
      }
      gaps.look(at, Math.min(at + samples(HOP_MS), end), lag);
    }
    counts.gap = Math.max(counts.gap, gaps.longest);
    if (found.correlation >= CORRELATION_MIN) from = Math.max(from, start + lag);
  }
  return {
    utterances: spoken.length,
    loudS: (counts.loud * HOP_MS) / 1_000,
    share: counts.loud === 0 ? 0 : counts.matched / counts.loud,
    gapMs: (counts.gap * 1_000) / rateHz,
  };
}

/** Root mean square. */
function levelOf(samples: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += (samples[i] as number) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

function utterancesIn(
  sound: Int16Array,
  samples: (ms: number) => number,
): { start: number; end: number }[] {
  const frame = samples(FRAME_MS * 2);
  const found: { start: number; end: number }[] = [];
  for (let at = 0; at + frame <= sound.length; at += frame) {
    if (levelOf(sound.subarray(at, at + frame)) < LOUD) continue;
    const last = found.at(-1);
    if (last !== undefined && at - last.end < samples(PAUSE_MS)) last.end = at + frame;
    else found.push({ start: at, end: at + frame });
  }
  return found.filter(({ start, end }) => end - start >= samples(UTTERANCE_MS_MIN));
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
  let best = { at: Math.max(0, from), correlation: 0 };
  for (let at = Math.max(0, from); at <= Math.min(to, sound.length - piece.length); at++) {
    let product = 0;
    let energy = 1;
    for (let i = 0; i < piece.length; i++) {
      const sample = sound[at + i] as number;
      product += (piece[i] as number) * sample;
      energy += sample * sample;
    }
    const correlation = product / (pieceLevel * Math.sqrt(energy));
    if (correlation > best.correlation) best = { at, correlation };
  }
  return best;
}

/** Runs of frames that are loud in the original and silent in what was heard. */
class Gaps {
  /** In samples. */
  longest = 0;
  readonly #original: Int16Array;
  readonly #heard: Int16Array;
  readonly #frame: number;
  #run = 0;

  constructor(original: Int16Array, heard: Int16Array, frame: number) {
    this.#original = original;
    this.#heard = heard;
    this.#frame = frame;
  }

  /** Looks at a piece of the original, heard `lag` samples later. */
  look(from: number, to: number, lag: number): void {
    for (let at = from; at < to; at += this.#frame) {
      const level = levelOf(this.#original.subarray(at, at + this.#frame));
      const start = Math.max(0, at + lag);
      const heard = levelOf(this.#heard.subarray(start, start + this.#frame));
      const isSilent = level >= LOUD && heard < level * SILENT_SHARE;
      this.#run = isSilent ? this.#run + this.#frame : 0;
      this.longest = Math.max(this.longest, this.#run);
    }
  }
}
