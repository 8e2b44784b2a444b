// The socket over which Asterisk sends its events. Reconnects for ever with exponential backoff and jitter, and
// detects a half-open socket by pings. It does not parse events. Source: asterisk §0.19, §4, §5.

import { WebSocket } from 'ws';
import { createEgress, type Egress } from '../../../egress/egress-rule.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { PingWatchdog } from '../../../std/ping-watchdog.ts';
import type { Random } from '../../../std/random.ts';
import { type AriAccount, basicAuth, restUrl } from '../rest/config.ts';
import { ARI_MESSAGE_BYTES_MAX, type AriSocket, type AriSocketListener } from './ari-socket.ts';
import { type ConnectionFault, connectionFault, refusalFault } from './connection-fault.ts';

/** The shortest and the longest pause before a reconnect, and the time after which a link counts as stable. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 15_000;
/** Time after the loss of a link during which the pauses are short, because calls wait for it. */
const LOST_MS = 10_000;
const LOST_PAUSE_MS_MAX = 1_000;
/** Pause after a permanent fault: a wrong password does not get better by retries, and some PBXs ban clients that retry
 *  often. */
const PERMANENT_PAUSE_MS = 30_000;
/** Pause after the application was taken: two gateways that take it from each other in turn would both lose calls. */
const TAKEN_PAUSE_MS = 300_000;
/** Pause between two looks whether the other client has left, or the user may write. */
const LOOK_MS = 4_000;
const GOOD_MS = 30_000;
const OPEN_MS_MAX = 10_000;

/** Questions to the PBX while it is not connected. They must not reject. Default: unknown. */
export interface EventSocketAsks {
  /** Whether no client is connected as the application. */
  isFree?: () => Promise<boolean>;
  /** Whether our user may write. */
  mayWrite?: () => Promise<boolean>;
}

export class EventSocket implements AriSocket {
  readonly #account: AriAccount;
  readonly #egress: Egress;
  readonly #asks: EventSocketAsks;
  readonly #onConnected: (address: string | undefined) => void;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #listener: AriSocketListener;
  #socket: WebSocket | undefined;
  #timer: Timer | undefined;
  #failures = 0;
  #openedAt: number | undefined;
  #lostAt = Number.NEGATIVE_INFINITY;
  #pings: PingWatchdog | undefined;
  #closed = false;

  constructor(deps: {
    account: AriAccount;
    /** Default: the rules for closed sign-up. */
    egress?: Egress;
    /** Asterisk accepted the login, at that address. */
    onConnected?: (address: string | undefined) => void;
    asks?: EventSocketAsks;
    clock: Clock;
    random: Random;
    listener: AriSocketListener;
  }) {
    this.#account = deps.account;
    this.#egress = deps.egress ?? createEgress();
    this.#asks = deps.asks ?? {};
    this.#onConnected = deps.onConnected ?? (() => undefined);
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#listener = deps.listener;
    this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#pings?.stop();
    this.#socket?.terminate();
  }

