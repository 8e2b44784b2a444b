// TCP connection to a Wyoming server: events in both directions, deadlines, limits, and one classified end. The
// protocol has neither encryption nor keys: such servers belong in a private network.

import { connect, type Socket } from 'node:net';
import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import type { Timer } from '../../../std/clock.ts';
import {
  type FaultKind,
  faultKindOfError,
  ServiceFault,
  type ServiceJob,
} from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { encodeWyoming, type WyomingEvent, WyomingEventReader } from './wyoming-events.ts';

export interface WyomingConnectionOptions {
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
