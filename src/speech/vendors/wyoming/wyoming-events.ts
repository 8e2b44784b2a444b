// Framing of Wyoming events: a line of JSON, then the bytes of JSON data and of payload that the line announces.
// Source: the protocol's description in OHF-Voice/wyoming, and its Python client.

import { isObject, parseJson } from '../../../std/json.ts';

export interface WyomingEvent {
  type: string;
  data: Record<string, unknown>;
  /** Borrowed: it may share its memory with later data. */
  payload: Buffer;
}

/** Longest line: it has a type, a version and two lengths, and in some programs the data. */
const LINE_BYTES_MAX = 65_536;
/** Largest data part: the list of a server's voices, with a few hundred bytes each. */
const DATA_BYTES_MAX = 4 * 1024 * 1024;
/** Largest payload: 20 s of audio at 48 kHz. Servers send pieces of less than a second. */
const PAYLOAD_BYTES_MAX = 2 * 1024 * 1024;
const VERSION = '1.5.0';
const NEW_LINE = 0x0a;
const EMPTY = Buffer.alloc(0);

export function encodeWyoming(
  type: string,
  data: Record<string, unknown> = {},
  payload: Uint8Array = EMPTY,
): Buffer {
  const text = Object.keys(data).length === 0 ? '' : JSON.stringify(data);
  const line = JSON.stringify({
    type,
    version: VERSION,
    ...(text !== '' && { data_length: Buffer.byteLength(text) }),
    ...(payload.length > 0 && { payload_length: payload.length }),
  });
  return Buffer.concat([Buffer.from(`${line}\n${text}`), payload]);
}

interface Header {
  type: string;
  data: Record<string, unknown>;
  dataBytes: number;
  payloadBytes: number;
}

/** Splits a stream, in chunks of any size, into events. */
export class WyomingEventReader {
  #parts: Buffer[] = [];
  #held = 0;
  /** Length of the held bytes that were searched and have no line feed. */
  #searched = 0;
  #header: Header | undefined;

  /** Calls `onEvent` for each event that `bytes` completes. Throws a RangeError with a reason for anything else; the
   *  stream cannot be read any further then. */
  push(bytes: Buffer, onEvent: (event: WyomingEvent) => void): void {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    for (let event = this.#next(); event !== undefined; event = this.#next()) onEvent(event);
  }

  #next(): WyomingEvent | undefined {
    this.#header ??= this.#readHeader();
    const header = this.#header;
    if (header === undefined) return undefined;
    const { type, data, dataBytes, payloadBytes } = header;
    if (this.#held < dataBytes + payloadBytes) return undefined;
    const more = dataBytes === 0 ? {} : parseJson(this.#take(dataBytes).toString());
    if (!isObject(more)) throw new RangeError('data that is not a JSON object');
    const payload = this.#take(payloadBytes);
    this.#header = undefined;
    return { type, data: { ...data, ...more }, payload };
  }

  #readHeader(): Header | undefined {
    const all = this.#joined();
    const end = all.indexOf(NEW_LINE, this.#searched);
    this.#searched = end === -1 ? all.length : 0;
    if (end > LINE_BYTES_MAX || (end === -1 && all.length > LINE_BYTES_MAX)) {
      throw new RangeError('a line that is too long');
    }
    if (end === -1) return undefined;
    const line = this.#take(end + 1);
    const header = parseJson(line.toString());
    if (!isObject(header) || typeof header['type'] !== 'string') {
      throw new RangeError('a line that is no event');
    }
    const { type, data } = header;
    return {
      type,
      data: isObject(data) ? data : {},
      dataBytes: lengthOf(header['data_length'], DATA_BYTES_MAX),
      payloadBytes: lengthOf(header['payload_length'], PAYLOAD_BYTES_MAX),
    };
  }

  #joined(): Buffer {
    const [only, ...more] = this.#parts;
    const all = only === undefined || more.length > 0 ? Buffer.concat(this.#parts) : only;
    this.#parts = [all];
    return all;
  }

  #take(bytes: number): Buffer {
    if (bytes === 0) return EMPTY;
    const all = this.#joined();
    this.#parts = [all.subarray(bytes)];
    this.#held -= bytes;
    return all.subarray(0, bytes);
  }
}

function lengthOf(value: unknown, most: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw new RangeError('a length that is not a number of bytes');
  }
  if (value > most) throw new RangeError(`an event of ${value} bytes`);
  return value;
}
