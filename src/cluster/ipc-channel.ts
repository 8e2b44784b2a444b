// One end of the inter-process channel (IPC): one-way messages, and requests with a reply or an error, each by its
// topic; all are bounded in size, number and time. The transport is separate.

import { codeOf, GatewayError, isErrorCode } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { type Random, systemRandom } from '../std/random.ts';
import {
  closeHandle,
  type IpcHandle,
  type IpcMessage,
  message,
  messageBytes,
} from './ipc-message.ts';

/** Outstanding requests, and requests being answered: starts of calls, and a few others. */
const ASKED_MAX = 5_000;
const ANSWERING_MAX = 5_000;
/** Limit of a process's first request number, which is random: a late reply to its dead predecessor must not match
 *  one of its own requests. */
const FIRST_ID_MAX = 2 ** 47;

export interface IpcTransport {
  /** Sends a message. Returns false if the other process is not running, or its queue is full. A passed connection
   *  is closed here, sent or not, unless `keepOpen` is set. */
  send(message: IpcMessage, handle: IpcHandle | undefined, keepOpen?: boolean): boolean;
  /** Receiver of messages, set once by the channel. `handle` comes with the message. */
  onMessage: (message: unknown, handle: IpcHandle | undefined) => void;
}

type OnNote = (body: unknown, about: { from: number; handle: IpcHandle | undefined }) => void;
type OnRequest = (body: unknown, handle: IpcHandle | undefined) => Promise<unknown>;

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
  #lastId: number;

  constructor(
    number: number,
    channel: IpcTransport,
    { clock, log, random = systemRandom }: { clock: Clock; log: Log; random?: Random },
  ) {
    this.number = number;
    this.#lastId = random.integer(FIRST_ID_MAX);
    this.#channel = channel;
    this.#clock = clock;
    this.#log = log;
    channel.onMessage = (text, handle) => this.#take(text, handle);
  }

  /** Sets the receiver of a topic's one-way messages. An error of `take` is logged, and the handle is closed. */
  onNotification(topic: string, take: OnNote): void {
    this.#notes.set(topic, take);
  }

  /** Sets the receiver of a topic's requests. A GatewayError of `answer` is thrown at the requesting process.
   *  `answer` owns the handle. */
  onRequest(topic: string, answer: OnRequest): void {
    this.#requests.set(topic, answer);
  }

  /** Sends a one-way message. Returns false if the other process is not running, or the message is too large. */
  notify(to: number, topic: string, body: unknown, handle?: IpcHandle): boolean {
    const bytes = messageBytes(body);
    if (bytes === undefined) {
      this.#log.error({ topic }, 'message to another process is too large');
      closeHandle(handle);
      return false;
    }
    return this.#send({ kind: 'note', from: this.number, to, bytes, topic, body }, handle);
  }

  /** Sends a request. Throws WORKER_GONE if the process is not running or ends meanwhile, TIMED_OUT after `ms`,
   *  QUEUE_FULL if nothing was sent because of too many requests or a message that is too large, and the errors of
   *  the other end. A `handle` stays open in this process too; the caller closes it after the request. */
  request(
    to: number,
    topic: string,
    body: unknown,
    ms: number,
    handle?: IpcHandle,
  ): Promise<unknown> {
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'requests to workers' }));
    }
    const bytes = messageBytes(body);
    if (bytes === undefined) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: `large messages: ${topic}` }));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(ms, () =>
        this.#settle(id)?.reject(new GatewayError('TIMED_OUT', { what: topic, ms })),
      );
      this.#asked.set(id, { to, resolve, reject, timer });
      const request: IpcMessage = {
        kind: 'request',
        from: this.number,
        to,
        bytes,
        id,
        topic,
        body,
      };
      if (!this.#send(request, handle, true)) this.#settle(id)?.reject(gone(to));
    });
  }

  /** Rejects outstanding requests to `worker`. */
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
        void this.#answer(taken, handle);
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
    if (take === undefined) {
      closeHandle(handle);
      return;
    }
    try {
      take(body, { from, handle });
    } catch (error) {
      closeHandle(handle);
      this.#log.error({ err: error, topic }, 'message of another process failed');
    }
  }

  /** Answers a request. Never rejects. */
  async #answer(
    { from, id, topic, body }: Extract<IpcMessage, { kind: 'request' }>,
    handle: IpcHandle | undefined,
  ): Promise<void> {
    const route = { from: this.number, to: from, id };
    this.#answering += 1;
    try {
      if (this.#answering > ANSWERING_MAX) {
        closeHandle(handle);
        throw new GatewayError('QUEUE_FULL', { queue: 'requests of other processes' });
      }
      const answer = this.#requests.get(topic);
      if (answer === undefined) {
        closeHandle(handle);
        throw new GatewayError('WORKER_FAILED', { worker: this.number });
      }
      const reply = await answer(body, handle);
      const bytes = messageBytes(reply);
      if (bytes === undefined) throw new Error('the reply is too large for another process');
      this.#send({ kind: 'reply', ...route, bytes, body: reply }, undefined);
    } catch (error) {
      const code = codeOf(error) ?? 'WORKER_FAILED';
      if (code === 'WORKER_FAILED') this.#log.error({ err: error, topic }, 'request failed');
      const facts = error instanceof GatewayError ? error.facts : { worker: this.number };
      const bytes = messageBytes(facts) ?? 0;
      this.#send({ kind: 'failure', ...route, bytes, code, facts }, undefined);
    } finally {
      this.#answering -= 1;
    }
  }

  #send(message: IpcMessage, handle: IpcHandle | undefined, keepOpen = false): boolean {
    try {
      return this.#channel.send(message, handle, keepOpen);
    } catch (error) {
      this.#log.error({ err: error, to: message.to }, 'message to another process not sent');
      return false;
    }
  }

  /** Removes an outstanding request; undefined if it was settled before. */
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
