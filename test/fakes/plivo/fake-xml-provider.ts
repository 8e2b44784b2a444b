// A Plivo or a Vobiz for tests and for the demo: REST, signed webhooks, documents and audio streams in real time. It
// sees of the gateway what the provider would see, and nothing else.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { accountState, answerHeaders } from '../hosted/account-state.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import type { Dialect, FakeAccount, FakeApplication, XmlCall } from './dialect.ts';
import { FakeXmlCall, type FakeXmlCallOptions } from './fake-call.ts';
import { answerRest } from './rest.ts';
import { type Delivered, WebhookSender } from './webhooks.ts';

/** The application that exists from the start; numbers without another one ring at it. */
export const APPLICATION_ID = '20468143130939379';
const INBOUND_PATH = '/api/v1/telephony/inbound/run';
/** From the dial to the first ring, and from the answer to a verdict about who answered. */
const RING_AFTER_MS = 50;
const VERDICT_AFTER_MS = 1_500;
const BODY_BYTES_MAX = 1024 * 1024;

export interface FakeXmlProvider extends HostedFake {
  readonly calls: readonly XmlCall[];
  readonly webhooks: readonly Delivered[];
  readonly account: FakeAccount;
  placeInboundCall(call: { from: string; to: string }): Promise<FakeXmlCall>;
}

export async function startFakeXmlProvider(
  dialect: Dialect,
  options: HostedFakeOptions,
): Promise<FakeXmlProvider> {
  const fake = new Fake(dialect, options);
  await fake.listen();
  return fake;
}

class Fake implements FakeXmlProvider {
  readonly account: FakeAccount;
  readonly state = accountState();
  readonly #dialect: Dialect;
  readonly #options: HostedFakeOptions;
  readonly #clock: Clock = systemClock;
  readonly #reach: (url: string) => string;
  readonly #sender: WebhookSender;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #pickUp: (call: FakeXmlCall) => void = () => undefined;

  constructor(dialect: Dialect, options: HostedFakeOptions) {
    this.#dialect = dialect;
    this.#options = options;
    this.#reach = options.reach ?? ((url) => url);
    this.#sender = new WebhookSender(dialect, this.#reach);
    const application: FakeApplication = {
      app_id: APPLICATION_ID,
      app_name: 'made-by-hand',
      answer_url: options.gatewayUrl + INBOUND_PATH,
      hangup_url: `${options.gatewayUrl}/api/v1/telephony/${dialect.name}/hangup-callback`,
    };
    this.account = {
      state: this.state,
      applications: new Map([[APPLICATION_ID, application]]),
      numbers: new Map(options.numbers.map((number) => [digitsOf(number), APPLICATION_ID])),
      calls: new Map(),
      dial: (body) => this.#dial(body),
    };
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  get calls(): readonly XmlCall[] {
    return [...this.account.calls.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#sender.delivered;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const { port = 0, host = '127.0.0.1' } = this.#options;
      this.#server.listen(port, host, resolve);
    });
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<FakeXmlCall> {
    const { applications, numbers } = this.account;
    const application = applications.get(numbers.get(digitsOf(to)) ?? APPLICATION_ID);
    const call = this.#newCall({
      from: digitsOf(from),
      to: digitsOf(to),
      direction: 'inbound',
      ringUrl: null,
      hangupUrl: application?.hangup_url ?? null,
    });
    call.become('ringing');
    void call.follow(application?.answer_url ?? '', 'StartApp');
    return Promise.resolve(call);
  }

  pointApplication(url: string | null): void {
    const application = this.account.applications.get(APPLICATION_ID);
    if (url === null) this.account.applications.delete(APPLICATION_ID);
    else if (application !== undefined) application.answer_url = url;
  }

  moveNumber(number: string): void {
    this.account.numbers.set(digitsOf(number), '4711');
  }

  onOutboundCall(handler: (call: FakeXmlCall) => void): void {
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

  #newCall(
    facts: Pick<FakeXmlCallOptions, 'from' | 'to' | 'direction' | 'ringUrl' | 'hangupUrl'>,
  ): FakeXmlCall {
    const call = new FakeXmlCall({
      ...facts,
      clock: this.#clock,
      dialect: this.#dialect,
      sender: this.#sender,
      reach: this.#reach,
      id: randomUUID(),
      mischief: this.#options.mischief ?? {},
    });
    this.account.calls.set(call.id, call);
    return call;
  }

  #dial(body: Record<string, unknown>): FakeXmlCall {
    const text = (name: string): string | null =>
      typeof body[name] === 'string' ? body[name] : null;
    const call = this.#newCall({
      from: String(body['from']),
      to: String(body['to']),
      direction: 'outbound',
      ringUrl: text('ring_url'),
      hangupUrl: text('hangup_url') ?? text('answer_url'),
    });
    call.tell('placed', { body });
    void this.#ring(call, body);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer, go on. */
  async #ring(call: FakeXmlCall, body: Record<string, unknown>): Promise<void> {
    await this.#pause(RING_AFTER_MS);
    call.become('ringing');
    const ringMs = Number(body['ring_timeout'] ?? 120) * 1_000;
    const unanswered = this.#clock.after(ringMs, () => call.refuse('no-answer'));
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return;
    }
    call.become('in-progress');
    const limitMs = Number(body['time_limit'] ?? 14_400) * 1_000;
    this.#clock.after(Math.min(limitMs, 2 ** 31 - 1), () => call.end('completed'));
    if (typeof body['machine_detection_url'] === 'string') {
      void this.#verdict(call, body['machine_detection_url']);
    }
    await call.follow(String(body['answer_url']), 'StartApp');
  }

  async #verdict(call: FakeXmlCall, url: string): Promise<void> {
    await this.#pause(VERDICT_AFTER_MS);
    if (call.isOver) return;
    call.tell('answered-by', { answeredBy: call.answeredBy });
    const machine = String(call.answeredBy !== 'human');
    await this.#sender.post(url, { ...call.fields('MachineDetection'), ['Machine']: machine });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { version, authId } = this.#dialect;
    const url = new URL(request.url ?? '', 'http://fake');
    const root = `/${version}/Account/${authId}/`;
    const text = await readBody(request);
    const isOurs = url.pathname.startsWith(root) && this.#dialect.isAuthorized(request.headers);
    const answer = isOurs
      ? answerRest(this.#dialect, this.account, {
          method: request.method ?? '',
          path: url.pathname.slice(root.length),
          query: url.searchParams,
          body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        })
      : { status: 401, body: { error: 'unauthorized' } };
    response.writeHead(answer.status, answerHeaders(this.state));
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.body));
  }
}

export function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) break;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}
