// The part of the PostgreSQL protocol between a driver and the embedded engine: splits a stream into frontend
// messages, and builds the few messages that the engine itself does not send. Source: PostgreSQL documentation,
// "Frontend/Backend Protocol", message formats.

import type { Traffic } from './turn-queue.ts';

/** Application names by which the engine recognises connections that keep no state between transactions, and their
 *  purpose. */
export const APPLICATION_NAMES: Record<Traffic, string> = {
  calls: 'patchbay-calls',
  api: 'patchbay',
  maintenance: 'patchbay-maintenance',
};

/** Purpose of a connection; undefined for one that is not ours, such as psql. */
export function trafficOf(applicationName: string): Traffic | undefined {
  if (applicationName === APPLICATION_NAMES.calls) return 'calls';
  if (applicationName === APPLICATION_NAMES.api) return 'api';
  return applicationName === APPLICATION_NAMES.maintenance ? 'maintenance' : undefined;
}

/** Longest message: one statement, or one workflow with all its prompts. Our clients send no longer one. */
export const WIRE_MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Longest startup message, which has a few short settings. */
const STARTUP_BYTES_MAX = 10_000;

const PROTOCOL_3 = 3;
const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;

export type Startup =
  | { kind: 'start'; settings: ReadonlyMap<string, string> }
  /** An encryption request: the answer is `N`, after which the client starts. */
  | { kind: 'encrypt' }
  | { kind: 'cancel' }
  | { kind: 'malformed' };

/** Splits a client's bytes into messages. A client's first message has no type byte. */
export class FrontendMessages {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** Number of bytes in the buffer. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next startup message, once it is complete. */
  startup(): Startup | undefined {
    const length = this.#peek(4)?.readInt32BE(0);
    if (length === undefined) return undefined;
    if (length < 8 || length > STARTUP_BYTES_MAX) return { kind: 'malformed' };
    const message = this.#take(length);
    return message === undefined ? undefined : parseStartup(message);
  }

  /** The next message with its type byte and length, once it is complete; null if it can never be one. */
  next(): Buffer | null | undefined {
    const length = this.#peek(5)?.readInt32BE(1);
    if (length === undefined) return undefined;
    if (length < 4 || length > WIRE_MESSAGE_BYTES_MAX) return null;
    return this.#take(1 + length);
  }

  /** Removes the next message if it is this one. */
  takeIf(expected: Buffer): boolean {
    if (this.#peek(expected.length)?.subarray(0, expected.length).equals(expected) !== true)
      return false;
    this.#take(expected.length);
    return true;
  }

  /** The first `count` bytes in one piece; they stay in the buffer. */
  #peek(count: number): Buffer | undefined {
    if (this.#bytes < count) return undefined;
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= count) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks.splice(0, this.#chunks.length, joined);
    return joined;
  }

  #take(count: number): Buffer | undefined {
    const first = this.#peek(count);
    if (first === undefined) return undefined;
    if (first.length === count) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
    this.#bytes -= count;
    return first.subarray(0, count);
  }
}

function parseStartup(message: Buffer): Startup {
  const code = message.readInt32BE(4);
  if (code === SSL_REQUEST || code === GSS_REQUEST) return { kind: 'encrypt' };
  if (code === CANCEL_REQUEST) return { kind: 'cancel' };
  if (code >> 16 !== PROTOCOL_3) return { kind: 'malformed' };
  const words = message.subarray(8).toString('utf8').split('\0');
  const settings = new Map<string, string>();
  for (let i = 0; i + 1 < words.length && words[i] !== ''; i += 2) {
    settings.set(words[i] ?? '', words[i + 1] ?? '');
  }
  return { kind: 'start', settings };
}

/** One message: its type, its length, its body. */
function message(type: string, body: Buffer): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(type, 0, 'latin1');
  bytes.writeInt32BE(4 + body.length, 1);
  body.copy(bytes, 5);
  return bytes;
}

export function queryMessage(sql: string): Buffer {
  return message('Q', Buffer.from(`${sql}\0`));
}

/** Whether the message holds SQL: a query, or a statement to be prepared. */
export function isStatement(message: Uint8Array): boolean {
  return message[0] === 0x51 || message[0] === 0x50;
}

/** The SQL of such a message, without parameters. */
export function statementText(message: Uint8Array): string {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  // A statement to be prepared begins with its name.
  const from = bytes[0] === 0x50 ? bytes.indexOf(0, 5) + 1 : 5;
  const end = bytes.indexOf(0, from);
  return bytes.toString('utf8', from, end === -1 ? bytes.length : end);
}

export function syncMessage(): Buffer {
  return message('S', Buffer.alloc(0));
}

/** The server's answer to a client that may continue: no password, our settings, ready. */
export function welcome(): Buffer {
  const settings = ['client_encoding\0UTF8\0', 'DateStyle\0ISO, MDY\0', 'TimeZone\0UTC\0'];
  settings.push('integer_datetimes\0on\0', 'standard_conforming_strings\0on\0');
  settings.push('server_version\x0018.6\0');
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    ...settings.map((setting) => message('S', Buffer.from(setting))),
    message('K', Buffer.alloc(8)),
    message('Z', Buffer.from('I')),
  ]);
}

/** Message with which our driver begins a transaction. */
export const BEGIN = queryMessage('begin');
/** Answer to `BEGIN`. */
export const BEGUN = Buffer.concat([
  message('C', Buffer.from('BEGIN\0')),
  message('Z', Buffer.from('T')),
]);

/** An error that ends the connection. */
export function fatal(sqlState: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`));
}

/** The frontend message that ends a connection. */
export function isTerminate(bytes: Uint8Array): boolean {
  return bytes[0] === 0x58;
}

export type TransactionStatus = 'idle' | 'open' | 'failed';

/** The status that an answer ends with; undefined if the engine expects more of this client. */
export function statusAfter(answer: Uint8Array): TransactionStatus | undefined {
  const at = answer.length - 6;
  const isReady =
    at >= 0 &&
    answer[at] === 0x5a &&
    answer[at + 1] === 0 &&
    answer[at + 2] === 0 &&
    answer[at + 3] === 0 &&
    answer[at + 4] === 5;
  if (!isReady) return undefined;
  if (answer[at + 5] === 0x49) return 'idle';
  return answer[at + 5] === 0x54 ? 'open' : 'failed';
}

/** Whether the engine has to be ready after this message: a query or a sync, unless it began a copy. */
export function mustBeReadyAfter(message: Uint8Array, answer: Uint8Array): boolean {
  const isSync = message[0] === 0x53;
  const isQuery = message[0] === 0x51;
  return isSync || (isQuery && !beginsCopy(answer));
}

/** Whether the answer starts a copy (`G`, `H` or `W`), after which the client or the engine sends copy data. */
function beginsCopy(answer: Uint8Array): boolean {
  return answer[0] === 0x47 || answer[0] === 0x48 || answer[0] === 0x57;
}
