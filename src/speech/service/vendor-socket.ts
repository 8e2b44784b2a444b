// Websocket client for speech services: connect deadline, sends that wait for the service's ready message, keepalive
// messages, watchdogs for half-open sockets and unresponsive services, limits in both directions, and one classified
// end. It does not reconnect: the fallback decides that. Only a dead connection that was opened ahead is replaced by a
// fresh one.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Egress } from '../../egress/egress-rule.ts';
import { serviceFaults } from '../../metrics/speech-metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { PingWatchdog } from '../../std/ping-watchdog.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import { ReceiveLimit, receiveLimitsOf } from './receive-limit.ts';
import {
  type FaultDetails,
  type FaultKind,
  faultKindOfClose,
  faultKindOfError,
  faultKindOfRefusal,
  retryAfterMs,
  ServiceFault,
  type ServiceJob,
  vendorMessage,
} from './service-fault.ts';
import type { WarmConnections } from './warm-connections.ts';

export interface VendorSocketOptions {
  job: ServiceJob;
  /** Service name as in the configuration: `deepgram`. */
  service: string;
  /** `ws:` or `wss:` URL with its query. */
  url: string;
  /** Requests the address that replaces `url` from services that issue one with a token. The headers are not sent
   *  there. A `wss:` URL must be replaced by another one. */
  locate?: (signal: AbortSignal) => Promise<string>;
  headers?: Record<string, string>;
  /** Keys and tokens in `url` and `headers`, which are removed from faults. */
  secrets: readonly string[];
  clock: Clock;
  egress: Egress;
  /** Pool of connections that were opened ahead. */
  warm?: WarmConnections | undefined;
  /** Deadline until the socket is ready. Default: 2.5 s. */
  readyMsMax?: number;
  /** Messages sent when the socket opens, before the ready message. */
  opening?: readonly string[];
  /** Whether a text message reports that the service is ready. Without this function the socket is ready once it is
   *  open. */
  isReadyMessage?: (text: string) => boolean;
  /** Message sent after `afterMs` without another one. */
  keepalive?: { afterMs: number; message: string };
  /** Meaning of a close code that the service defines itself. Undefined: the usual meaning. */
  kindOfClose?: (code: number, reason: string) => FaultKind | undefined;
  listener: VendorSocketListener;
}

export interface VendorSocketListener {
  /** Called before the first message other than the ready message. */
  onReady?(): void;
  onText(text: string): void;
  onBinary?(bytes: Buffer): void;
  /** Called exactly once, unless `close` came first. A close by the service is a fault as well, unless `finish`
   *  requested it. */
  onFault(fault: ServiceFault): void;
}

const READY_MS = 2_500;
/** A connection opened ahead must answer the upgrade within this time; then a fresh one is tried. */
const WARM_MS_MAX = 1_000;
/** Data that waits for the ready message: 15 s of audio at 16 kHz. */
const WAITING_BYTES_MAX = 512 * 1024;
/** Data that the peer has not read: 15 s of audio. */
const BUFFERED_BYTES_MAX = 512 * 1024;
/** Wait from the last message to the close, and from that until the connection is cut. */
const CLOSE_MS_MAX = 2_000;
/** Close codes of a session that ends as requested. Without a close message: `BROKEN`. */
const USUAL_ENDS: ReadonlySet<number> = new Set([1000, 1001, 1005]);
const BROKEN = 1006;
/** Largest body of a refused upgrade that is read. */
const REFUSAL_BYTES_MAX = 4_096;

export class VendorSocket {
  readonly #options: VendorSocketOptions;
  #url: string;
  #headers: Record<string, string>;
  #secrets: readonly string[];
  readonly #locating = new AbortController();
  /** Undefined before the socket is created. */
  #socket: WebSocket | undefined;
  /** Set while the socket uses a connection that was opened ahead and has not answered. */
  #warmDeadline: Timer | undefined;
  readonly #waiting: (string | Uint8Array)[] = [];
  #waitingBytes = 0;
  #state: 'connecting' | 'ready' | 'finishing' | 'closed' = 'connecting';
  /** Set after `finish`, while the last messages are awaited. */
  #end: { isLast(text: string): boolean; hasAnswer: boolean; done(): void } | undefined;
  #deadline: Timer | undefined;
  #keepalive: SlidingDeadline | undefined;
  #answer: Timer | undefined;
  #pings: PingWatchdog | undefined;
  readonly #received: ReceiveLimit;

  /** Never throws. A fault is reported after the constructor has returned. */
  constructor(options: VendorSocketOptions) {
    this.#options = options;
    const { clock, job, readyMsMax = READY_MS } = options;
    this.#url = options.url;
    this.#headers = options.headers ?? {};
    this.#secrets = options.secrets;
    this.#received = new ReceiveLimit(clock, receiveLimitsOf(job));
    if (options.locate === undefined) this.#connect(true);
    else void this.#locate(options.locate);
    this.#deadline = clock.after(readyMsMax, () => this.fail('timeout', 'not ready in time'));
  }

