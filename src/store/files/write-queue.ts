// The event loop's side of the write ring buffer: copies the bytes to write, in order, and gets the results later. It
// never waits: if the disk is too slow, it refuses bytes until there is space. And the thread at the other side.

import { getSystemErrorName } from 'node:util';
import { Worker } from 'node:worker_threads';
import { workerEntry } from '../../runtime/entry-point.ts';
import {
  RING_FIELD,
  RING_STATE,
  shareWrites,
  UNKNOWN_ERROR,
  WriteRingBuffer,
} from './write-ring-buffer.ts';

/** The writes of one file. */
export interface FileWrites {
  /** Copies `bytes` to be written at `position`. False if there is no space; nothing was copied then. */
  write(bytes: Uint8Array, position: number, isPatch: boolean): boolean;
  /** Resolves when all copied bytes are written, or have failed. Nothing may be written meanwhile. */
  finish(): Promise<void>;
}

/** Reports that `bytes` copied bytes are missing in the file; patches do not count. `reason` is a system error code,
 *  such as ENOSPC. */
export type OnFailed = (bytes: number, reason: string) => void;

interface OpenFile {
  id: number;
  waiting: number;
  onFailed: OnFailed;
  onFinished: (() => void) | undefined;
}

export class WriteQueue {
  readonly #ring: WriteRingBuffer;
  readonly #wake: () => void;
  readonly #files = new Map<number, OpenFile>();
  #lastId = 0;
  /** Number of queued operations, and of those whose result is known. The counters overflow. */
  #queued = 0;
  #known = 0;
  /** End of the newest bytes in the buffer. */
  #end = 0;
  #isOver = false;

  /** `wake` makes the other side check at once. */
  constructor(ring: WriteRingBuffer, wake: () => void) {
    this.#ring = ring;
    this.#wake = wake;
  }

