// An utterance of the agent: segments (sentences) of PCM, their words, and how much of them was played.

import { copySamples, FRAME_SAMPLES, RATE_HZ, samplesToMs } from '../../audio/pcm.ts';
import type { WordTiming } from '../../speech/tts/tts.ts';
import { heardTextOf } from './heard-text.ts';

/** Audio of one segment: a minute. A sentence is a tenth of that. */
const SEGMENT_SAMPLES_MAX = 60 * RATE_HZ;
/** Samples below which little audio is left: synthesis of a few words takes less. */
const DRY_SAMPLES = 0.6 * RATE_HZ;
/** Time after the assumed end of its audio from which a missing mark counts as returned. */
const MARK_PATIENCE_MS = 1_500;
const MARKLESS_PATIENCE_MS = 300;
/** Samples within which a stopped utterance starts again from its beginning. */
const RESTART_SAMPLES = 20 * FRAME_SAMPLES;

/** Samples of a slab: half a second. */
export const SLAB_SAMPLES = 4_000;
/** Free slabs that are kept: 16 MB, the audio of 250 calls with speech. */
const FREE_MAX = 2_000;

export class Segment {
  readonly utterance: Utterance;
  /** Index within the utterance. */
  readonly index: number;
  words: readonly WordTiming[] = [];
  /** Whether no more audio will come. */
  complete = false;
  /** Whether the audio ended before its text. */
  failed = false;
  /** Number of samples from the start that the far end has played. */
  playedSamples = 0;
  /** Media time at which the last sample will have been played, once it was sent. */
  sentEndMs: number | undefined;
  /** Whether the far end reported that it played all of it. */
  acknowledged = false;
  #text: string;
  /** Slabs, and long pieces as they came. Each starts at its index, and ends where the next one starts. */
  #chunks: Int16Array[] = [];
  #starts: number[] = [];
  readonly #slabs: Int16Array[] = [];
  /** Number of samples in the last chunk, if that is a slab. */
  #inSlab = SLAB_SAMPLES;
  #length = 0;
  #firstLength = 0;

