// What every fake provider has: the server of its REST interface, and the course of the calls that the gateway places.
// What the interface answers, webhooks and documents are each provider's.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { accountState, answerHeaders } from './account-state.ts';
import { Conferences } from './conferences.ts';
import type { HostedCall } from './hosted-call.ts';
import type { HostedFakeOptions, Mischief } from './hosted-fake.ts';

/** From the dial to the first ring, and from the answer to a verdict about who answered. */
const RING_AFTER_MS = 50;
export const VERDICT_AFTER_MS = 1_500;
const BODY_BYTES_MAX = 1024 * 1024;
/** Longest timer of Node, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface RestQuestion {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  authorization: string;
  body: string;
}

export interface FakeProviderOptions
  extends Pick<HostedFakeOptions, 'port' | 'host' | 'reach' | 'mischief'> {
  clock?: Clock;
}

export abstract class FakeProvider<C extends HostedCall> {
  readonly state = accountState();
  protected readonly conferences = new Conferences();
  protected readonly clock: Clock;
  /** Where a public URL is really reached. */
  protected readonly reach: (url: string) => string;
  protected readonly mischief: Mischief;
  readonly #address: { port: number; host: string };
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #pickUp: (call: C) => void = () => undefined;

  constructor({ port = 0, host = '127.0.0.1', ...options }: FakeProviderOptions) {
    this.#address = { port, host };
    this.clock = options.clock ?? systemClock;
    this.reach = options.reach ?? ((url) => url);
    this.mischief = options.mischief ?? {};
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  /** Every call, oldest first. */
  abstract get calls(): readonly C[];

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#address, resolve);
    });
  }

  onOutboundCall(handler: (call: C) => void): void {
    this.#pickUp = handler;
  }

  async close(): Promise<void> {
    for (const call of this.calls) call.end('completed');
    await Promise.all(this.calls.map((call) => call.callbacksSettled()));
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** Answers one request of the gateway. A body that is undefined is none. */
  protected abstract answer(
    question: RestQuestion,
  ): Promise<{ status: number; body: unknown }> | { status: number; body: unknown };

  /** An outbound call rings, for `ringS` at most, and is answered or over: whether it is answered. `callS`: how long it
   *  may last. */
  protected async ring(call: C, { ringS, callS }: { ringS: number; callS: number }) {
    await this.pause(RING_AFTER_MS);
    call.become('initiated');
    call.become('ringing');
    const unanswered = this.clock.after(ringS * 1_000, () => call.refuse('no-answer'));
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return false;
    }
    call.become('in-progress');
    const callMs = Math.min(callS * 1_000, TIMER_MS_MAX);
    const limit = this.clock.after(callMs, () => call.end('completed'));
    void call.ended.then(() => limit.cancel());
    return true;
  }

  protected pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    const { status, body } = await this.answer({
      method,
      headers,
      url: new URL(request.url ?? '', 'http://fake'),
      authorization: headers.authorization ?? '',
      body: await textOf(request),
    });
    response.writeHead(status, answerHeaders(this.state));
    response.end(status === 204 || body === undefined ? undefined : JSON.stringify(body));
  }
}

/** The request's body, as far as the provider reads it. */
export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) break;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}

export function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}
