// The socket that the call room has of a call's audio. It stays the same while what carries the audio may be
// replaced; what carries it is never made to wait, and is asked how far it has come. Source: asterisk §0.1,
// §0.10, §0.11.

import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
} from '../../../transport/media-socket.ts';
import {
  command,
  markIn,
  markWords,
  parseControlMessage,
  unplayedWords,
} from './control-messages.ts';
import { QueueMonitor } from './queue-monitor.ts';

/** Text that waits for the call room: the start, and a key or two. */
const EARLY_MAX = 16;
/** Marks that have not come back: an utterance has a handful. Before so many that wait behind it, the oldest
 *  was played long ago: it is lost, and nobody waits for it any more. */
const MARKS_MAX = 256;
/** A message in ten pieces or more is taken for a dead peer: each goes in one. Whole frames of every format. */
const MESSAGE_BYTES_MAX = 1_280;
const FLUSH = command('FLUSH_MEDIA') ?? '';
const ASK = command('GET_STATUS') ?? '';

export interface LegSocketListener {
  /** The call room has closed it. */
  onClosed(): void;
  /** What carried the audio is gone. */
  onLost(): void;
  /** How many frames Asterisk has not played yet, as it was asked. */
  onQueue(frames: number): void;
}

export class LegSocket implements MediaSocket {
  readonly #events: LegSocketListener;
  readonly #nowMs: () => number;
  #listener: MediaSocketListener | undefined;
  #inner: MediaSocket | undefined;
  #early: string[] = [];
  readonly #queue: QueueMonitor;
  /** Names of marks that have not come back, in the order of the audio. */
  #marks: string[] = [];
  #hasStarted = false;
  #isOpen = true;
  /** When audio was last sent. */
  sentAtMs = 0;

  constructor(events: LegSocketListener, nowMs: () => number) {
    this.#events = events;
    this.#nowMs = nowMs;
    this.#queue = new QueueMonitor(nowMs);
  }

  get open(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#inner?.bufferedBytes ?? 0;
  }

  sendText(message: string): void {
    const mark = markIn(message);
    if (mark !== undefined) this.#expect(mark);
    if (message === FLUSH) {
      this.#marks = []; // They go with the audio.
      this.#queue.flushed();
    }
    this.#inner?.sendText(message);
  }

  sendBinary(message: Uint8Array): void {
    this.sentAtMs = this.#nowMs();
    for (let at = 0; at < message.length; at += MESSAGE_BYTES_MAX) {
      this.#inner?.sendBinary(message.subarray(at, at + MESSAGE_BYTES_MAX));
    }
    if (this.#queue.sent(message.length)) this.requestQueue();
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#finish(code, reason);
    this.#events.onClosed();
    this.#listener?.onClose(code, reason);
  }

  // The leg's side.

  admit(accept: (socket: MediaSocket) => MediaSocketListener): void {
    const listener = accept(this);
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    for (const message of early) listener.onText(message);
    if (!this.#isOpen) listener.onClose(CLOSE.normal, '');
  }

  /** What carries the audio from now on. What was sent before is not played any more: its marks are
   *  reported, so that nobody waits for them. */
  attachTransport(inner: MediaSocket): MediaSocketListener {
    const before = this.#inner;
    this.#inner = this.#isOpen ? inner : undefined;
    before?.close(CLOSE.normal, '');
    if (!this.#isOpen) inner.close(CLOSE.normal, '');
    this.#queue.begin(undefined);
    this.#returnMarks(this.#marks.length);
    return {
      onText: (message) => {
        if (inner === this.#inner) this.#text(message);
      },
      onBinary: (message) => {
        if (inner === this.#inner) this.#listener?.onBinary(message);
      },
      onClose: () => {
        if (inner !== this.#inner) return;
        this.#inner = undefined;
        if (this.#isOpen) this.#events.onLost();
      },
    };
  }

  /** Takes back what has grown old, and says so of its marks. */
  flush(): void {
    this.#inner?.sendText(FLUSH);
    this.#queue.flushed();
    this.#returnMarks(this.#marks.length);
  }

  /** How many frames are not played yet; the answer is `onQueue`. */
  requestQueue(): void {
    if (this.#queue.poll()) this.#inner?.sendText(ASK);
  }

  /** Words of our own to the call room, in order with the media. */
  deliver(message: string): void {
    if (this.#listener !== undefined) this.#listener.onText(message);
    else if (this.#early.length < EARLY_MAX) this.#early.push(message);
  }

  /** The call is over. */
  end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#finish(code, reason);
    this.#listener?.onClose(code, reason);
  }

  #finish(code: number, reason: string): void {
    this.#isOpen = false;
    const inner = this.#inner;
    this.#inner = undefined;
    inner?.close(code === CLOSE.normal ? code : CLOSE.normal, reason);
  }

  #expect(mark: string): void {
    this.#marks.push(mark);
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** The oldest of them. */
  #returnMarks(count: number): void {
    for (const mark of this.#marks.splice(0, count)) this.deliver(markWords(mark));
  }

  #text(message: string): void {
    const words = parseControlMessage(message);
    if (words?.event === 'MEDIA_MARK_PROCESSED') {
      const at = this.#marks.indexOf(words.correlationId);
      // They come in their order: one that should have come before it is lost.
      if (at > 0) this.#returnMarks(at);
      if (at >= 0) this.#marks.shift();
    }
    if (words?.event === 'STATUS' && words.queueLength !== undefined) {
      this.#answered(words.queueLength);
    }
    if (words?.event === 'MEDIA_START') {
      this.#queue.begin(words.frameBytes);
      if (this.#hasStarted) return; // Of a carrier that took another's place.
      this.#hasStarted = true;
    }
    this.deliver(message);
  }

  #answered(queuedFrames: number): void {
    const unplayedMs = this.#queue.answered(queuedFrames);
    if (unplayedMs !== undefined) this.#listener?.onText(unplayedWords(unplayedMs));
    this.#events.onQueue(queuedFrames);
  }
}
