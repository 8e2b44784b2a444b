// The thread that writes the files of all calls: one per process, so that a disk that blocks delays only it. Starts
// with the first file.

import { Worker } from 'node:worker_threads';
import { workerEntry } from '../../runtime/entry-point.ts';
import { type FileWrites, type OnFailed, WriteQueue } from './write-queue.ts';
import { RING_STATE, shareWrites, WriteRingBuffer } from './write-ring-buffer.ts';

/** Bytes that are buffered for a slow disk: two seconds of a thousand calls, twenty of a hundred. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

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
