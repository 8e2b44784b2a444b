// The websocket of a speech service, one class for all of them: the connection within a deadline, sends that wait for
// the service's ready message, keepalive messages, watchdogs for half-open sockets and for services that stop
// answering, limits in both directions, and one classified end. It does not reconnect: the fallback decides that.

import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Egress } from '../../egress/egress-rule.ts';
import { serviceFaults } from '../../metrics/metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { PingWatchdog } from '../../std/ping-watchdog.ts';
import {
  type FaultDetails,
  type FaultKind,
  faultKindOfClose,
  faultKindOfError,
  faultKindOfStatus,
  retryAfterMs,
  ServiceFault,
  type ServiceJob,
  vendorMessage,
} from './service-fault.ts';
import type { WarmConnections } from './warm-connections.ts';

export interface VendorSocketOptions {
  job: ServiceJob;
  /** As in the configuration: `deepgram`. */
  service: string;
  /** `ws:` or `wss:`, with its query. */
  url: string;
  headers?: Record<string, string>;
  /** Keys and tokens in `url` and `headers`: no fault repeats them. */
  secrets: readonly string[];
  clock: Clock;
  egress: Egress;
  /** Connections that were opened ahead. */
  warm?: WarmConnections | undefined;
  /** Until the socket is ready. Default: 2.5 s. */
  readyMsMax?: number;
  /** Whether a text message says that the service is ready. Without it the socket is ready once it is open. */
  isReadyMessage?: (text: string) => boolean;
  /** Sent after so long without another message. */
  keepalive?: { afterMs: number; message: string };
  /** The meaning of a close code where the service gave it one of its own; undefined: the usual one. */
  kindOfClose?: (code: number, reason: string) => FaultKind | undefined;
  listener: VendorSocketListener;
}

export interface VendorSocketListener {
  /** Before the first message other than the ready message. */
  onReady?(): void;
  onText(text: string): void;
  onBinary?(bytes: Buffer): void;
  /** Exactly once unless `close` came first. A close by the service is a fault as well: the gateway did not ask for it. */
  onFault(fault: ServiceFault): void;
}

const READY_MS = 2_500;
/** Audio in base64 inside JSON comes in messages of megabytes from some services. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Sends that wait for the ready message: 15 s of audio at 16 kHz. */
const WAITING_BYTES_MAX = 512 * 1024;
/** Bytes that the peer does not read: 15 s of audio. */
const BUFFERED_BYTES_MAX = 512 * 1024;
/** After the last message, before the connection is cut. */
const CLOSE_MS_MAX = 2_000;
/** Of an answer that refuses the upgrade. */
const REFUSAL_BYTES_MAX = 4_096;

export class VendorSocket {
  readonly #options: VendorSocketOptions;
  /** Undefined if none was opened. */
  readonly #socket: WebSocket | undefined;
  readonly #waiting: (string | Uint8Array)[] = [];
  #waitingBytes = 0;
  #state: 'connecting' | 'ready' | 'closed' = 'connecting';
  #deadline: Timer | undefined;
  #keepalive: Timer | undefined;
  #answer: Timer | undefined;
  #pings: PingWatchdog | undefined;

