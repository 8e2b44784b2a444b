// Reads audio messages in JSON directly from the socket's bytes. A provider writes all messages of a stream in one
// form: its fixed text is taken from a message that was parsed as JSON, after which only numbers and payload may
// differ. A message of another form is parsed as JSON, with the same result.

import { afterDigits, audioOfBase64, digitsValue } from './message-bytes.ts';

/** Forms that are learnt from one stream. This bounds the cost of a provider that writes each message differently. */
const FORMS_MAX = 8;
/** Longest fixed text of a message; a longer one has unknown fields. */
const TEXT_BYTES_MAX = 1_024;
const QUOTE = 0x22;
const ZERO = 0x30;

/** Fields that change with each message. */
const FIELDS =
  /"(?:(payload)"\s*:\s*"[A-Za-z0-9+/]+={0,2}|(?:sequence_number|sequenceNumber|chunk|(timestamp))"\s*:\s*("?)\d{1,15})(?=["\s,}])/g;
/** A message without escapes, in which text may look like a field. */
const PLAIN = /^[\t\n\r\x20-\x5b\x5d-\x7e]*$/;

/** Kinds of values between two pieces of fixed text. */
const KIND = { payload: 0, counter: 1, timestamp: 2 };

interface Piece {
  kind: number;
  /** Whether the digits are a JSON number, which has no leading zeros. */
  isNumber: boolean;
  /** Position of its value in the message that was analysed. */
  from: number;
  end: number;
}

export class AudioMessageReader {
  /** The audio of the message that was just read; borrowed until the next one of any stream. */
  audio: Buffer = Buffer.alloc(0);
  timestampMs = Number.NaN;
  #forms = 0;
  /** The fixed text, without the values between its pieces. */
  #text: Uint8Array = new Uint8Array(0);
  /** Begin and length of each piece of the fixed text, the last one included. */
  #begins: readonly number[] = [];
  #lengths: readonly number[] = [];
  #kinds: readonly number[] = [];
  #numbers: readonly boolean[] = [];

  /** Learns the form of a message with the caller's audio. `found`: its content as parsed from JSON. */
  learn(message: string, found: { audio: Uint8Array; timestampMs: number }): void {
    if (this.#forms >= FORMS_MAX || !PLAIN.test(message)) return;
    this.#forms += 1;
    const pieces = piecesOf(message);
    if (pieces === undefined) return;
    const texts: string[] = [];
    let at = 0;
    for (const { from, end } of pieces) {
      texts.push(message.slice(at, from));
      at = end;
    }
    texts.push(message.slice(at));
    const text = Buffer.from(texts.join(''), 'latin1');
    if (text.length > TEXT_BYTES_MAX) return;
    this.#text = Uint8Array.from(text);
    this.#begins = texts.map((_each, nth) => texts.slice(0, nth).join('').length);
    this.#lengths = texts.map(({ length }) => length);
    this.#kinds = pieces.map(({ kind }) => kind);
    this.#numbers = pieces.map(({ isNumber }) => isNumber);
    const bytes = Buffer.from(message, 'latin1');
    const isSame =
      this.read(bytes, 0, bytes.length) &&
      this.audio.equals(found.audio) &&
      Object.is(this.timestampMs, found.timestampMs);
    if (!isSame) this.#kinds = [];
  }

  /** Reads the message in `bytes` from `from` to `end`, borrowed. False if it has another form; nothing is valid
   *  then. */
  read(bytes: Uint8Array, from: number, end: number): boolean {
    const values = this.#kinds.length;
    if (values === 0) return false;
    this.timestampMs = Number.NaN;
    let at = from;
    for (let nth = 0; nth < values; nth++) {
      at = this.#afterText(bytes, at, nth);
      if (at < 0 || at >= end) return false;
      at = this.#afterValue(bytes, at, nth);
      if (at < 0 || at >= end) return false;
    }
    return this.#afterText(bytes, at, values) === end;
  }

  /** Index after a piece of the fixed text, or -1 if it is not at `at`. */
  #afterText(bytes: Uint8Array, at: number, nth: number): number {
    const text = this.#text;
    const begin = this.#begins[nth] as number;
    const length = this.#lengths[nth] as number;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== text[begin + i]) return -1;
    return at + length;
  }

  /** Index after a value, which is stored; -1 if there is none at `at`. */
  #afterValue(bytes: Uint8Array, at: number, nth: number): number {
    const kind = this.#kinds[nth];
    if (kind === KIND.payload) {
      const quote = bytes.indexOf(QUOTE, at);
      const audio = audioOfBase64(bytes, at, quote);
      if (audio === undefined) return -1;
      this.audio = audio;
      return quote;
    }
    const end = afterDigits(bytes, at, bytes.length);
    const hasZero = bytes[at] === ZERO && end > at + 1;
    if (end === at || (hasZero && this.#numbers[nth] === true)) return -1;
    if (kind === KIND.timestamp) this.timestampMs = digitsValue(bytes, at, end);
    return end;
  }
}

/** The pieces of a message; undefined unless it has one payload, and no field twice. */
function piecesOf(message: string): Piece[] | undefined {
  const seen = new Set<string>();
  const pieces: Piece[] = [];
  for (const match of message.matchAll(FIELDS)) {
    const [whole, payload, timestamp, quote] = match;
    const name = whole.slice(1, whole.indexOf('"', 1));
    if (seen.has(name)) return undefined;
    seen.add(name);
    const end = match.index + whole.length;
    const value =
      payload === undefined ? /\d+$/.exec(whole)?.[0] : /[A-Za-z0-9+/]+=*$/.exec(whole)?.[0];
    if (value === undefined) return undefined;
    const ofDigits = timestamp === undefined ? KIND.counter : KIND.timestamp;
    const kind = payload === undefined ? ofDigits : KIND.payload;
    pieces.push({ kind, isNumber: quote === '', from: end - value.length, end });
  }
  return seen.has('payload') ? pieces : undefined;
}