  /** Number of files that wait to be finished. */
  get closings(): number {
    return Atomics.load(this.#ring.state, RING_STATE.closings);
  }

  /** Opens a file for writes. `descriptor` must stay open until `finish` has resolved. */
  open(descriptor: number, onFailed: OnFailed): FileWrites {
    this.#lastId = (this.#lastId + 1) | 0;
    const file: OpenFile = { id: this.#lastId, waiting: 0, onFailed, onFinished: undefined };
    this.#files.set(file.id, file);
    Atomics.store(this.#ring.state, RING_STATE.openFiles, this.#files.size);
    if (this.#files.size === 1) this.#wake();
    return {
      write: (bytes, position, isPatch) =>
        this.#write(file, { descriptor, bytes, position, isPatch }),
      finish: () => this.#finish(file),
    };
  }

  /** Collects the results. */
  collectResults(): void {
    if (this.#isOver) return;
    const done = Atomics.load(this.#ring.state, RING_STATE.done);
    while (this.#known !== done) this.#settle(this.#ring.field(this.#known, RING_FIELD.error));
  }

  /** The thread has ended: queued bytes have failed, as do all that follow. */
  abandon(): void {
    this.collectResults();
    this.#isOver = true;
    while (this.#known !== this.#queued) this.#settle(UNKNOWN_ERROR);
  }

  #write(
    file: OpenFile,
    of: { descriptor: number; bytes: Uint8Array; position: number; isPatch: boolean },
  ): boolean {
    this.collectResults();
    const { bytes } = of;
    if (this.#isOver) {
      if (!of.isPatch) file.onFailed(bytes.length, systemName(UNKNOWN_ERROR));
      return true;
    }
    const from = this.#place(bytes.length);
    if (from === undefined) return false;
    const nth = this.#queued;
    this.#ring.bytes.set(bytes, from);
    this.#ring.setField(nth, RING_FIELD.file, file.id);
    this.#ring.setField(nth, RING_FIELD.descriptor, of.descriptor);
    this.#ring.setField(nth, RING_FIELD.from, from);
    this.#ring.setField(nth, RING_FIELD.length, bytes.length);
    this.#ring.setField(nth, RING_FIELD.isPatch, of.isPatch ? 1 : 0);
    this.#ring.setPosition(nth, of.position);
    this.#end = from + bytes.length;
    this.#queued = (nth + 1) | 0;
    file.waiting += 1;
    Atomics.store(this.#ring.state, RING_STATE.queued, this.#queued);
    return true;
  }

  /** Position at which `length` bytes fit in one piece; undefined if there is none. With an empty queue it is the
   *  start, so that no more memory is used than the disk is behind. */
  #place(length: number): number | undefined {
    const size = this.#ring.bytes.length;
    const waiting = (this.#queued - this.#known) | 0;
    if (waiting === 0) return length <= size ? 0 : undefined;
    if (waiting >= this.#ring.operationsMax) return undefined;
    const first = this.#ring.field(this.#known, RING_FIELD.from);
    if (this.#end <= first) return this.#end + length < first ? this.#end : undefined;
    if (this.#end + length <= size) return this.#end;
    return length < first ? 0 : undefined;
  }

  #settle(error: number): void {
    const nth = this.#known;
    this.#known = (nth + 1) | 0;
    const file = this.#files.get(this.#ring.field(nth, RING_FIELD.file));
    if (file === undefined) return;
    file.waiting -= 1;
    if (error !== 0) {
      const isPatch = this.#ring.field(nth, RING_FIELD.isPatch) === 1;
      file.onFailed(isPatch ? 0 : this.#ring.field(nth, RING_FIELD.length), systemName(error));
    }
    if (file.waiting === 0) file.onFinished?.();
  }

  #finish(file: OpenFile): Promise<void> {
    this.collectResults();
    if (file.waiting === 0) {
      this.#forget(file);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      Atomics.add(this.#ring.state, RING_STATE.closings, 1);
      file.onFinished = () => {
        Atomics.sub(this.#ring.state, RING_STATE.closings, 1);
        this.#forget(file);
        resolve();
      };
      this.#wake();
    });
  }

  #forget(file: OpenFile): void {
    this.#files.delete(file.id);
    Atomics.store(this.#ring.state, RING_STATE.openFiles, this.#files.size);
  }
}

function systemName(error: number): string {
  return error === UNKNOWN_ERROR ? 'unknown' : getSystemErrorName(error);
}

/** Bytes that are buffered for a slow disk: two seconds of a thousand calls, twenty of a hundred. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** The thread that writes the files of all calls: one per process, so that a disk that blocks
 *  delays only it. Starts with the first file. */
export class WriteThread {
  #running: Running | undefined;

  /** Opens a file for writes. `descriptor` must stay open until the writes are finished. */
  open(descriptor: number, onFailed: OnFailed): FileWrites {
    const known = this.#running;
    const running = known === undefined || known.isOver ? new Running() : known;
    this.#running = running;
    return running.queue.open(descriptor, onFailed);
  }
}

/** State from the start of the thread to its end. No disk error ends it. */
class Running {
  readonly queue: WriteQueue;
  isOver = false;
  readonly #worker: Worker;

  constructor() {
    const shared = shareWrites(WAITING_BYTES_MAX);
    const ring = new WriteRingBuffer(shared);
    const entry = workerEntry('./write-worker.ts', import.meta.url);
    this.#worker = new Worker(entry, { workerData: shared, name: 'writes' });
    this.queue = new WriteQueue(ring, () => {
      Atomics.add(ring.state, RING_STATE.wakeUps, 1);
      Atomics.notify(ring.state, RING_STATE.wakeUps);
      this.#hold();
    });
    this.#worker.on('message', () => {
      this.queue.collectResults();
      this.#hold();
    });
    this.#worker.on('error', () => this.#end());
    this.#worker.on('exit', () => this.#end());
    this.#worker.unref();
  }

  /** Keeps the process alive only while files are being finished. */
  #hold(): void {
    if (this.queue.closings > 0) this.#worker.ref();
    else this.#worker.unref();
  }

  #end(): void {
    this.isOver = true;
    this.queue.abandon();
  }
}
