// One process's end of the talk between the processes of a gateway: notes, and requests with an answer
// or an error, each by its topic. How messages travel is the channel's business.

import type { Socket } from 'node:net';
import { codeOf, GatewayError, isErrorCode } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { type IpcMessage, message } from './ipc-message.ts';

/** Requests that may be unanswered: calls that begin, and a few. */
const ASKED_MAX = 5_000;

export interface IpcTransport {
  /** False if nobody is there; `socket`, if there is one, is closed then. */
  send(message: IpcMessage, socket: Socket | undefined): boolean;
  /** Set once, by the link. `socket` is handed over with the message. */
  onMessage: (message: unknown, socket: Socket | undefined) => void;
}

type OnNote = (body: unknown, about: { from: number; socket: Socket | undefined }) => void;
type OnRequest = (body: unknown) => Promise<unknown>;

interface Asked {
  to: number;
  resolve(body: unknown): void;
  reject(error: unknown): void;
  timer: Timer;
}

export class IpcChannel {
  readonly number: number;
  readonly #channel: IpcTransport;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #notes = new Map<string, OnNote>();
  readonly #requests = new Map<string, OnRequest>();
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;

  constructor(number: number, channel: IpcTransport, { clock, log }: { clock: Clock; log: Log }) {
    this.number = number;
    this.#channel = channel;
    this.#clock = clock;
    this.#log = log;
    channel.onMessage = (text, socket) => this.#take(text, socket);
  }

  onNotification(topic: string, take: OnNote): void {
    this.#notes.set(topic, take);
  }

  /** What `answer` throws is thrown where it was asked, if it is one of our errors. */
  onRequest(topic: string, answer: OnRequest): void {
    this.#requests.set(topic, answer);
  }

  /** False if nobody is there to read it. */
  notify(to: number, topic: string, body: unknown, socket?: Socket): boolean {
    return this.#channel.send({ kind: 'note', from: this.number, to, topic, body }, socket);
  }

  /** Throws WORKER_GONE if nobody is there or leaves meanwhile, TIMED_OUT after `ms`, and what the other
   *  end throws. */
  request(to: number, topic: string, body: unknown, ms: number): Promise<unknown> {
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'requests to workers' }));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(ms, () =>
        this.#settle(id)?.reject(new GatewayError('TIMED_OUT', { what: topic, ms })),
      );
      this.#asked.set(id, { to, resolve, reject, timer });
      const request: IpcMessage = { kind: 'request', from: this.number, to, id, topic, body };
      if (!this.#channel.send(request, undefined)) this.#settle(id)?.reject(gone(to));
    });
  }

  /** Whoever waits for an answer of `worker` need not wait any more. */
  peerLost(worker: number): void {
    for (const [id, { to }] of this.#asked) {
      if (to === worker) this.#settle(id)?.reject(gone(worker));
    }
  }

  #take(text: unknown, socket: Socket | undefined): void {
    const parsed = message.safeParse(text);
    if (!parsed.success) {
      socket?.destroy();
      this.#log.error({ problem: parsed.error.message }, 'message of another process not read');
      return;
    }
    const taken = parsed.data;
    switch (taken.kind) {
      case 'note':
        this.#takeNote(taken, socket);
        break;
      case 'request':
        void this.#answer(taken);
        break;
      case 'reply':
        this.#settle(taken.id)?.resolve(taken.body);
        break;
      case 'failure': {
        const { id, code, facts } = taken;
        const known = isErrorCode(code) ? code : 'WORKER_FAILED';
        this.#settle(id)?.reject(new GatewayError(known, facts));
      }
    }
  }

  #takeNote({ topic, body, from }: Extract<IpcMessage, { kind: 'note' }>, socket?: Socket): void {
    const take = this.#notes.get(topic);
    if (take === undefined) socket?.destroy();
    else take(body, { from, socket });
  }

  /** Never rejects. */
  async #answer({
    from,
    id,
    topic,
    body,
  }: Extract<IpcMessage, { kind: 'request' }>): Promise<void> {
    const route = { from: this.number, to: from, id };
    try {
      const answer = this.#requests.get(topic);
      if (answer === undefined) throw new GatewayError('WORKER_FAILED', { worker: this.number });
      const reply = await answer(body);
      this.#channel.send({ kind: 'reply', ...route, body: reply }, undefined);
    } catch (error) {
      const code = codeOf(error) ?? 'WORKER_FAILED';
      if (code === 'WORKER_FAILED') this.#log.error({ err: error, topic }, 'request failed');
      const facts = error instanceof GatewayError ? error.facts : { worker: this.number };
      this.#channel.send({ kind: 'failure', ...route, code, facts }, undefined);
    }
  }

  /** Undefined if it was settled before. */
  #settle(id: number): Asked | undefined {
    const asked = this.#asked.get(id);
    asked?.timer.cancel();
    this.#asked.delete(id);
    return asked;
  }
}

function gone(worker: number): GatewayError {
  return new GatewayError('WORKER_GONE', { worker });
}
