// Writes lines to a file descriptor, for logs: asynchronous and bounded; a failing target does not end the process.
// Lines that a full disk, a broken pipe or a slow reader does not accept are dropped and counted. A line of which only
// a part was written is ended by a line feed, so that the next one is whole.

import { write, writeSync } from 'node:fs';
import type { Clock, Timer } from './clock.ts';

/** Target of writes, as node:fs writes to a file descriptor. */
export interface LineTarget {
  write(chunk: Buffer, done: (error: Error | null, bytes: number) => void): void;
  /** Writes synchronously. Returns the number of bytes written. */
  writeSync(chunk: Buffer): number;
}

export interface LineOutputOptions {
  /** File descriptor. Tests pass a target that accepts only a part of what is written. */
  target: number | LineTarget;
  clock: Clock;
  /** Called when lines were dropped. Must not write to this output. */
  onDropped?(lines: number): void;
  /** Returns a line with the number of dropped lines and a line feed. Called once the target accepts lines again. */
  summary?(dropped: number): string;
  /** Limit of the waiting lines, in characters. */
  charactersMax?: number;
  /** Pause after a failure. */
  retryMs?: number;
}

const LINE_FEED = 10;
/** Default limit of waiting lines: some 20,000, which a busy gateway writes in seconds. */
const CHARACTERS_MAX = 4_000_000;
/** Characters of one write. A larger write would hold memory twice for long. */
const CHUNK_CHARACTERS_MAX = 64 * 1024;
const RETRY_MS = 500;
/** Pause before a full pipe is tried again: a live reader empties it within milliseconds. */
const FULL_RETRY_MS = 20;
/** Tries at the end of the process, for a full pipe. */
const FLUSH_TRIES_MAX = 10;

export class LineOutput {
  readonly #options: LineOutputOptions;
  readonly #target: LineTarget;
  #waiting: string[] = [];
  #characters = 0;
  /** Data that is being written. Undefined: none. */
  #chunk: Buffer | undefined;
  /** Whether the last byte written is not a line feed. */
  #isTorn = false;
  #timer: Timer | undefined;
  #dropped = 0;
  #isUsed = false;

  constructor(options: LineOutputOptions) {
    this.#options = options;
    const { target } = options;
    this.#target = typeof target === 'number' ? descriptor(target) : target;
  }

  /** Writes one or more whole lines. Never throws. */
  write(line: string): void {
    if (!this.#isUsed) process.on('exit', () => this.flushSync());
    this.#isUsed = true;
    const { charactersMax = CHARACTERS_MAX } = this.#options;
    if (this.#characters + line.length > charactersMax) {
      this.#drop(1);
      return;
    }
    this.#waiting.push(line);
    this.#characters += line.length;
    if (this.#chunk === undefined && this.#timer === undefined) this.#next();
  }

  /** Writes the waiting lines and blocks for 200 ms at most; the rest is lost. For the end of the process. Lines whose
   *  write is in progress are written again, because that write may not be finished. */
  flushSync(): void {
    let tries = 0;
    let rest = Buffer.concat([
      this.#chunk ?? this.#repair(),
      Buffer.from(this.#waiting.splice(0).join('')),
    ]);
    this.#characters = 0;
    while (rest.length > 0 && tries < FLUSH_TRIES_MAX) {
      try {
        rest = rest.subarray(this.#target.writeSync(rest));
      } catch (error) {
        if (!isFull(error)) return;
        tries += 1;
        pause(FULL_RETRY_MS);
      }
    }
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    let characters = 0;
    let lines = 0;
    for (const line of this.#waiting) {
      if (lines > 0 && characters + line.length > CHUNK_CHARACTERS_MAX) break;
      characters += line.length;
      lines += 1;
    }
    const text = Buffer.from(this.#waiting.splice(0, lines).join(''));
    this.#chunk = Buffer.concat([this.#repair(), text]);
    this.#characters -= characters;
    this.#write();
  }

  #write(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    this.#target.write(chunk, (error, bytes) => {
      if (error !== null && isFull(error)) this.#later(() => this.#write(), FULL_RETRY_MS);
      else if (error !== null) this.#failed();
      else if (bytes < chunk.length) {
        if (bytes > 0) this.#isTorn = chunk[bytes - 1] !== LINE_FEED;
        this.#chunk = chunk.subarray(bytes);
        this.#write();
      } else this.#written();
    });
  }

  #written(): void {
    this.#chunk = undefined;
    this.#isTorn = false;
    if (this.#dropped > 0 && this.#options.summary !== undefined) {
      this.#waiting.unshift(this.#options.summary(this.#dropped));
      this.#characters += this.#waiting[0]?.length ?? 0;
    }
    this.#dropped = 0;
    this.#next();
  }

  #failed(): void {
    const lost = this.#chunk === undefined ? 0 : linesIn(this.#chunk);
    this.#chunk = undefined;
    if (lost > 0) this.#drop(lost);
    this.#later(() => this.#next(), this.#options.retryMs ?? RETRY_MS);
  }

  #later(work: () => void, ms: number): void {
    this.#timer = this.#options.clock.after(ms, () => {
      this.#timer = undefined;
      work();
    });
  }

  /** Line feed that ends a torn line. */
  #repair(): Buffer {
    return Buffer.from(this.#isTorn ? '\n' : '');
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#options.onDropped?.(lines);
  }
}

function descriptor(fd: number): LineTarget {
  return {
    write: (chunk, done) => write(fd, chunk, done),
    writeSync: (chunk) => writeSync(fd, chunk),
  };
}

/** Number of lines. A line feed at the beginning only ends an earlier line. */
function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(LINE_FEED, 1); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
  }
  return lines;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