  /** Never throws: a fault comes after this has returned. */
  constructor(options: VendorSocketOptions) {
    this.#options = options;
    const { clock, readyMsMax = READY_MS } = options;
    this.#socket = this.#connect();
    this.#deadline = clock.after(readyMsMax, () => this.fail('timeout', 'not ready in time'));
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** Queued until the socket is ready. `data` must not change afterwards. */
  send(data: string | Uint8Array): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'ready') {
      this.#write(data);
      return;
    }
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.fail('timeout', 'not ready in time');
    else this.#waiting.push(data);
  }

  /** A message other than a pong must come within `ms`; a repeated call does not extend the time. */
  expectAnswer(ms: number): void {
    if (this.#state === 'closed' || this.#answer !== undefined) return;
    this.#answer = this.#options.clock.after(ms, () => this.fail('timeout', 'no answer in time'));
  }

  /** No answer is due any more. */
  expectNothing(): void {
    this.#answer?.cancel();
    this.#answer = undefined;
  }

  /** Ends the socket with a fault, which goes to the listener. */
  fail(kind: FaultKind, detail: string, more: Partial<FaultDetails> = {}): void {
    if (this.#state === 'closed') return;
    const { job, service, secrets, listener } = this.#options;
    this.#stop();
    this.#socket?.terminate();
    serviceFaults.inc({ kind: job, service, fault: kind });
    listener.onFault(new ServiceFault(job, service, kind, { ...more, detail, redact: secrets }));
  }

  /** Sends `last`, and closes; nothing is reported any more. */
  close(last?: string): void {
    if (this.#state === 'closed') return;
    const isReady = this.#state === 'ready';
    const socket = this.#socket;
    this.#stop();
    if (!isReady) {
      socket?.terminate();
      return;
    }
    if (last !== undefined) socket?.send(last, () => undefined);
    socket?.close(1000);
    const deadline = this.#options.clock.after(CLOSE_MS_MAX, () => socket?.terminate());
    socket?.once('close', () => deadline.cancel());
  }

  #connect(): WebSocket | undefined {
    const { url, headers, egress, warm, clock } = this.#options;
    let socket: WebSocket;
    try {
      egress.check(url.replace(/^ws/, 'http'));
      const ready = warm?.take(url);
      socket = new WebSocket(url, {
        headers: headers ?? {},
        maxPayload: MESSAGE_BYTES_MAX,
        perMessageDeflate: false,
        followRedirects: false,
        lookup: egress.lookup,
        ...(ready !== undefined && { createConnection: (): Duplex => ready }),
      });
    } catch (error) {
      clock.after(0, () => this.#failed(error));
      return undefined;
    }
    socket.on('open', () => this.#opened(socket));
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    socket.on('unexpected-response', (request, response) => {
      const { statusCode: status = 0, headers: answer } = response;
      const after = retryAfterMs(answer['retry-after'], clock.now());
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        if (bytes < REFUSAL_BYTES_MAX) parts.push(part);
        bytes += part.length;
        if (bytes >= REFUSAL_BYTES_MAX) request.destroy();
      });
      response.on('close', () => {
        const detail = Buffer.concat(parts).toString('utf8', 0, REFUSAL_BYTES_MAX);
        this.fail(faultKindOfStatus(status), vendorMessage(detail), {
          status,
          retryAfterMs: after,
        });
        request.destroy();
      });
    });
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', (code, reason) => {
      const text = reason.toString();
      const kind = this.#options.kindOfClose?.(code, text) ?? faultKindOfClose(code);
      this.fail(kind, text === '' ? `closed with ${code}` : text, { status: code });
    });
    return socket;
  }

  #failed(error: unknown): void {
    const detail = error instanceof Error ? error.message : 'not connected';
    this.fail(faultKindOfError(error), detail, { cause: error });
  }

  #opened(socket: WebSocket): void {
    if (this.#state === 'closed') return;
    const { clock, isReadyMessage } = this.#options;
    this.#pings = new PingWatchdog(socket, clock, () => {
      this.fail('network', 'no answer to a ping');
    });
    if (isReadyMessage === undefined) this.#ready();
  }

  #ready(): void {
    this.#state = 'ready';
    this.#deadline?.cancel();
    this.#options.listener.onReady?.();
    for (const data of this.#waiting.splice(0)) this.#write(data);
    this.#waitingBytes = 0;
    this.#awaitKeepalive();
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#state === 'closed') return;
    this.expectNothing();
    const { listener, isReadyMessage } = this.#options;
    if (isBinary) {
      listener.onBinary?.(data);
      return;
    }
    const text = data.toString();
    if (this.#state === 'connecting' && isReadyMessage?.(text) === true) this.#ready();
    listener.onText(text);
  }

  #write(data: string | Uint8Array): void {
    if (this.#state !== 'ready') return;
    this.#socket?.send(data, () => undefined);
    if ((this.#socket?.bufferedAmount ?? 0) > BUFFERED_BYTES_MAX) {
      this.fail('overload', 'the service does not read what it is sent');
      return;
    }
    this.#awaitKeepalive();
  }

  #awaitKeepalive(): void {
    const { keepalive, clock } = this.#options;
    if (keepalive === undefined || this.#state !== 'ready') return;
    this.#keepalive?.cancel();
    this.#keepalive = clock.after(keepalive.afterMs, () => this.#write(keepalive.message));
  }

  #stop(): void {
    this.#state = 'closed';
    this.#waiting.length = 0;
    this.#deadline?.cancel();
    this.#keepalive?.cancel();
    this.expectNothing();
    this.#pings?.stop();
  }
}