  constructor(utterance: Utterance, text: string) {
    this.utterance = utterance;
    this.index = utterance.segments.length;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** Adds text to this segment: the service speaks it without a break. */
  addText(text: string): void {
    this.#text = this.#text === '' ? text : `${this.#text} ${text}`;
  }

  /** Keeps the first `characters` of the text. The audio of the rest did not come; it is another segment's. */
  cutText(characters: number): void {
    this.#text = this.#text.slice(0, characters).trimEnd();
  }

  get samples(): number {
    return this.#length;
  }

  /** Whether that much audio followed the first piece, or all there is. */
  isAhead(ms: number): boolean {
    return this.complete || this.#length - this.#firstLength >= (ms * RATE_HZ) / 1_000;
  }

  /** Appends a piece, which may be stored. False if the limit is exceeded. */
  push(samples: Int16Array): boolean {
    if (samples.length >= SLAB_SAMPLES) return this.keep(samples);
    if (this.#length + samples.length > SEGMENT_SAMPLES_MAX) return false;
    if (this.#length === 0) this.#firstLength = samples.length;
    this.#copy(samples);
    return true;
  }

  /** Appends a piece without a copy; its owner must not change it. Result as in `push`. */
  keep(samples: Int16Array): boolean {
    if (this.#length + samples.length > SEGMENT_SAMPLES_MAX) return false;
    if (this.#length === 0) this.#firstLength = samples.length;
    this.#starts.push(this.#length);
    this.#chunks.push(samples);
    this.#length += samples.length;
    this.#inSlab = SLAB_SAMPLES;
    return true;
  }

  /** Frees audio that is not needed any more: it reads as silence from here on. */
  release(): void {
    if (this.#slabs.length === 0) return;
    for (const slab of this.#slabs.splice(0)) returnSlab(slab);
    this.#chunks = [];
    this.#starts = [];
    this.#inSlab = SLAB_SAMPLES;
  }

  #copy(samples: Int16Array): void {
    for (let done = 0; done < samples.length; ) {
      if (this.#inSlab === SLAB_SAMPLES) this.#addSlab();
      const slab = this.#chunks.at(-1) as Int16Array;
      const count = Math.min(samples.length - done, SLAB_SAMPLES - this.#inSlab);
      copySamples(samples, done, slab, this.#inSlab, count);
      done += count;
      this.#inSlab += count;
      this.#length += count;
    }
  }

  #addSlab(): void {
    const slab = takeSlab();
    this.#slabs.push(slab);
    this.#starts.push(this.#length);
    this.#chunks.push(slab);
    this.#inSlab = 0;
  }

  /** Copies samples from `at` on into `out` and pads with silence; returns their number. */
  read(at: number, out: Int16Array): number {
    let done = 0;
    let chunk = this.#chunkAt(at);
    while (done < out.length && chunk < this.#chunks.length) {
      const samples = this.#chunks[chunk] as Int16Array;
      const from = at + done - (this.#starts[chunk] as number);
      const there = (this.#starts[chunk + 1] ?? this.#length) - at - done;
      const count = Math.min(there, out.length - done);
      if (count <= 0) break;
      copySamples(samples, from, out, done, count);
      done += count;
      chunk++;
    }
    if (done < out.length) out.fill(0, done);
    return done;
  }

  /** Sample at which the word at `sample` begins; `sample` itself if that is unknown. */
  wordStart(sample: number): number {
    const atMs = samplesToMs(sample);
    for (const { startMs, endMs } of this.words) {
      if (startMs <= atMs && atMs < endMs) return Math.round((startMs * RATE_HZ) / 1_000);
    }
    return sample;
  }

  /** The words that were heard, as written in the text. */
  heardText(): string {
    const whole = this.complete && !this.failed && this.#length > 0;
    if (whole && this.playedSamples >= this.#length) return this.#text;
    const knownMs = samplesToMs(this.#length);
    return heardTextOf({
      text: this.#text,
      words: this.words,
      heardMs: samplesToMs(this.playedSamples),
      totalMs: this.complete && !this.failed ? knownMs : undefined,
      knownMs,
    });
  }

  /** The rest of the text after `heardText`; empty if the words were not heard as they are written. */
  unheardText(): string {
    const heard = this.heardText();
    return this.#text.startsWith(heard) ? this.#text.slice(heard.length).trim() : '';
  }

  #chunkAt(sample: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= sample) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export class Utterance {
  readonly id: number;
  /** Whether the caller may interrupt it; false for good once the call is about to end with it. */
  interruptible: boolean;
  readonly segments: Segment[] = [];
  /** Whether no more segments will come. */
  ended = false;
  cancelled = false;
  /** Monotonic milliseconds. */
  firstTextAt: number | undefined;
  firstAudioAt: number | undefined;
  /** Time for which its beginning is gathered beyond its first audio, unless its audio is far enough ahead before. */
  cushionMs = 0;
  /** Media time of the first frame on the wire. */
  startMs: number | undefined;
  /** Media time at which the first audio had arrived. */
  #gatheredFromMs: number | undefined;

  constructor(id: number, interruptible: boolean) {
    this.id = id;
    this.interruptible = interruptible;
  }

  /** Whether it may begin with the audio of its first segment: later audio may be late. */
  isGathered(first: Segment, nowMs: number): boolean {
    if (this.cushionMs === 0 || first.isAhead(this.cushionMs)) return true;
    this.#gatheredFromMs ??= nowMs;
    return nowMs - this.#gatheredFromMs >= this.cushionMs;
  }

  /** Whether more audio will come, or is to be sent. */
  get isUnsent(): boolean {
    if (this.cancelled) return false;
    return !this.ended || this.segments.some(({ sentEndMs }) => sentEndMs === undefined);
  }

  /** Whether all of it was sent, and its playing time has passed. */
  played(nowMs: number): boolean {
    if (!this.ended) return false;
    return this.segments.every((each) => each.sentEndMs !== undefined && each.sentEndMs <= nowMs);
  }

  /** Whether all of it was played. With marks the far end has reported that, or will not report any more. */
  isDone(nowMs: number, hasMarks: boolean): boolean {
    if (!this.played(nowMs)) return false;
    const patienceMs = hasMarks ? MARK_PATIENCE_MS : MARKLESS_PATIENCE_MS;
    const last = this.segments.findLast((segment) => segment.samples > 0);
    if (last?.sentEndMs === undefined || last.acknowledged) return true;
    return nowMs >= last.sentEndMs + patienceMs;
  }

  /** Delays audio without a report of the far end, which plays it later than assumed. */
  delay(later: (atMs: number) => number): void {
    for (const segment of this.segments) {
      if (segment.sentEndMs === undefined || segment.acknowledged) continue;
      segment.sentEndMs = later(segment.sentEndMs);
    }
  }

  /** The far end's buffer is cleared: unplayed audio is sent again, played audio needs no report. */
  takeBack(nowMs: number): void {
    for (const segment of this.segments) {
      if (segment.sentEndMs === undefined) continue;
      if (segment.sentEndMs > nowMs) segment.sentEndMs = undefined;
      else segment.acknowledged = true;
    }
  }

  heardText(): string {
    return this.segments
      .map((segment) => segment.heardText())
      .filter((text) => text !== '')
      .join(' ');
  }

  /** The words that were to be said, as far as they were known, and were not heard. */
  unheardText(): string {
    return this.segments
      .map((segment) => segment.unheardText())
      .filter((text) => text !== '')
      .join(' ');
  }
}

/** Whether the caller will have heard all audio of the utterance within 600 ms, and no sentence of it is still to be
 *  synthesised. */
export function isDry({ segments }: Utterance): boolean {
  if (segments.some(({ samples, complete }) => samples === 0 && !complete)) return false;
  const unplayed = segments.reduce((sum, each) => sum + each.samples - each.playedSamples, 0);
  return unplayed <= DRY_SAMPLES;
}

/** Position where an utterance that was cut at `sample` of a segment continues: at the start of that word, or of an
 *  utterance that had hardly started. */
export function restartOf(
  utterance: Utterance | undefined,
  segment: number,
  sample: number,
): { segment: number; sample: number } {
  if (utterance === undefined) return { segment, sample };
  const { segments } = utterance;
  const played = segments.reduce((sum, { playedSamples }) => sum + playedSamples, 0);
  if (played < RESTART_SAMPLES) return { segment: 0, sample: 0 };
  return { segment, sample: segments[segment]?.wordStart(sample) ?? sample };
}

/** Number of unsent samples of these utterances from segment `from` of the first one on; Infinity while that is
 *  unknown. */
export function unsentSamples(utterances: readonly Utterance[], from: number): number {
  let samples = 0;
  for (const [at, { ended, segments }] of utterances.entries()) {
    if (!ended || segments.some(({ complete }) => !complete)) return Number.POSITIVE_INFINITY;
    for (const segment of segments) if (at > 0 || segment.index >= from) samples += segment.samples;
  }
  return samples;
}

/** The result of an utterance. */
export interface UtteranceResult {
  utterance: Utterance;
  heardText: string;
  interrupted: boolean;
  /** Media time. */
  endMs: number;
}

export function resultOf(utterance: Utterance, nowMs: number): UtteranceResult {
  const interrupted = !utterance.played(nowMs);
  const last = utterance.segments.at(-1)?.sentEndMs;
  return {
    utterance,
    // A clear arrives after the audio sent before it: by then the far end has played up to the playhead.
    heardText: utterance.heardText(),
    interrupted,
    // Audio that was sent ahead and taken back starts after it has ended.
    endMs: Math.max(utterance.startMs ?? 0, interrupted ? nowMs : Math.min(nowMs, last ?? nowMs)),
  };
}

/** Name of the mark at the segment's end. `generation`: number of clears before it. */
export function markOf({ utterance, index }: Segment, generation: number): string {
  return `${generation}:${utterance.id}:${index}`;
}

/** The segment of a mark; undefined for one from before the last clear, or of an utterance that is over. */
export function segmentOfMark(
  name: string,
  queue: readonly Utterance[],
  generation: number,
): Segment | undefined {
  const [ofGeneration, id, index] = name.split(':').map(Number);
  if (ofGeneration !== generation) return undefined;
  return queue.find((each) => each.id === id)?.segments[index ?? -1];
}

/** A pool of buffers for synthesised audio, which arrives in hundreds of pieces per second and lives for seconds.
 *  Allocated piece by piece, it caused a full garbage collection every few seconds. */
const free: Int16Array[] = [];

/** A slab with arbitrary content. It belongs to the caller, who may return it. */
export function takeSlab(): Int16Array {
  return free.pop() ?? new Int16Array(SLAB_SAMPLES);
}

export function returnSlab(slab: Int16Array): void {
  if (free.length < FREE_MAX) free.push(slab);
}
