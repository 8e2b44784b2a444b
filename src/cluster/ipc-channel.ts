// One end of the inter-process channel (IPC): one-way messages, and requests with a reply or an error, each by its
// topic; all are bounded in size, number and time. The transport is separate: pipes between the processes of a gateway,
// Redis between gateways.

import { codeOf, GatewayError, isErrorCode } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';
import { type Random, systemRandom } from '../std/random.ts';
import {
  type Address,
  closeHandle,
  type IpcHandle,
  type IpcMessage,
  MESSAGE_BYTES_MAX,
  messageBytes,
} from './ipc-message.ts';

/** Outstanding requests, and requests being answered: starts of calls, and a few others. */
const ASKED_MAX = 5_000;
const ANSWERING_MAX = 5_000;
/** Limit of a process's first request number, which is random: a late reply to its dead predecessor must not match
 *  one of its own requests. */
const FIRST_ID_MAX = 2 ** 47;

export interface IpcTransport<A extends Address = number> {
  /** Sends a message. Returns false if the other process is not running, or its queue is full. A passed connection
   *  is closed here, sent or not, unless `keepOpen` is set. */
  send(message: IpcMessage<A>, handle: IpcHandle | undefined, keepOpen?: boolean): boolean;
  /** Receiver of messages, set once by the channel. `handle` comes with the message. */
  onMessage: (message: IpcMessage<A>, handle: IpcHandle | undefined) => void;
}

type OnNote<A> = (body: unknown, about: { from: A; handle: IpcHandle | undefined }) => void;
type OnRequest = (body: unknown, handle: IpcHandle | undefined) => Promise<unknown>;

interface Asked<A> {
  to: A;
  resolve(body: unknown): void;
  reject(error: unknown): void;
  timer: Timer;
}

export interface IpcChannelOptions {
  clock: Clock;
  log: Log;
  random?: Random;
  /** Largest body of a message, by `messageBytes`. */
  bytesMax?: number;
}

export class IpcChannel<A extends Address = number> {
  readonly address: A;
  readonly #channel: IpcTransport<A>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bytesMax: number;
  readonly #notes = new Map<string, OnNote<A>>();
  readonly #requests = new Map<string, OnRequest>();
  readonly #asked = new Map<number, Asked<A>>();
  #answering = 0;
  #lastId: number;

  constructor(address: NoInfer<A>, channel: IpcTransport<A>, options: IpcChannelOptions) {
    const { clock, log, random = systemRandom, bytesMax = MESSAGE_BYTES_MAX } = options;
    this.address = address;
    this.#lastId = random.integer(FIRST_ID_MAX);
    this.#channel = channel;
    this.#clock = clock;
    this.#log = log;
    this.#bytesMax = bytesMax;
    channel.onMessage = (message, handle) => this.#take(message, handle);
  }

  /** Sets the receiver of a topic's one-way messages. An error of `take` is logged, and the handle is closed. */
  onNotification(topic: string, take: OnNote<A>): void {
    this.#notes.set(topic, take);
  }

  /** Sets the receiver of a topic's requests. A GatewayError of `answer` is thrown at the requesting process.
   *  `answer` owns the handle. */
  onRequest(topic: string, answer: OnRequest): void {
    this.#requests.set(topic, answer);
  }

  /** Sends a one-way message. Returns false if the other process is not running, or the message is too large. */
  notify(to: A, topic: string, body: unknown, handle?: IpcHandle): boolean {
    const bytes = messageBytes(body, this.#bytesMax);
    if (bytes === undefined) {
      this.#log.error({ topic }, 'message to another process is too large');
      closeHandle(handle);
      return false;
    }
    return this.#send({ kind: 'note', from: this.address, to, bytes, topic, body }, handle);
  }

  /** Sends a request. Throws WORKER_GONE if the process is not running or ends meanwhile, TIMED_OUT after `ms`,
   *  QUEUE_FULL if nothing was sent because of too many requests or a message that is too large, and the errors of
   *  the other end. A `handle` stays open in this process too; the caller closes it after the request. */
  request(to: A, topic: string, body: unknown, ms: number, handle?: IpcHandle): Promise<unknown> {
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'requests to workers' }));
    }
    const bytes = messageBytes(body, this.#bytesMax);
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
      const request: IpcMessage<A> = {
        kind: 'request',
        from: this.address,
        to,
        bytes,
        id,
        topic,
        body,
      };
      if (!this.#send(request, handle, true)) this.#settle(id)?.reject(gone(to));
    });
  }

  /** Rejects outstanding requests to `peer`. */
  peerLost(peer: A): void {
    for (const [id, { to }] of this.#asked) {
      if (to === peer) this.#settle(id)?.reject(gone(peer));
    }
  }

  #take(taken: IpcMessage<A>, handle: IpcHandle | undefined): void {
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
    { topic, body, from }: Extract<IpcMessage<A>, { kind: 'note' }>,
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
    { from, id, topic, body }: Extract<IpcMessage<A>, { kind: 'request' }>,
    handle: IpcHandle | undefined,
  ): Promise<void> {
    const route = { from: this.address, to: from, id };
    this.#answering += 1;
    try {
      if (this.#answering > ANSWERING_MAX) {
        closeHandle(handle);
        throw new GatewayError('QUEUE_FULL', { queue: 'requests of other processes' });
      }
      const answer = this.#requests.get(topic);
      if (answer === undefined) {
        closeHandle(handle);
        throw new GatewayError('WORKER_FAILED', { worker: this.address });
      }
      const reply = await answer(body, handle);
      const bytes = messageBytes(reply, this.#bytesMax);
      if (bytes === undefined) throw new Error('the reply is too large for another process');
      this.#send({ kind: 'reply', ...route, bytes, body: reply }, undefined);
    } catch (error) {
      const code = codeOf(error) ?? 'WORKER_FAILED';
      if (code === 'WORKER_FAILED') this.#log.error({ err: error, topic }, 'request failed');
      const facts = error instanceof GatewayError ? error.facts : { worker: this.address };
      const bytes = messageBytes(facts) ?? 0;
      this.#send({ kind: 'failure', ...route, bytes, code, facts }, undefined);
    } finally {
      this.#answering -= 1;
    }
  }

  #send(message: IpcMessage<A>, handle: IpcHandle | undefined, keepOpen = false): boolean {
    try {
      return this.#channel.send(message, handle, keepOpen);
    } catch (error) {
      this.#log.error({ err: error, to: message.to }, 'message to another process not sent');
      return false;
    }
  }

  /** Removes an outstanding request; undefined if it was settled before. */
  #settle(id: number): Asked<A> | undefined {
    const asked = this.#asked.get(id);
    asked?.timer.cancel();
    this.#asked.delete(id);
    return asked;
  }
}

function gone(worker: Address): GatewayError {
  return new GatewayError('WORKER_GONE', { worker });
}