  /** Whether data is sent at once. False as soon as the service closes the connection, before the fault. */
  get isReady(): boolean {
    return this.#state === 'ready' && this.#socket?.readyState === WebSocket.OPEN;
  }

  get #isEnding(): boolean {
    return this.#state === 'finishing' || this.#state === 'closed';
  }

  /** Sends data, or queues it until the socket is ready. `data` must not change afterwards. */
  send(data: string | Uint8Array): void {
    if (this.#state === 'ready') this.#write(data);
    if (this.#state !== 'connecting') return;
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.fail('timeout', 'not ready in time');
    else this.#waiting.push(data);
  }

  /** Requires a message other than a pong within `ms`. A repeated call does not extend the time. */
  expectAnswer(ms: number): void {
    if (this.#isEnding || this.#answer !== undefined) return;
    this.#answer = this.#options.clock.after(ms, () => this.fail('timeout', 'no answer in time'));
  }

  /** Cancels `expectAnswer`. */
  expectNothing(): void {
    this.#answer?.cancel();
    this.#answer = undefined;
  }

  /** Ends the socket with a fault, which is reported to the listener. */
  fail(kind: FaultKind, detail: string, more: Partial<FaultDetails> = {}): void {
    if (this.#state === 'closed') return;
    const { job, service, listener } = this.#options;
    const redact = this.#secrets;
    this.#stop('closed');
    this.#socket?.terminate();
    serviceFaults.inc({ kind: job, service, fault: kind });
    listener.onFault(new ServiceFault(job, service, kind, { ...more, detail, redact }));
    this.#end?.done();
  }

  /** Sends `last` and closes. Reports nothing afterwards. */
  close(last?: string): void {
    const before = this.#state;
    if (before === 'closed') return;
    const socket = this.#socket;
    this.#stop('closed');
    if (before === 'ready' && last !== undefined) socket?.send(last, ignoreResult);
    if (before === 'connecting') socket?.terminate();
    else if (socket !== undefined) this.#part(socket);
    this.#end?.done();
  }

  /** Sends `last` and waits for the remaining messages: until `isOver` is true for one or the service closes, 2 s at
   *  most. Silence is no fault, others are reported. Then closes and resolves; never rejects. */
  finish(last: string | Uint8Array, isOver: (text: string) => boolean): Promise<void> {
    const socket = this.#socket;
    if (this.#state !== 'ready' || socket === undefined) {
      this.close();
      return Promise.resolve();
    }
    this.#stop('finishing');
    return new Promise((resolve) => {
      const deadline = this.#options.clock.after(CLOSE_MS_MAX, () => this.close());
      const done = (): void => {
        deadline.cancel();
        resolve();
      };
      this.#end = { isLast: isOver, hasAnswer: false, done };
      socket.send(last, ignoreResult);
    });
  }

  #part(socket: WebSocket): void {
    if (socket.readyState === WebSocket.CLOSED) return;
    socket.close(1000);
    const deadline = this.#options.clock.after(CLOSE_MS_MAX, () => socket.terminate());
    socket.once('close', () => deadline.cancel());
  }

  async #locate(locate: NonNullable<VendorSocketOptions['locate']>): Promise<void> {
    try {
      const located = await locate(this.#locating.signal);
      if (this.#state === 'closed') return;
      const url = URL.parse(located);
      const isTls = url?.protocol === 'wss:';
      if (url === null || (!isTls && (url.protocol !== 'ws:' || this.#url.startsWith('wss:')))) {
        this.fail('protocol', 'the address of the websocket is none, or without TLS');
        return;
      }
      this.#secrets = [...this.#secrets, located, ...url.searchParams.values()];
      this.#headers = {};
      this.#url = located;
      this.#connect(true);
    } catch (error) {
      this.#failed(error);
    }
  }

  #connect(mayBeWarm: boolean): void {
    const { egress, warm, clock } = this.#options;
    const url = this.#url;
    let socket: WebSocket;
    let ready: Duplex | undefined;
    try {
      // The rule concerns addresses only. Vocabularies in the query are long.
      egress.check((URL.parse(url)?.origin ?? '').replace(/^ws/, 'http'));
      ready = mayBeWarm ? warm?.take(url) : undefined;
      socket = new WebSocket(url, {
        headers: this.#headers,
        maxPayload: receiveLimitsOf(this.#options.job).messageBytesMax,
        perMessageDeflate: false,
        // Messages are JSON, which is checked by its parser.
        skipUTF8Validation: true,
        followRedirects: false,
        lookup: egress.lookup,
        // Called after the headers are checked: a connection opened earlier would leak on an error.
        ...(warm !== undefined && {
          createConnection: (): Duplex => ready ?? warm.connect(url),
        }),
      });
    } catch (error) {
      ready?.destroy();
      clock.after(0, () => this.#failed(error));
      return;
    }
    this.#socket = socket;
    if (ready !== undefined) {
      this.#warmDeadline = clock.after(WARM_MS_MAX, () => this.#replaceWarm());
    }
    const current = (work: () => void): void => {
      if (socket === this.#socket) work();
    };
    // A service may leave a connection half open after it has closed its side or sent the close message. Nothing
    // follows; earlier data is read first.
    socket.on('upgrade', ({ socket: connection }) => {
      for (const end of ['end', 'finish']) connection.once(end, () => socket.terminate());
    });
    socket.on('open', () => current(() => this.#opened(socket)));
    socket.on('message', (data, isBinary) =>
      current(() => this.#message(data as Buffer, isBinary)),
    );
    socket.on('unexpected-response', (request, response) =>
      current(() => this.#refused(request, response)),
    );
    socket.on('error', (error) =>
      current(() => {
        if (!this.#replaceWarm()) this.#failed(error);
      }),
    );
    socket.on('close', (code, reason) => current(() => this.#closed(code, reason.toString())));
  }

  /** Replaces the connection opened ahead by a fresh one. Returns false if the old one has answered. */
  #replaceWarm(): boolean {
    if (this.#warmDeadline === undefined || this.#state === 'closed') return false;
    this.#hasAnswered();
    const dead = this.#socket;
    this.#socket = undefined;
    dead?.terminate();
    this.#connect(false);
    return true;
  }

  #hasAnswered(): void {
    this.#warmDeadline?.cancel();
    this.#warmDeadline = undefined;
  }

  #refused(request: ClientRequest, response: IncomingMessage): void {
    this.#hasAnswered();
    const { statusCode: status = 0, headers: answer } = response;
    const after = retryAfterMs(answer['retry-after'], this.#options.clock.now());
    const parts: Buffer[] = [];
    let bytes = 0;
    response.on('data', (part: Buffer) => {
      if (bytes < REFUSAL_BYTES_MAX) parts.push(part);
      bytes += part.length;
      if (bytes >= REFUSAL_BYTES_MAX) request.destroy();
    });
    response.on('close', () => {
      const detail = Buffer.concat(parts).toString('utf8', 0, REFUSAL_BYTES_MAX);
      const more = { status, retryAfterMs: after };
      this.fail(faultKindOfRefusal(status, detail), vendorMessage(detail), more);
      request.destroy();
    });
  }

  #closed(code: number, reason: string): void {
    const isUsual = USUAL_ENDS.has(code) || (code === BROKEN && this.#end?.hasAnswer === true);
    const kind = faultKindOfClose(code, reason, this.#options.kindOfClose?.(code, reason));
    if (this.#end !== undefined && isUsual) this.close();
    else this.fail(kind, reason === '' ? `closed with ${code}` : reason, { status: code });
  }

  #failed(error: unknown): void {
    if (error instanceof ServiceFault) {
      const { kind, detail: words, retryAfterMs: after, facts } = error;
      const status = typeof facts['status'] === 'number' ? facts['status'] : undefined;
      this.fail(kind, words, { status, retryAfterMs: after });
      return;
    }
    const detail = error instanceof Error ? error.message : 'not connected';
    this.fail(faultKindOfError(error), detail, { cause: error });
  }

  #opened(socket: WebSocket): void {
    if (this.#state === 'closed') return;
    this.#hasAnswered();
    const { clock, isReadyMessage, opening = [] } = this.#options;
    this.#pings = new PingWatchdog(socket, clock, () => {
      this.fail('network', 'no answer to a ping');
    });
    for (const message of opening) socket.send(message, () => undefined);
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
    if (this.#end !== undefined) this.#end.hasAnswer = true;
    if (!this.#received.take(data.length)) {
      this.fail('protocol', 'more messages than a service has');
      return;
    }
    const { listener, isReadyMessage } = this.#options;
    try {
      if (isBinary) {
        listener.onBinary?.(data);
        return;
      }
      const text = data.toString();
      if (this.#state === 'connecting' && isReadyMessage?.(text) === true) this.#ready();
      listener.onText(text);
      if (this.#end?.isLast(text) === true) this.close();
    } catch (error) {
      // An error thrown in a socket event ends the process with all of its calls. If the listener ended the socket
      // before it threw, `fail` reports nothing.
      this.fail('protocol', 'a message that cannot be read', { cause: error });
    }
  }

  #write(data: string | Uint8Array): void {
    if (this.#state !== 'ready') return;
    this.#socket?.send(data, ignoreResult);
    if ((this.#socket?.bufferedAmount ?? 0) > BUFFERED_BYTES_MAX) {
      this.fail('overload', 'the service does not read what it is sent');
      return;
    }
    this.#awaitKeepalive();
  }

  #awaitKeepalive(): void {
    const { keepalive, clock } = this.#options;
    if (keepalive === undefined || this.#state !== 'ready') return;
    this.#keepalive ??= new SlidingDeadline(clock, () => this.#write(keepalive.message));
    this.#keepalive.set(keepalive.afterMs);
  }

  #stop(state: 'finishing' | 'closed'): void {
    this.#state = state;
    this.#locating.abort();
    this.#waiting.length = 0;
    this.#deadline?.cancel();
    this.#hasAnswered();
    this.#keepalive?.clear();
    this.expectNothing();
    this.#pings?.stop();
  }
}

/** Ignores the result of a send: a failure shows as the end of the connection. One function for all, since Node.js
 *  merges equal listeners. */
function ignoreResult(): void {
  // The socket reports the error.
}
