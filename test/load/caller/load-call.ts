// One simulated call of a load measurement: the provider's side of a media stream, which sends prepared
// frames at 20 ms, plays what comes, and echoes marks when they are reached.

import type { CallStream, GatewayListener, MediaTarget } from '../wires/wire.ts';
import type { Caller, CallerLine } from './callers.ts';
import { Ear, FRAME_MS } from './ear.ts';
import type { Heard } from './heard.ts';
import { MediaClient } from './media-client.ts';

/** Frames that are made up for at once after a stall of this process. */
const CATCH_UP_MAX = 25;
/** A gateway that does not take this much is not fed any more: what it misses is counted. */
const WAITING_BYTES_MAX = 1_000_000;
/** No frame has it as its mark. */
const NO_ANSWER = -2;

export interface LoadCallOptions {
  media: Pick<MediaTarget, 'url' | 'headers'>;
  stream: CallStream;
  leadMs: number;
  clipFrames: readonly number[];
  heard: Heard;
  caller: (line: CallerLine) => Caller;
  now: () => number;
}

export class LoadCall implements GatewayListener, CallerLine {
  /** Resolves with why the connection ended. */
  readonly ended: Promise<string>;
  faults = 0;
  /** Frames that were not sent, because the gateway did not take those before. */
  unsentFrames = 0;
  readonly #client: MediaClient;
  readonly #ear: Ear;
  readonly #caller: Caller;
  readonly #stream: CallStream;
  readonly #now: () => number;
  #nextFrameMs = Number.POSITIVE_INFINITY;
  /** Names of marks with the time at which they are reached. */
  readonly #marks: { name: string; atMs: number }[] = [];
  /** The mark of the answer that is being heard. */
  #answer = NO_ANSWER;
  #isLeaving = false;

  constructor(options: LoadCallOptions) {
    const { stream } = options;
    this.#stream = stream;
    this.#now = options.now;
    this.#ear = new Ear(options);
    this.#caller = options.caller(this);
    let resolveEnded: (reason: string) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      resolveEnded = resolve;
    });
    this.#client = new MediaClient(options.media, {
      onOpen: () => this.#begin(),
      onText: (chunk, from, to) => stream.readText(chunk, from, to, this),
      onBinary: (chunk, from, to) => stream.readBinary(chunk, from, to, this),
      onClose: (reason) => {
        this.#nextFrameMs = Number.POSITIVE_INFINITY;
        resolveEnded(reason);
      },
    });
  }

  get isOpen(): boolean {
    return this.#client.open;
  }

  /** We have hung up. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get endMs(): number {
    return this.#ear.endMs;
  }

  /** Sends what is due. Called every few milliseconds. */
  tick(nowMs: number): void {
    if (!this.#client.open) return;
    let due = Math.min(CATCH_UP_MAX, Math.floor((nowMs - this.#nextFrameMs) / FRAME_MS) + 1);
    for (; due > 0; due--) {
      const payload = this.#caller.next(nowMs);
      this.#nextFrameMs += FRAME_MS;
      if (this.#client.waitingBytes > WAITING_BYTES_MAX) this.unsentFrames += 1;
      else this.#client.sendFrame(this.#stream.audio(payload));
    }
    this.#caller.tick(nowMs);
    while (this.#marks.length > 0 && (this.#marks[0]?.atMs ?? 0) <= nowMs) this.#echoFirst();
  }

  /** Resolves when the caller has nothing more to say and the agent has answered; at most after `msMax`. */
  async finish(msMax: number): Promise<void> {
    this.#caller.finish?.();
    const deadline = this.#now() + msMax;
    while (this.isOpen && this.#now() < deadline) {
      if (this.#caller.isDone?.(this.#now()) ?? true) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Words that the caller said; 0 for callers without marked words. */
  get words(): number {
    return this.#caller.words ?? 0;
  }

  press(key: string): void {
    this.#client.sendText(this.#stream.key(key));
  }

  hangUp(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const stop = this.#stream.stop();
    if (stop !== undefined) this.#client.sendText(stop);
    this.#client.close();
  }

  onAudio(marks: Int32Array, count: number): void {
    const nowMs = this.#now();
    // Marks of answers are no clips.
    const answers = this.#caller.hears === undefined ? undefined : marks.slice(0, count);
    if (answers !== undefined) marks.fill(-1, 0, count);
    const goesOn = answers?.includes(this.#answer) === true;
    if (this.#ear.hear(marks, count, nowMs, goesOn)) this.#caller.agentBegins(nowMs);
    this.#answer = answers?.findLast((mark) => mark >= 0) ?? NO_ANSWER;
    if (answers !== undefined) this.#caller.hears?.(answers, nowMs);
    // The provider throws away what it cannot keep.
    if (this.#ear.endMs - nowMs > this.#stream.bufferMsMax) this.faults += 1;
  }

  onMark(name: string): void {
    const nowMs = this.#now();
    this.#marks.push({ name, atMs: this.#ear.endMs });
    if (this.#marks.length === 1 && this.#ear.endMs <= nowMs) this.#echoFirst();
  }

  onClear(): void {
    this.#ear.clear(this.#now());
    if (this.#stream.onClear === 'drop-marks') this.#marks.length = 0;
    while (this.#marks.length > 0) this.#echoFirst();
    const cleared = this.#stream.cleared();
    if (cleared !== undefined) this.#client.sendText(cleared);
  }

  onFault(): void {
    this.faults += 1;
  }

  #begin(): void {
    for (const message of this.#stream.opening()) this.#client.sendText(message);
    this.#nextFrameMs = this.#now() + FRAME_MS;
  }

  #echoFirst(): void {
    const mark = this.#marks.shift();
    if (mark !== undefined) this.#client.sendText(this.#stream.played(mark.name));
  }
}
