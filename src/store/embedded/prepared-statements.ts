// Keeps our clients' unnamed statements in the engine under names: a repeated one is neither parsed nor, where one plan
// suits all parameters, planned again. That is half of the work of a short statement. Clients notice no difference.
// Source: PostgreSQL documentation, "Extended Query" and PREPARE (the choice of plans).

import type { Clock } from '../../std/clock.ts';
import { queryMessage, statementText, type TransactionStatus } from './wire-protocol.ts';

/** Statements that are kept. The gateway has some dozens that are frequent; each takes up to 200 kB. */
const STATEMENTS_MAX = 100;
/** Texts that are known to be harmless. */
const SEEN_MAX = 500;
/** Time after which statements are prepared again: plans were made for the sizes that the tables had, and the choice
 *  between one plan for all and one for each use depends on the first uses. */
const KEPT_MS_MAX = 60_000;
/** Longest statement that is kept. A longer one is used once (a list of values in its text). */
const STATEMENT_BYTES_MAX = 20_000;

const PARSE = 0x50;
const BIND = 0x42;
const CLOSE = 0x43;
const DESCRIBE = 0x44;
const QUERY = 0x51;
const OF_STATEMENT = 0x53;
const PARSE_COMPLETE = 0x31;
const PARSED = Buffer.from([PARSE_COMPLETE, 0, 0, 0, 4]);

/** Statements that do not change the result types of a kept one. */
const HARMLESS =
  /^\s*(?:\/\*[^*]*\*\/\s*)*(?:begin|start|commit|end|rollback|savepoint|release|set|show|select|with|insert|update|delete|lock|checkpoint|vacuum|analyze)\b/i;

/** State of one connection. */
export interface Prepared {
  /** Name of its unnamed statement in the engine; undefined for none. */
  name: string | undefined;
}

export interface PreparedStatementsOptions {
  clock: Clock;
  /** Runs a message. Undefined if the engine broke. */
  execute: (message: Uint8Array) => Uint8Array | undefined;
}

export class PreparedStatements {
  readonly #execute: PreparedStatementsOptions['execute'];
  readonly #clock: Clock;
  /** Names by text and types, the least recently used first. */
  readonly #names = new Map<string, string>();
  readonly #seen = new Set<string>();
  #lastName = 0;
  #sinceMs: number;
  /** Whether the tables may have changed since the statements were prepared. */
  #isStale = false;

  constructor({ clock, execute }: PreparedStatementsOptions) {
    this.#execute = execute;
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** The answer to a message of a connection that keeps no state between transactions. `status`: the transaction status
   *  before it. */
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

  /** Forgets the names, as another client has discarded the statements. */
  forget(): void {
    this.#names.clear();
    this.#isStale = false;
  }

  #parse(prepared: Prepared, status: 'idle' | 'open', message: Buffer): Uint8Array | undefined {
    // The change of the tables may be rolled back.
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

  /** Drops outdated statements, outside a transaction. False if the engine broke. */
  #renew(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#isStale && nowMs - this.#sinceMs < KEPT_MS_MAX) return true;
    this.#sinceMs = nowMs;
    this.forget();
    return this.#execute(queryMessage('deallocate all')) !== undefined;
  }

  /** Whether the message leaves the tables as they are. If not, kept statements may be wrong after it. */
  #note(message: Buffer): boolean {
    const isHarmless = isOneHarmless(statementText(message));
    if (!isHarmless) this.#isStale = true;
    return isHarmless;
  }

  #see(key: string): void {
    if (this.#seen.size >= SEEN_MAX) this.#seen.clear();
    this.#seen.add(key);
  }

  /** Drops the least recently used statement if there are too many. False if the engine broke. */
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

/** Whether the client's statement has no name. */
function isKeepable(message: Buffer): boolean {
  return message[5] === 0 && message.length <= STATEMENT_BYTES_MAX;
}

/** The message with this name for an unnamed statement. A portal keeps its name. */
function named(message: Buffer, name: string): Buffer {
  if (message[0] === DESCRIBE) return isOfUnnamed(message) ? withName(message, 6, name) : message;
  const at = message.indexOf(0, 5) + 1;
  return message[at] === 0 ? withName(message, at, name) : message;
}

/** Whether the message is a Describe or Close of the unnamed statement. */
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