  reopen(fault: ConnectionFault): void {
    if (this.#socket !== undefined) this.#down(this.#socket, fault);
  }

  #open(): void {
    try {
      this.#egress.check(restUrl(this.#account));
    } catch (error) {
      this.#refused(error);
      return;
    }
    const base = restUrl(this.#account).replace(/^http/, 'ws');
    const socket = new WebSocket(`${base}/events?app=${encodeURIComponent(this.#account.app)}`, {
      headers: { authorization: basicAuth(this.#account) },
      maxPayload: ARI_MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      lookup: this.#egress.lookup,
    });
    this.#socket = socket;
    this.#openedAt = undefined;
    this.#wait(OPEN_MS_MAX, () => this.#down(socket, connectionFault(this.#account, 'late')));
    socket.once('upgrade', ({ socket: { remoteAddress } }) => this.#onConnected(remoteAddress));
    socket.on('open', () => this.#opened(socket));
    socket.on('message', (data) => {
      if (socket === this.#socket) this.#listener.onMessage(String(data));
    });
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      this.#down(socket, refusalFault(this.#account, response.statusCode ?? 0));
    });
    socket.on('error', (error) => this.#down(socket, connectionFault(this.#account, error)));
    socket.on('close', () => this.#down(socket, connectionFault(this.#account, 'closed')));
  }

  /** The address is not allowed, so no connection is made. It is tried again later, as the rule may change with the
   *  next start. */
  #refused(error: unknown): void {
    this.#failures += 1;
    const fault = connectionFault(this.#account, error instanceof Error ? error : 'closed');
    this.#wait(this.#pauseMs(fault), () => this.#open());
    this.#clock.after(0, () => {
      if (!this.#closed) this.#listener.onDown(fault);
    });
  }

  #opened(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#openedAt = this.#clock.monotonicMs();
    this.#timer?.cancel();
    const onDead = (): void => this.#down(socket, connectionFault(this.#account, 'silent'));
    this.#pings = new PingWatchdog(socket, this.#clock, onDead);
    this.#listener.onOpen();
  }

  #down(socket: WebSocket, fault: ConnectionFault): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#timer?.cancel();
    this.#pings?.stop();
    socket.on('error', () => undefined);
    socket.terminate();
    if (this.#closed) return;
    const wasGood =
      this.#openedAt !== undefined && this.#clock.monotonicMs() - this.#openedAt >= GOOD_MS;
    if (this.#openedAt !== undefined) this.#lostAt = this.#clock.monotonicMs();
    this.#openedAt = undefined;
    this.#failures = wasGood ? 1 : this.#failures + 1;
    this.#wait(this.#pauseMs(fault), () => this.#open());
    if (fault.code === 'PBX_APP_TAKEN') this.#lookWhetherFree();
    // While the socket is open Asterisk passes callers to us, whom we could not answer.
    if (fault.code === 'PBX_READ_ONLY') this.#lookWhetherWriter();
    this.#listener.onDown(fault);
  }

  /** Connects when our user may write. */
  #lookWhetherWriter(): void {
    const { mayWrite } = this.#asks;
    if (mayWrite === undefined) return;
    this.#wait(LOOK_MS, () => {
      const waiting = this.#timer;
      void mayWrite().then((isWriter) => {
        if (this.#closed || waiting !== this.#timer) return;
        if (isWriter) this.#open();
        else this.#lookWhetherWriter();
      });
    });
  }

  /** Looks, until the next attempt to connect, whether the other client has left. */
  #lookWhetherFree(): void {
    const { isFree } = this.#asks;
    const waiting = this.#timer;
    if (isFree === undefined || waiting === undefined) return;
    const isOver = (): boolean => this.#closed || waiting !== this.#timer;
    const take = (hasNoClient: boolean): void => {
      if (isOver()) return;
      if (hasNoClient) this.#wait(0, () => this.#open());
      else this.#lookWhetherFree();
    };
    this.#clock.after(LOOK_MS, () => {
      if (!isOver()) void isFree().then(take);
    });
  }

  /** Exponential backoff: doubles with each failure, with jitter between half of it and all. */
  #pauseMs({ code, isPermanent }: ConnectionFault): number {
    const isJustLost = this.#clock.monotonicMs() - this.#lostAt < LOST_MS;
    const growing = Math.min(
      isJustLost ? LOST_PAUSE_MS_MAX : PAUSE_MS_MAX,
      PAUSE_MS * 2 ** Math.min(10, this.#failures - 1),
    );
    const lasting = code === 'PBX_APP_TAKEN' ? TAKEN_PAUSE_MS : PERMANENT_PAUSE_MS;
    const whole = isPermanent ? lasting : growing;
    return whole / 2 + this.#random.integer(Math.ceil(whole / 2));
  }

  #wait(ms: number, then: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(ms, then);
  }
}
