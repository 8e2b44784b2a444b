// What chan_websocket does with the audio that it is sent: a queue of frames and notes, emptied by one frame
// every 20 ms. Pure but for its listener. Source: asterisk §2.5, §2.9.

export const FRAMES_MAX = 1_000;
export const XOFF_FRAMES = 900;
export const XON_FRAMES = 800;

export type MediaNotice =
  | { event: 'MEDIA_XOFF' | 'MEDIA_XON' | 'QUEUE_DRAINED' }
  | { event: 'MEDIA_MARK_PROCESSED' | 'MEDIA_BUFFERING_COMPLETED'; correlation_id: string };

type Entry = { frame: Uint8Array } | { notice: MediaNotice };

export interface QueueStatus {
  queue_length: number;
  xon_level: number;
  xoff_level: number;
  queue_full: boolean;
  bulk_media: boolean;
  media_paused: boolean;
}

export class MediaQueue {
  /** Messages that were thrown away whole because the queue was full: nobody is told. */
  droppedMessages = 0;
  /** Bytes of incomplete frames that were thrown away. */
  droppedBytes = 0;
  /** The most frames that ever waited. */
  framesMost = 0;
  readonly #frameBytes: number;
  readonly #notify: (notice: MediaNotice) => void;
  #entries: Entry[] = [];
  #frames = 0;
  #isFull = false;
  #isBulk = false;
  #isPaused = false;
  #reportsDrained = false;
  #leftover: Uint8Array = new Uint8Array(0);

  constructor(options: { frameBytes: number; notify: (notice: MediaNotice) => void }) {
    this.#frameBytes = options.frameBytes;
    this.#notify = options.notify;
  }

  get status(): QueueStatus {
    return {
      queue_length: this.#frames,
      xon_level: XON_FRAMES,
      xoff_level: XOFF_FRAMES,
      queue_full: this.#isFull,
      bulk_media: this.#isBulk,
      media_paused: this.#isPaused,
    };
  }

  /** One message; the check for room is made once for all of it. */
  push(message: Uint8Array): void {
    if (this.#frames >= FRAMES_MAX) {
      this.droppedMessages += 1;
      return;
    }
    const bytes = this.#isBulk ? join(this.#leftover, message) : message;
    let at = 0;
    for (; at + this.#frameBytes <= bytes.length; at += this.#frameBytes) {
      this.#pushFrame(bytes.slice(at, at + this.#frameBytes));
    }
    const rest = bytes.slice(at);
    if (this.#isBulk) this.#leftover = rest;
    else this.droppedBytes += rest.length;
  }

  startBulk(): void {
    this.#isBulk = true;
  }

  stopBulk(correlationId: string): void {
    this.#isBulk = false;
    if (this.#leftover.length > 0) this.#pushFrame(this.#leftover);
    this.#leftover = new Uint8Array(0);
    const notice = { event: 'MEDIA_BUFFERING_COMPLETED', correlation_id: correlationId } as const;
    this.#entries.push({ notice });
  }

  mark(correlationId: string): void {
    const notice = { event: 'MEDIA_MARK_PROCESSED', correlation_id: correlationId } as const;
    this.#entries.push({ notice });
  }

  /** Marks and completions go with the frames; a wanted QUEUE_DRAINED still comes. */
  flush(): void {
    this.#entries = [];
    this.#frames = 0;
    this.#isBulk = false;
    this.#leftover = new Uint8Array(0);
  }

  reportDrained(): void {
    this.#reportsDrained = true;
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  /** Every 20 ms: the frame that leaves, if any. */
  beat(): Uint8Array | undefined {
    if (this.#isPaused) return undefined;
    if (this.#isFull && this.#frames < XON_FRAMES) {
      this.#isFull = false;
      this.#notify({ event: 'MEDIA_XON' });
    }
    let entry = this.#entries.shift();
    if (entry === undefined) {
      if (this.#reportsDrained) this.#notify({ event: 'QUEUE_DRAINED' });
      this.#reportsDrained = false;
      return undefined;
    }
    while (entry !== undefined && 'notice' in entry) {
      this.#notify(entry.notice);
      entry = this.#entries.shift();
    }
    if (entry === undefined) return undefined;
    this.#frames -= 1;
    return entry.frame;
  }

  #pushFrame(frame: Uint8Array): void {
    this.#entries.push({ frame });
    this.#frames += 1;
    this.framesMost = Math.max(this.framesMost, this.#frames);
    if (this.#frames < XOFF_FRAMES || this.#isFull) return;
    this.#isFull = true;
    this.#notify({ event: 'MEDIA_XOFF' });
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
