// Playout, the only owner of outgoing audio: a queue of utterances, sent a little ahead of real time, with a mark per
// segment, taken back on interruption. Times are media time.

import { FRAME_MS, FRAME_SAMPLES, samplesToMs } from '../../audio/pcm.ts';
import { framesOut, lateSeconds, playoutGapSeconds, underruns } from '../../metrics/metrics.ts';
import type { Filler } from './filler.ts';
import type { FrameBatch } from './frame-batch.ts';
import type { FrameWriter } from './frame-writer.ts';
import { Interjection } from './interjection.ts';
import { type FrameFacts, Playhead, type PlayheadPosition } from './playhead.ts';
import type { PlayoutListener, PlayoutOptions } from './playout-options.ts';
import { SendAhead } from './send-ahead.ts';
import {
  markOf,
  restartOf,
  resultOf,
  type Segment,
  segmentOfMark,
  type Utterance,
  unsentSamples,
} from './utterance.ts';

/** Queued utterances. A call has two or three. */
const QUEUE_MAX = 64;
/** Bytes in the socket from which sending pauses: about 30 frames of the provider with the largest messages. */
const BUFFERED_BYTES_MAX = 16_384;
/** Fade-out of an interrupted word: long enough to avoid a click, short enough to sound like silence. */
const FADE_FRAMES = 3;
const DUCKED = 0.25; // About 12 dB down.
/** Samples that are gathered after an underrun. */
const REBUFFER_SAMPLES = 5 * FRAME_SAMPLES;
const SLACK_MS = FRAME_MS / 2; // The far end has a buffer: ticks this late do not move the playing time.
const LATE_MS = 2 * FRAME_MS; // The far end's tick, and the transit time.
/** Largest lead of a pause at the next tick: speech would wait behind it. */
const PAUSE_LEAD_MS = FRAME_MS;

// Shared by all calls: written and kept (`#write`) before another call sends.
const frame = new Int16Array(FRAME_SAMPLES);
const facts: FrameFacts = { segment: undefined, at: 0, playMs: 0, fromGain: 1, toGain: 1 };

export class Playout {
  readonly #writer: FrameWriter;
  readonly #wire: FrameBatch;
  readonly #listener: PlayoutListener;
  readonly #marks: boolean;
  readonly #pause: Filler;
  readonly #lead: SendAhead;
  readonly #sent: Playhead;
  readonly #queue: Utterance[] = [];
  /** The interjection, which is not in the queue. */
  readonly aside: Interjection;
  /** Position of the next sample to send. */
  #atUtterance = 0;
  #atSegment = 0;
  #atSample = 0;
  /** Media time at which the far end will have played everything sent, and all speech in it. */
  #endMs = 0;
  #speechEndMs = 0;
  #generation = 1;
  #held = false;
  #suspended = false;
  #ducked = false;
  #starved = false;
  /** Whether more audio was ready, and is sent later. */
  #hasMore = false;

  constructor(options: PlayoutOptions) {
    this.#writer = options.writer;
    this.#wire = options.wire;
    this.#listener = options.listener;
    this.aside = new Interjection(options.listener);
    this.#marks = options.marks;
    this.#pause = options.pause;
    this.#lead = new SendAhead(options.lead);
    this.#sent = new Playhead({ leadMsMax: this.#lead.maxMs, sink: options.onPlayed });
  }

  /** Whether ticks may be longer than a frame. */
  get isStepped(): boolean {
    return this.#lead.isStepped;
  }

  get empty(): boolean {
    return this.#queue.length === 0 && !this.aside.isPending;
  }

