// Lines to a file descriptor, for logs: asynchronous, bounded, and no failure of the target ends the process. Lines
// that a full disk, a broken pipe or a slow reader does not take are dropped and counted; one of which only a part was
// taken is ended by a line feed, so that the next one is whole.

import { write, writeSync } from 'node:fs';
import type { Clock, Timer } from './clock.ts';

/** As node:fs writes to a file descriptor. */
export interface LineTarget {
  write(chunk: Buffer, done: (error: Error | null, bytes: number) => void): void;
  /** Returns the number of bytes that were taken. */
  writeSync(chunk: Buffer): number;
}

export interface LineOutputOptions {
  /** A file descriptor; tests pass a target that takes a part of what is written. */
  target: number | LineTarget;
  clock: Clock;
  /** Lines were dropped. Must not write to this output. */
  onDropped?(lines: number): void;
  /** Given once the target takes lines again; returns a line that names the number, with its line feed. */
  summary?(dropped: number): string;
  /** Lines that wait, in characters. */
  charactersMax?: number;
  /** Rest after a failure. */
  retryMs?: number;
}

const LINE_FEED = 10;
/** Some 20,000 lines: seconds of a busy gateway. */
const CHARACTERS_MAX = 4_000_000;
/** Of one write: more would hold memory twice for long. */
const CHUNK_CHARACTERS_MAX = 64 * 1024;
const RETRY_MS = 500;
/** A pipe that is full takes more within milliseconds if its reader lives. */
const FULL_RETRY_MS = 20;
/** At the end of the process, for a pipe that is full. */
const FLUSH_TRIES_MAX = 10;

export class LineOutput {
  readonly #options: LineOutputOptions;
  readonly #target: LineTarget;
  #waiting: string[] = [];
  #characters = 0;
  /** What is being written; undefined: nothing. */
  #chunk: Buffer | undefined;
  /** The last byte that the target has taken is no line feed. */
  #isTorn = false;
  #timer: Timer | undefined;
  #dropped = 0;
  #isUsed = false;

  constructor(options: LineOutputOptions) {
    this.#options = options;
    const { target } = options;
    this.#target = typeof target === 'number' ? descriptor(target) : target;
  }

  /** One or more whole lines. Never throws. */
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

  /** Writes what waits, and blocks for 200 ms at most; the rest is lost. For the end of the process: lines whose write is
   *  under way are written again, because that write may not be finished. */
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

  /** What ends a torn line. */
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

/** A line feed at the begin only ends a line whose words are written. */
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
