// What the fakes of streaming recognisers share: the connection with its faults, the words in the audio, the record of
// what a client did. A protocol is a class that answers audio and messages.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Clock } from '../../../src/std/clock.ts';
import { isObject, parseJson } from '../../../src/std/json.ts';
import { type HeardWord, WordFinder } from '../call/spoken-words.ts';
import type { Certificate } from '../certificates.ts';
import { type Refusal, type ServiceConnection, startSocketService } from './service-socket.ts';

/** What goes wrong with one connection. Times are milliseconds of its audio. */
export interface SttFaults {
  connectDelayMs?: number;
  refuse?: Refusal;
  /** The connection breaks in place of the answer to the upgrade. */
  isReset?: boolean;
  ready?: 'late' | 'never';
  /** Silent with TCP open: neither messages nor pongs. */
  muteAtMs?: number;
  /** No messages; pongs as usual. */
  stallAtMs?: number;
  close?: { atMs: number; code: number; reason?: string };
  closeOnFinalize?: number;
  /** `swapped`: every second one comes before the one in front of it. */
  finals?: 'never' | 'late' | 'twice' | 'empty' | 'swapped';
  /** Every second interim result lacks its last word, or has another one in its place. */
  partials?: 'shrink' | 'revise';
  send?: { atMs: number; data: string | Uint8Array };
  /** The longest session of the service, in time. */
  sessionMsMax?: number;
}

export const LATE_MS = 3_000;

export interface SttServerOptions {
  clock: Clock;
  key: string;
  /** By connection, in their order. */
  faults?: readonly SttFaults[] | ((nth: number) => SttFaults);
  /** More at a time are refused with 429. */
  sessionsMax?: number;
  /** The longest session. */
  sessionMsMax?: number;
  /** Finds the words in the audio of one session. Default: those of fakes/call/spoken-words.ts. */
  finder?: () => AudioWords;
  /** A session begins. */
  onSession?: (session: SttSession) => void;
  /** A final goes out that answers the client. */
  onFinal?: (finder: AudioWords) => void;
  tls?: Certificate;
  /** False: sessions and messages are not kept. Default: true. */
  isRecording?: boolean;
}

/** What finds the words in the µ-law audio of one session. */
export interface AudioWords {
  readonly positionMs: number;
  /** Since the last word, or since the begin. 0 within a word. */
  readonly silenceMs: number;
  /** The words that end in these bytes. */
  push(bytes: Uint8Array): HeardWord[];
}

export interface Protocol {
  /** In place of the upgrade. */
  check(request: IncomingMessage, url: URL): Refusal | undefined;
  /** The answer to a POST before the connection. `origin`: of the server's websockets. Default: 404. */
  post?(request: IncomingMessage, url: URL, sent: { body: unknown; origin: string }): Refusal;
  open(session: SttSession): SessionHandler;
}

export interface SessionHandler {
  audio(words: readonly HeardWord[], bytes: number): void;
  message(message: Record<string, unknown>): void;
  /** Binary audio as µ-law. Default: it is. */
  ulaw?(data: Buffer): Uint8Array;
  /** Text that is no JSON; false where the protocol has none. */
  text?(text: string): boolean;
  /** `sessionMsMax` is over. */
  expired(): void;
}

export class SttSession {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly faults: SttFaults;
  readonly clock: Clock;
  readonly finder: AudioWords;
  /** Messages of the client, parsed. */
  readonly received: Record<string, unknown>[] = [];
  audioBytes = 0;
  /** The length of each packet of audio, in milliseconds. */
  readonly packetsMs: number[] = [];
  isOpen = true;
  readonly openedAt: number;
  /** Monotonic, as `openedAt`; undefined while it is open. */
  closedAt: number | undefined;
  readonly #connection: ServiceConnection;
  readonly #violations: string[];
  readonly #onFinal: SttServerOptions['onFinal'];
  #hasSent = false;
  #interims = 0;
  /** A final that waits for the next one. */
  #held: (() => void) | undefined;

