// A disk that writes when the test says so, behind the real queue: slow, full, or taking a few bytes at once.

import type { OpenedFile, Writes } from '../../src/store/files/file-writer.ts';
import { WriteQueue } from '../../src/store/files/write-queue.ts';
import {
  shareWrites,
  type WriteAt,
  WriteRingBuffer,
} from '../../src/store/files/write-ring-buffer.ts';

export class SlowDisk implements Writes {
  readonly queue: WriteQueue;
  /** What each file holds, by descriptor. */
  readonly files = new Map<number, Buffer>();
  wakeUps = 0;
  writes = 0;
  /** Bytes taken at once. */
  atOnceMax = Number.POSITIVE_INFINITY;
  /** What each write fails with. */
  fault: Error | undefined;
  readonly #ring: WriteRingBuffer;

  constructor(bytesMax = 1 << 20) {
    this.#ring = new WriteRingBuffer(shareWrites(bytesMax));
    this.queue = new WriteQueue(this.#ring, () => {
      this.wakeUps += 1;
    });
  }

  open(...of: Parameters<WriteQueue['open']>): ReturnType<WriteQueue['open']> {
    return this.queue.open(...of);
  }

  /** Carries out so many of the writes that wait; how many there were. */
  work(writesMax = Number.POSITIVE_INFINITY): number {
    let done = 0;
    while (done < writesMax && this.#ring.dequeue(this.#write)) done += 1;
    this.queue.collectResults();
    return done;
  }

  bytes(descriptor: number): Buffer {
    return this.files.get(descriptor) ?? Buffer.alloc(0);
  }

  readonly #write: WriteAt = (descriptor, bytes, position) => {
    this.writes += 1;
    if (this.fault !== undefined) throw this.fault;
    const count = Math.min(bytes.length, this.atOnceMax);
    const before = this.bytes(descriptor);
    const grown = Buffer.alloc(Math.max(before.length, position + count));
    before.copy(grown);
    grown.set(bytes.subarray(0, count), position);
    this.files.set(descriptor, grown);
    return count;
  };
}

/** The same file as `disk` has it, for what the event loop does itself when the file is closed. */
export class SlowFile implements OpenedFile {
  synced = false;
  closed = false;
  readonly fd: number;
  readonly #disk: SlowDisk;

  constructor(disk: SlowDisk, fd = 3) {
    this.#disk = disk;
    this.fd = fd;
  }

  get bytes(): Buffer {
    return this.#disk.bytes(this.fd);
  }

  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<unknown> {
    if (this.#disk.fault !== undefined) return Promise.reject(this.#disk.fault);
    const grown = Buffer.alloc(Math.max(this.bytes.length, position + length));
    this.bytes.copy(grown);
    grown.set(bytes.subarray(offset, offset + length), position);
    this.#disk.files.set(this.fd, grown);
    return Promise.resolve();
  }

  truncate(length: number): Promise<void> {
    const cut = Buffer.alloc(length);
    this.bytes.copy(cut);
    this.#disk.files.set(this.fd, cut);
    return Promise.resolve();
  }

  sync(): Promise<void> {
    this.synced = true;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

/** As the system says that the disk is full. */
export function noSpace(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), {
    code: 'ENOSPC',
    errno: -28,
  });
}
