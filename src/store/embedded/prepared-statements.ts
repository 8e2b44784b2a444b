// Our clients' unnamed statements, kept in the engine under names of their own: one that comes again is neither parsed nor,
// where one plan is as good for all parameters, planned again. That is half of the work of a short statement. The
// clients notice nothing. Source: PostgreSQL documentation, "Extended Query" and PREPARE (the choice of plans).

import type { Clock } from '../../std/clock.ts';
import { queryMessage, statementText, type TransactionStatus } from './wire-protocol.ts';

/** The gateway has some dozens that come often; each takes up to 200 kB. */
const STATEMENTS_MAX = 100;
/** Texts that are known as harmless. */
const SEEN_MAX = 500;
/** Plans were made for the sizes that the tables had, and the choice between one plan for all and one for each use
 *  depends on the first uses. */
const KEPT_MS_MAX = 60_000;
/** A longer one is made once (a list of values in its text). */
const STATEMENT_BYTES_MAX = 20_000;

const PARSE = 0x50;
const BIND = 0x42;
const CLOSE = 0x43;
const DESCRIBE = 0x44;
const QUERY = 0x51;
const OF_STATEMENT = 0x53;
const PARSE_COMPLETE = 0x31;
const PARSED = Buffer.from([PARSE_COMPLETE, 0, 0, 0, 4]);

/** Statements that change no type that a kept one gives. */
const HARMLESS =
  /^\s*(?:\/\*[^*]*\*\/\s*)*(?:begin|start|commit|end|rollback|savepoint|release|set|show|select|with|insert|update|delete|lock|checkpoint|vacuum|analyze)\b/i;

/** What a connection has of it. */
export interface Prepared {
  /** Under which name the engine has its unnamed statement; undefined: under none. */
  name: string | undefined;
}

export interface PreparedStatementsOptions {
  clock: Clock;
  /** Undefined if the engine broke. */
  execute: (message: Uint8Array) => Uint8Array | undefined;
}

export class PreparedStatements {
  readonly #execute: PreparedStatementsOptions['execute'];
  readonly #clock: Clock;
  /** Names by text and types; the one not used for longest is first. */
  readonly #names = new Map<string, string>();
  readonly #seen = new Set<string>();
  #lastName = 0;
  #sinceMs: number;
  /** The tables may have changed since. */
  #isStale = false;

  constructor({ clock, execute }: PreparedStatementsOptions) {
    this.#execute = execute;
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** The answer to a message of a connection that keeps no state between transactions; `status` is that before it. */
  run(
    prepared: Prepared,
    status: TransactionStatus | undefined,
    message: Buffer,
  ): Uint8Array | undefined {
    switch (message[0]) {
      case PARSE:
        prepared.name = undefined;
        if (isKeepable(message) && (status === 'idle' || status === 'open'))
          return this.#parse(prepared, status, message);
        this.#note(message);
        break;
      case BIND:
      case DESCRIBE:
        if (prepared.name !== undefined) return this.#execute(named(message, prepared.name));
        break;
      case CLOSE:
        if (isOfUnnamed(message)) prepared.name = undefined;
        break;
      case QUERY:
        prepared.name = undefined;
        this.#note(message);
        break;
    }
    return this.#execute(message);
  }

  /** Somebody else has discarded them. */
  forget(): void {
    this.#names.clear();
    this.#isStale = false;
  }

  #parse(prepared: Prepared, status: 'idle' | 'open', message: Buffer): Uint8Array | undefined {
    // What changed the tables may be rolled back.
    if (this.#isStale && status === 'open') return this.#execute(message);
    if (status === 'idle' && !this.#renew()) return undefined;
    const key = message.toString('latin1', 6);
    const known = this.#names.get(key);
    if (known !== undefined) {
      this.#names.delete(key);
      this.#names.set(key, known);
      prepared.name = known;
      return PARSED;
    }
    if (!this.#seen.has(key)) {
      if (this.#note(message)) this.#see(key);
      return this.#execute(message);
    }
    if (!this.#makeRoom()) return undefined;
    this.#lastName += 1;
    const name = `patchbay_${this.#lastName}`;
    const answer = this.#execute(withName(message, 5, name));
    if (answer?.[0] === PARSE_COMPLETE) {
      this.#names.set(key, name);
      prepared.name = name;
    }
    return answer;
  }

  /** Outside a transaction: drops what may be out of date. False if the engine broke. */
  #renew(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#isStale && nowMs - this.#sinceMs < KEPT_MS_MAX) return true;
    this.#sinceMs = nowMs;
    this.forget();
    return this.#execute(queryMessage('deallocate all')) !== undefined;
  }

  /** Whether it leaves the tables as they are. If not, what is kept may be wrong after it. */
  #note(message: Buffer): boolean {
    const isHarmless = isOneHarmless(statementText(message));
    if (!isHarmless) this.#isStale = true;
    return isHarmless;
  }

  #see(key: string): void {
    if (this.#seen.size >= SEEN_MAX) this.#seen.clear();
    this.#seen.add(key);
  }

  /** False if the engine broke. */
  #makeRoom(): boolean {
    if (this.#names.size < STATEMENTS_MAX) return true;
    const [oldest] = this.#names;
    if (oldest === undefined) return true;
    this.#names.delete(oldest[0]);
    return this.#execute(closeMessage(oldest[1])) !== undefined;
  }
}

function isOneHarmless(text: string): boolean {
  const end = text.indexOf(';');
  return HARMLESS.test(text) && (end === -1 || text.slice(end + 1).trim() === '');
}

/** Whether the client gave it no name. */
function isKeepable(message: Buffer): boolean {
  return message[5] === 0 && message.length <= STATEMENT_BYTES_MAX;
}

/** The message with this name where the client's has none. A portal stays as it is. */
function named(message: Buffer, name: string): Buffer {
  if (message[0] === DESCRIBE) return isOfUnnamed(message) ? withName(message, 6, name) : message;
  const at = message.indexOf(0, 5) + 1;
  return message[at] === 0 ? withName(message, at, name) : message;
}

/** Whether a Describe or Close is of the unnamed statement. */
function isOfUnnamed(message: Buffer): boolean {
  return message[5] === OF_STATEMENT && message[6] === 0;
}

/** The message with `name` in place of the empty one at `at`. */
function withName(message: Buffer, at: number, name: string): Buffer {
  const bytes = Buffer.allocUnsafe(message.length + name.length);
  message.copy(bytes, 0, 0, at);
  bytes.write(name, at, 'latin1');
  message.copy(bytes, at + name.length, at);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

function closeMessage(name: string): Buffer {
  const bytes = Buffer.alloc(7 + name.length);
  bytes.write('C', 0, 'latin1');
  bytes.writeInt32BE(bytes.length - 1, 1);
  bytes.write(`S${name}`, 5, 'latin1');
  return bytes;
}
