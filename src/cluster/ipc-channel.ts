// One end of the inter-process channel (IPC): one-way messages, and requests with a reply or an error, each by its
// topic; all are bounded in size, number and time. The transport is separate.

import { codeOf, GatewayError, isErrorCode } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { closeHandle, type IpcHandle, type IpcMessage, message } from './ipc-message.ts';
import { isWithinLimit } from './message-size.ts';

/** Outstanding requests, and requests being answered: starting calls, and a few others. */
const ASKED_MAX = 5_000;
const ANSWERING_MAX = 5_000;

export interface IpcTransport {
  /** False if the other process is not there; a passed connection is closed then. */
  send(message: IpcMessage, handle: IpcHandle | undefined): boolean;
  /** Set once, by the channel. `handle` comes with the message. */
  onMessage: (message: unknown, handle: IpcHandle | undefined) => void;
}

type OnNote = (body: unknown, about: { from: number; handle: IpcHandle | undefined }) => void;
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
  #answering = 0;
  #lastId = 0;

  constructor(number: number, channel: IpcTransport, { clock, log }: { clock: Clock; log: Log }) {
    this.number = number;
    this.#channel = channel;
    this.#clock = clock;
    this.#log = log;
    channel.onMessage = (text, handle) => this.#take(text, handle);
  }

  onNotification(topic: string, take: OnNote): void {
    this.#notes.set(topic, take);
  }

  /** An error of `answer` that is one of ours is thrown at the requesting process. */
  onRequest(topic: string, answer: OnRequest): void {
    this.#requests.set(topic, answer);
  }

  /** False if the other process is not there, or the message is too large. */
  notify(to: number, topic: string, body: unknown, handle?: IpcHandle): boolean {
    if (!isWithinLimit(body)) {
      this.#log.error({ topic }, 'message to another process is too large');
      if (handle !== undefined) closeHandle(handle);
      return false;
    }
    return this.#channel.send({ kind: 'note', from: this.number, to, topic, body }, handle);
  }

  /** Throws WORKER_GONE if the process is not there or ends meanwhile, TIMED_OUT after `ms`, QUEUE_FULL if
   *  nothing was sent because of too many requests or a message that is too large, and the errors of the other
   *  end. */
  request(to: number, topic: string, body: unknown, ms: number): Promise<unknown> {
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'requests to workers' }));
    }
    if (!isWithinLimit(body)) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: `large messages: ${topic}` }));
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

  /** Outstanding requests to `worker` fail. */
  peerLost(worker: number): void {
    for (const [id, { to }] of this.#asked) {
      if (to === worker) this.#settle(id)?.reject(gone(worker));
    }
  }

  #take(text: unknown, handle: IpcHandle | undefined): void {
    const parsed = message.safeParse(text);
    if (!parsed.success) {
      closeHandle(handle);
      this.#log.error({ problem: parsed.error.message }, 'message of another process not read');
      return;
    }
    const taken = parsed.data;
    switch (taken.kind) {
      case 'note':
        this.#takeNote(taken, handle);
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

  #takeNote(
    { topic, body, from }: Extract<IpcMessage, { kind: 'note' }>,
    handle: IpcHandle | undefined,
  ): void {
    const take = this.#notes.get(topic);
    if (take === undefined) closeHandle(handle);
    else take(body, { from, handle });
  }

  /** Never rejects. */
  async #answer({
    from,
    id,
    topic,
    body,
  }: Extract<IpcMessage, { kind: 'request' }>): Promise<void> {
    const route = { from: this.number, to: from, id };
    this.#answering += 1;
    try {
      if (this.#answering > ANSWERING_MAX) {
        throw new GatewayError('QUEUE_FULL', { queue: 'requests of other processes' });
      }
      const answer = this.#requests.get(topic);
      if (answer === undefined) throw new GatewayError('WORKER_FAILED', { worker: this.number });
      const reply = await answer(body);
      if (!isWithinLimit(reply)) throw new Error('the reply is too large for another process');
      this.#channel.send({ kind: 'reply', ...route, body: reply }, undefined);
    } catch (error) {
      const code = codeOf(error) ?? 'WORKER_FAILED';
      if (code === 'WORKER_FAILED') this.#log.error({ err: error, topic }, 'request failed');
      const facts = error instanceof GatewayError ? error.facts : { worker: this.number };
      this.#channel.send({ kind: 'failure', ...route, code, facts }, undefined);
    } finally {
      this.#answering -= 1;
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