  get full(): boolean {
    return this.#queue.length >= QUEUE_MAX;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Whether there is speech that is not sent, or not synthesised yet. */
  get owesSpeech(): boolean {
    return this.#queue.some((utterance) => utterance.isUnsent);
  }

  /** Media time from which the far end plays no speech, as far as was sent. */
  get silentMs(): number {
    return this.#speechEndMs;
  }

  /** The utterance that is being played, or will be next; undefined if all were played. */
  current(nowMs: number): Utterance | undefined {
    return this.#queue.find((utterance) => !utterance.cancelled && !utterance.played(nowMs));
  }

  /** Milliseconds until everything queued is played; Infinity while that is unknown. */
  remainingMs(nowMs: number): number {
    const samples = unsentSamples(this.#queue.slice(this.#atUtterance), this.#atSegment);
    const unsentMs = samplesToMs(Math.max(0, samples - this.#atSample));
    return Math.max(0, this.#speechEndMs - nowMs) + unsentMs;
  }

  add(utterance: Utterance): void {
    this.#queue.push(utterance);
  }

  /** Plays an utterance of one complete segment before the queue; not at all if the queue continues first. */
  interject(utterance: Utterance, nowMs: number): void {
    this.aside.begin(utterance, nowMs);
    this.pump(nowMs);
  }

  /** Reports the frames that were played meanwhile. */
  advance(nowMs: number): void {
    this.#sent.advance(nowMs);
  }

  /** Runs every `strideMs`. `stallMs`: longest stall of the event loop in the last seconds. */
  tick(nowMs: number, strideMs: number, stallMs: number): void {
    this.advance(nowMs);
    this.#lead.tick(strideMs, stallMs);
    this.pump(nowMs);
    this.#finishPlayed(nowMs);
  }

  /** Sends the audio that is due and synthesised. */
  pump(nowMs: number): void {
    if (this.#suspended || this.#wire.bufferedBytes > BUFFERED_BYTES_MAX) return;
    if (!this.#held) this.#pumpSpeech(nowMs);
    this.#pumpPause(nowMs);
    this.#wire.flush();
  }

  #pumpSpeech(nowMs: number): void {
    if (this.#endMs >= nowMs + this.#lead.leastMs) return;
    const untilMs = nowMs + this.#lead.mostMs;
    while (this.#endMs < untilMs && !this.#sent.full) {
      if (this.aside.isUnderWay && this.#sendAside(nowMs)) continue;
      const segment = this.#ready(nowMs);
      if (segment !== undefined) this.#send(segment, nowMs);
      this.#hasMore = segment !== undefined;
      if (!this.#hasMore && !this.#sendAside(nowMs)) return;
    }
  }

  /** Sends the interjection's audio, which is no progress of the queue's segments. False if it has none. */
  #sendAside(nowMs: number): boolean {
    if (!this.aside.read(frame)) return false;
    facts.segment = undefined;
    facts.playMs = this.#playMs(nowMs);
    framesOut.inc();
    this.#write(1);
    this.#endMs = facts.playMs + FRAME_MS;
    this.#speechEndMs = this.#endMs;
    this.aside.sent(facts.playMs, this.#endMs, nowMs);
    return true;
  }

  #pumpPause(nowMs: number): void {
    const untilMs = nowMs + this.#lead.strideMs + PAUSE_LEAD_MS - SLACK_MS;
    while (this.#endMs < untilMs && !this.#sent.full && this.#pause.fill(frame)) {
      facts.segment = undefined;
      facts.playMs = this.#playMs(nowMs);
      this.#endMs = facts.playMs + FRAME_MS;
      this.#write(this.#writer.gain);
      framesOut.inc();
    }
  }

  /** Takes a mark that the far end returned. Marks from before a clear are ignored. */
  mark(name: string, nowMs: number): void {
    const segment = segmentOfMark(name, this.#queue, this.#generation);
    if (segment?.sentEndMs === undefined) return;
    segment.acknowledged = true;
    this.#finishPlayed(nowMs);
  }

  /** Takes the milliseconds that the far end has still to play. If they exceed those by the clock, it is late for
   *  good. */
  unplayed(ms: number, nowMs: number): void {
    const lateMs = nowMs + ms - this.#endMs;
    if (lateMs < LATE_MS) return;
    lateSeconds.inc(lateMs / 1_000);
    const later = (atMs: number): number => (atMs + lateMs > nowMs ? atMs + lateMs : atMs);
    this.#endMs += lateMs;
    this.#speechEndMs = later(this.#speechEndMs);
    this.#sent.delay(lateMs);
    for (const utterance of this.#queue) utterance.delay(later);
  }

  duck(ducked: boolean): void {
    this.#ducked = ducked;
  }

  /** Silences the agent at once; no word is lost. */
  hold(nowMs: number): void {
    if (this.#held) return;
    if (!this.#suspended) this.#silence(nowMs, undefined);
    this.#held = true;
  }

  /** Sends nothing until `unsuspend`, as the far end does not receive the agent's audio; no word is lost. */
  suspend(nowMs: number): void {
    if (this.#suspended) return;
    if (!this.#held) this.#silence(nowMs, undefined);
    this.#suspended = true;
  }

  /** Continues at the word that was cut, after interjections of the meantime. */
  unsuspend(nowMs: number): void {
    if (!this.#suspended) return;
    this.#suspended = false;
    this.#goOn(nowMs, true);
  }

  /** Continues at the word that `hold` cut. */
  resume(nowMs: number): void {
    this.#ducked = false;
    if (!this.#held) return;
    this.#held = false;
    this.#goOn(nowMs, false);
  }

  /** Drops the queue up to the first uninterruptible utterance, or everything. */
  interrupt(nowMs: number, { everything }: { everything: boolean }): void {
    const kept = this.#queue.findIndex(
      (each) => !(everything || each.interruptible || each.played(nowMs)),
    );
    if (kept === 0) return;
    if (!this.#held && !this.#suspended) this.#silence(nowMs, undefined);
    this.#held = false;
    this.#ducked = false;
    const dropped = this.#queue.splice(0, kept < 0 ? this.#queue.length : kept);
    this.#seek(0, 0, 0);
    this.#writer.startFrom(1);
    for (const each of dropped) this.#listener.onFinished(resultOf(each, nowMs));
  }

  /** Takes one utterance back. It is reported after those before it. */
  cancel(utterance: Utterance, nowMs: number): void {
    const at = this.#queue.indexOf(utterance);
    if (at < 0 || utterance.cancelled) return;
    const audible = utterance.startMs !== undefined && !utterance.played(nowMs);
    if (audible && !this.#held && !this.#suspended) {
      this.#silence(nowMs, utterance);
      this.#writer.startFrom(1);
    }
    utterance.cancelled = true;
    if (at === this.#atUtterance) this.#seek(at, 0, 0);
    this.#finishPlayed(nowMs);
  }

  /** The segment whose next frame is ready; undefined if there is none. */
  #ready(nowMs: number): Segment | undefined {
    while (this.#passFinished(nowMs));
    const utterance = this.#queue[this.#atUtterance];
    const segment = utterance?.segments[this.#atSegment];
    if (utterance === undefined || segment === undefined) return undefined;
    return this.#startable(utterance, segment, nowMs) ? segment : undefined;
  }

  /** Passes complete segments and utterances. Returns whether it passed one. */
  #passFinished(nowMs: number): boolean {
    const utterance = this.#queue[this.#atUtterance];
    if (utterance === undefined) return false;
    const segment = utterance.segments[this.#atSegment];
    if (utterance.cancelled || (segment === undefined && utterance.ended)) {
      this.#seek(this.#atUtterance + 1, 0, 0);
      return true;
    }
    if (segment === undefined || !segment.complete || this.#atSample < segment.samples)
      return false;
    this.#seal(segment, nowMs);
    return true;
  }

  #startable(utterance: Utterance, segment: Segment, nowMs: number): boolean {
    const there = segment.samples - this.#atSample;
    if (!segment.complete && there < (this.#starved ? REBUFFER_SAMPLES : FRAME_SAMPLES)) {
      if (this.#atSample > 0 && !this.#starved && nowMs >= this.#speechEndMs) {
        this.#starved = true;
        underruns.inc();
      }
      return false;
    }
    this.#starved = false;
    if (utterance.startMs !== undefined) return true;
    return utterance.isGathered(segment, nowMs) && this.#listener.mayStart(utterance, nowMs);
  }

  #send(segment: Segment, nowMs: number): void {
    const playMs = this.#playMs(nowMs);
    const { utterance } = segment;
    const gapMs = utterance.startMs === undefined || !this.#hasMore ? 0 : playMs - this.#endMs;
    if (gapMs > 0) playoutGapSeconds.observe(gapMs / 1_000);
    this.aside.dropUnbegun(nowMs);
    this.#pause.hold(false);
    segment.read(this.#atSample, frame);
    framesOut.inc();
    facts.segment = segment;
    facts.at = this.#atSample;
    facts.playMs = playMs;
    this.#write(this.#ducked ? DUCKED : 1);
    this.#endMs = playMs + FRAME_MS;
    this.#speechEndMs = this.#endMs;
    this.#atSample += FRAME_SAMPLES;
    if (utterance.startMs === undefined) {
      utterance.startMs = playMs;
      this.#listener.onStarted(utterance, nowMs);
    }
  }

  /** Time at which the next frame is played: after the sent audio, or now. */
  #playMs(nowMs: number): number {
    return nowMs - this.#endMs > SLACK_MS ? nowMs : this.#endMs;
  }

  /** Marks the end of a segment that was sent completely. */
  #seal(segment: Segment, nowMs: number): void {
    segment.sentEndMs = segment.samples === 0 ? nowMs : this.#speechEndMs;
    segment.acknowledged = segment.samples === 0;
    this.#seek(this.#atUtterance, this.#atSegment + 1, 0);
    if (this.#marks && !segment.acknowledged) this.#wire.mark(markOf(segment, this.#generation));
    this.#listener.onRoom();
  }

  /** Takes back unplayed audio and fades out. With `only`, it removes that utterance alone: others are sent again. */
  #silence(nowMs: number, only: Utterance | undefined): void {
    const from = this.#sent.truncate(nowMs);
    const aside = this.aside.drop(nowMs);
    this.#hasMore = false;
    this.#generation++;
    if (this.#endMs > nowMs) {
      this.#wire.clear();
      this.#endMs = nowMs;
      this.#speechEndMs = Math.min(this.#speechEndMs, nowMs);
    }
    for (const utterance of this.#queue) utterance.takeBack(nowMs);
    const utterance = from?.segment.utterance;
    if (from !== undefined && utterance !== undefined)
      this.#seek(this.#queue.indexOf(utterance), from.segment.index, from.at);
    if (aside !== undefined) this.#fadeOut(aside);
    else if (from !== undefined && (only ?? utterance) === utterance) this.#fadeOut(from);
  }

  #fadeOut({ segment, at, gain }: PlayheadPosition): void {
    this.#writer.restart(gain);
    for (let nth = 1; nth <= FADE_FRAMES; nth++) {
      segment.read(at + (nth - 1) * FRAME_SAMPLES, frame);
      facts.segment = undefined;
      facts.playMs = this.#endMs;
      this.#write(gain * (1 - nth / FADE_FRAMES));
      this.#endMs += FRAME_MS;
    }
    this.#speechEndMs = this.#endMs;
    this.#wire.flush();
  }

  #write(gain: number): void {
    facts.fromGain = this.#writer.gain;
    facts.toGain = gain;
    this.#writer.shape(frame, gain, facts.playMs);
    this.#sent.push(facts, frame);
    // Last, because a far end that is too slow may be closed at once, and the call with it.
    this.#writer.send(frame);
  }

  #goOn(nowMs: number, hasAside: boolean): void {
    if (this.#held || this.#suspended) return;
    const at = restartOf(this.#queue[this.#atUtterance], this.#atSegment, this.#atSample);
    this.#seek(this.#atUtterance, at.segment, at.sample);
    this.#writer.startFrom(0);
    if (hasAside) this.#sendAside(nowMs);
    this.pump(nowMs);
  }

  #finishPlayed(nowMs: number): void {
    this.aside.finishPlayed(nowMs);
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (!head.cancelled && !head.isDone(nowMs, this.#marks)) return;
      if (this.#atUtterance === 0) this.#seek(0, 0, 0);
      else this.#atUtterance--;
      this.#queue.shift();
      this.#listener.onFinished(resultOf(head, nowMs));
    }
  }

  #seek(utterance: number, segment: number, sample: number): void {
    this.#atUtterance = utterance;
    this.#atSegment = segment;
    this.#atSample = sample;
  }
}
