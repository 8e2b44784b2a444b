// TCP connection to a Wyoming server: events in both directions, deadlines, limits, and one classified end. An event is a
// line of JSON, then the bytes of JSON data and of payload that the line announces. The protocol has neither encryption
// nor keys: such servers belong in a private network.
// Source: the protocol's description in OHF-Voice/wyoming, and its Python client.

import { connect, type Socket } from 'node:net';
import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import type { Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import {
  type FaultKind,
  faultKindOfError,
  ServiceFault,
  type ServiceJob,
} from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';

interface WyomingConnectionOptions {
  job: ServiceJob;
  /** Address as `tcp://host:port`. */
  url: string;
  means: ServiceMeans;
  listener: {
    onEvent(event: WyomingEvent): void;
    /** Called exactly once, unless `close` came first. An `error` event and the end of the connection are faults too. */
    onFault(fault: ServiceFault): void;
  };
}

const CONNECT_MS_MAX = 2_500;
/** Data that the server has not read: 15 s of audio at 16 kHz. */
const BUFFERED_BYTES_MAX = 512 * 1024;

export class WyomingConnection {
  readonly #options: WyomingConnectionOptions;
  readonly #reader = new WyomingEventReader();
  readonly #socket: Socket | undefined;
  #isOver = false;
  #connecting: Timer | undefined;
  #answer: Timer | undefined;

  /** Never throws. A fault is reported after the constructor has returned. */
  constructor(options: WyomingConnectionOptions) {
    this.#options = options;
    const { clock } = options.means;
    this.#connecting = clock.after(CONNECT_MS_MAX, () => this.fail('timeout', 'not connected'));
    this.#socket = this.#open();
  }

  send(type: string, data?: Record<string, unknown>, payload?: Uint8Array): void {
    const socket = this.#socket;
    if (this.#isOver || socket === undefined) return;
    socket.write(encodeWyoming(type, data, payload));
    if (socket.writableLength > BUFFERED_BYTES_MAX) {
      this.fail('overload', 'the server does not read what it is sent');
    }
  }

  /** Sets a deadline for the next answer, in milliseconds from this call. Undefined removes it. */
  expectEvent(ms: number | undefined): void {
    this.#answer?.cancel();
    this.#answer = undefined;
    if (this.#isOver || ms === undefined) return;
    const { clock } = this.#options.means;
    this.#answer = clock.after(ms, () => this.fail('timeout', 'no answer in time'));
  }

  fail(kind: FaultKind, detail: string, cause?: unknown): void {
    if (this.#isOver) return;
    const { job, listener } = this.#options;
    this.close();
    serviceFaults.inc({ kind: job, service: 'wyoming', fault: kind });
    listener.onFault(new ServiceFault(job, 'wyoming', kind, { detail, cause }));
  }

  /** Closes the connection and reports nothing afterwards. The server cancels its work for this connection. */
  close(): void {
    this.#isOver = true;
    this.#connecting?.cancel();
    this.#answer?.cancel();
    this.#socket?.destroy();
  }

  #open(): Socket | undefined {
    const { url, means } = this.#options;
    const target = httpAddress(url);
    const { egress, warm, clock } = means;
    try {
      egress.check(target.href);
    } catch (error) {
      clock.after(0, () => this.fail('request', 'an address that is not allowed', error));
      return undefined;
    }
    const ready = warm.take(target.href);
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const port = Number(target.port || 80);
    const socket = ready ?? connect({ host, port, lookup: egress.lookup });
    socket.setNoDelay(true);
    if (ready === undefined) socket.once('connect', () => this.#connecting?.cancel());
    else this.#connecting?.cancel();
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.fail(faultKindOfError(error), error.message, error));
    socket.on('close', () => this.fail('network', 'the server ended the connection'));
    return socket;
  }

  #read(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#reader.push(bytes, (event) => this.#event(event));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.fail('protocol', error.message);
    }
  }

  #event(event: WyomingEvent): void {
    // Further events in the same chunk as the last one that was wanted.
    if (this.#isOver) return;
    if (event.type !== 'error') {
      this.#options.listener.onEvent(event);
      return;
    }
    const { text } = event.data;
    this.fail('overload', typeof text === 'string' ? text : 'an error without words');
  }
}

/** Converts to an `http:` URL, which normalizes the host: the egress rule and the connection pool need that form. */
export function httpAddress(url: string): URL {
  return new URL(url.replace(/^tcp:/, 'http:'));
}

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