  constructor(deps: {
    connection: ServiceConnection;
    faults: SttFaults;
    clock: Clock;
    violations: string[];
    finder?: AudioWords | undefined;
    onFinal?: SttServerOptions['onFinal'];
  }) {
    this.finder = deps.finder ?? new WordFinder();
    this.#onFinal = deps.onFinal;
    this.#connection = deps.connection;
    this.#violations = deps.violations;
    this.faults = deps.faults;
    this.clock = deps.clock;
    this.openedAt = deps.clock.monotonicMs();
    this.url = new URL(deps.connection.request.url ?? '/', 'ws://fake');
    this.headers = deps.connection.request.headers;
    deps.connection.socket.on('ping', (data) => {
      if (!this.#isPast(this.faults.muteAtMs)) deps.connection.socket.pong(data);
    });
    deps.connection.socket.on('close', () => {
      this.isOpen = false;
      this.closedAt = deps.clock.monotonicMs();
    });
  }

  get audioMs(): number {
    return this.finder.positionMs;
  }

  send(message: Record<string, unknown>): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    if (this.#isPast(this.faults.muteAtMs) || this.#isPast(this.faults.stallAtMs)) return;
    if (this.isOpen) this.#connection.socket.send(text);
  }

  /** Words that are not final, as the faults want them. */
  interim(words: readonly HeardWord[]): readonly HeardWord[] {
    const last = words.at(-1);
    this.#interims += 1;
    const { partials } = this.faults;
    if (last === undefined || partials === undefined || this.#interims % 2 === 1) return words;
    const before = words.slice(0, -1);
    return partials === 'shrink' ? before : [...before, { ...last, word: 'revised' }];
  }

  /** A final, as the faults want it. */
  sendFinal(message: Record<string, unknown>, empty: Record<string, unknown>): void {
    const { finals } = this.faults;
    if (finals === 'never') return;
    const given = finals === 'empty' ? empty : message;
    this.#onFinal?.(this.finder);
    if (finals === 'late') this.clock.after(LATE_MS, () => this.send(given));
    else this.inTurn(() => this.send(given));
    if (finals === 'twice') this.send(given);
  }

  /** Sends a final in its order, or as the faults want it. */
  inTurn(send: () => void): void {
    const held = this.#held;
    this.#held = undefined;
    if (this.faults.finals === 'swapped' && held === undefined) this.#held = send;
    else {
      send();
      held?.();
    }
  }

  /** 1006: without a close message; 1005: with one that has no code. */
  close(code: number, reason = ''): void {
    this.isOpen = false;
    if (code === 1006) this.#connection.socket.terminate();
    else if (code === 1005) this.#connection.socket.close();
    else this.#connection.socket.close(code, reason);
  }

  /** Audio inside a message, µ-law. */
  hear(data: Uint8Array): readonly HeardWord[] {
    this.audioBytes += data.length;
    this.packetsMs.push(data.length / 8);
    const words = this.finder.push(data);
    this.misbehave();
    return words;
  }

  /** The client broke the protocol. */
  violates(what: string, code: number): void {
    this.#violations.push(what);
    this.close(code, what);
  }

  /** What is due at this position of the audio. */
  misbehave(): void {
    const { close, send } = this.faults;
    if (send !== undefined && !this.#hasSent && this.audioMs >= send.atMs) {
      this.#hasSent = true;
      this.#connection.socket.send(send.data);
    }
    if (close !== undefined && this.isOpen && this.audioMs >= close.atMs) {
      this.close(close.code, close.reason);
    }
  }

  #isPast(atMs: number | undefined): boolean {
    return atMs !== undefined && this.audioMs >= atMs;
  }
}

export interface SttServer {
  url: string;
  sessions: SttSession[];
  /** What clients did against the protocol. */
  violations: string[];
  /** Answers of the upgrade other than a connection. */
  refusals: number[];
  /** Requests before the connections. */
  posts: { url: string | undefined; headers: IncomingHttpHeaders; body: unknown }[];
  /** Connections that clients have asked for. */
  attempts(): number;
  close(): Promise<void>;
}

export async function startSttServer(
  options: SttServerOptions,
  protocol: Protocol,
): Promise<SttServer> {
  const { clock } = options;
  const sessions: SttSession[] = [];
  const violations: string[] = [];
  const refusals: number[] = [];
  const posts: SttServer['posts'] = [];
  let attempts = 0;
  const faultsOf = new WeakMap<IncomingMessage, SttFaults>();
  const isRecording = options.isRecording ?? true;
  const service = await startSocketService({
    autoPong: false,
    tls: options.tls,
    isRecording,
    hold(request) {
      const { faults: given = [] } = options;
      const faults = (typeof given === 'function' ? given(attempts) : given[attempts]) ?? {};
      attempts += 1;
      faultsOf.set(request, faults);
      const { connectDelayMs } = faults;
      if (faults.isReset === true) request.socket.destroy();
      if (connectDelayMs === undefined) return undefined;
      return new Promise((resolve) => clock.after(connectDelayMs, resolve));
    },
    onRequest: async (request, response) => {
      const url = new URL(request.url ?? '/', 'http://fake');
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const body = parseJson(Buffer.concat(parts).toString());
      if (isRecording) posts.push({ url: request.url, headers: request.headers, body });
      const answer = protocol.post?.(request, url, { body, origin: service.url }) ?? NOT_FOUND;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    },
    refuse(request) {
      const url = new URL(request.url ?? '/', 'ws://fake');
      const open = sessions.filter(({ isOpen }) => isOpen).length;
      const refusal =
        faultsOf.get(request)?.refuse ??
        protocol.check(request, url) ??
        (open >= (options.sessionsMax ?? Number.POSITIVE_INFINITY) ? TOO_MANY : undefined);
      if (refusal !== undefined) refusals.push(refusal.status);
      return refusal;
    },
    onConnection(connection) {
      const faults = faultsOf.get(connection.request) ?? {};
      const { onFinal } = options;
      const finder = options.finder?.();
      const session = new SttSession({ connection, faults, clock, violations, finder, onFinal });
      if (isRecording) sessions.push(session);
      options.onSession?.(session);
      const handler = protocol.open(session);
      const sessionMsMax = faults.sessionMsMax ?? options.sessionMsMax;
      if (sessionMsMax !== undefined) {
        clock.after(sessionMsMax, () => {
          if (session.isOpen) handler.expired();
        });
      }
      connection.socket.on('message', (data: Buffer, isBinary) => {
        if (!session.isOpen) return;
        if (isBinary) receiveAudio(session, handler, data);
        else receiveText(session, handler, data.toString(), isRecording);
      });
    },
  });
  return {
    url: service.url,
    sessions,
    violations,
    refusals,
    posts,
    attempts: () => attempts,
    close: () => service.close(),
  };
}

const NOT_FOUND: Refusal = { status: 404, body: '{}' };
const TOO_MANY: Refusal = {
  status: 429,
  body: '{"err_code":"TOO_MANY_REQUESTS","err_msg":"Too many requests."}',
  headers: { 'retry-after': '5' },
};

function receiveAudio(session: SttSession, handler: SessionHandler, data: Buffer): void {
  session.audioBytes += data.length;
  const samples = handler.ulaw?.(data) ?? data;
  session.packetsMs.push(samples.length / 8);
  handler.audio(session.finder.push(samples), data.length);
  session.misbehave();
}

function receiveText(
  session: SttSession,
  handler: SessionHandler,
  text: string,
  isRecording: boolean,
): void {
  if (handler.text?.(text) === true) return;
  const message = parseJson(text);
  if (!isObject(message)) {
    session.violates('text that is no JSON object', 1008);
    return;
  }
  if (isRecording) session.received.push(message);
  handler.message(message);
}
