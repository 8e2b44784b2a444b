// A Vonage for tests, demo and load: REST, signed webhooks, NCCO documents and media sockets in real time.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { accountState, answerHeaders } from '../hosted/account-state.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import { APPLICATION_ID, PUBLIC_KEY_PEM } from './account.ts';
import { type Delivered, VonageWebhooks } from './events.ts';
import { VonageCall } from './fake-call.ts';
import { type Account, answerRest, type DialBody, type FakeNumber } from './rest.ts';

const API = '/api/v1/telephony';
const RING_AFTER_MS = 50;
const BODY_BYTES_MAX = 1024 * 1024;

export interface FakeVonage extends HostedFake {
  /** Every webhook that was sent, with the gateway's answer. */
  readonly webhooks: readonly Delivered[];
  readonly numbers: readonly FakeNumber[];
  /** As the Application API gives it. */
  readonly application: Record<string, unknown>;
}

export async function startFakeVonage(options: HostedFakeOptions): Promise<FakeVonage> {
  const fake = new Fake(options);
  await fake.listen(options.port ?? 0);
  return fake;
}

class Fake implements FakeVonage {
  readonly #options: HostedFakeOptions;
  readonly #clock: Clock = systemClock;
  readonly #reach: (url: string) => string;
  readonly #webhooks: VonageWebhooks;
  readonly #account: Account;
  readonly state = accountState();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #pickUp: (call: VonageCall) => void = () => undefined;

  constructor(options: HostedFakeOptions) {
    this.#options = options;
    this.#reach = options.reach ?? ((url) => url);
    this.#webhooks = new VonageWebhooks(this.#reach);
    this.#account = {
      state: this.state,
      hasApplication: true,
      numbers: options.numbers.map((number) => ({
        ...{ country: 'US', msisdn: number.replace(/^\+/, ''), app_id: APPLICATION_ID },
      })),
      calls: new Map(),
      application: newApplication(),
      dial: (wanted) => this.#dial(wanted),
    };
  }

  pointApplication(url: string | null): void {
    this.#account.hasApplication = url !== null;
    const capabilities = this.application['capabilities'] as { voice: { webhooks: object } };
    const { voice } = capabilities;
    voice.webhooks = { answer_url: { address: url ?? '', http_method: 'POST' } };
  }

  moveNumber(number: string): void {
    const found = this.#account.numbers.find(({ msisdn }) => msisdn === number.replace(/^\+/, ''));
    if (found !== undefined) found.app_id = 'another-application';
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  get calls(): readonly VonageCall[] {
    return [...this.#account.calls.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#webhooks.delivered;
  }

  get numbers(): readonly FakeNumber[] {
    return this.#account.numbers;
  }

  get application(): Record<string, unknown> {
    return this.#account.application;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.#options.host ?? '127.0.0.1', resolve);
    });
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<VonageCall> {
    const base = this.#options.gatewayUrl;
    const call = this.#newCall({
      from: from.replace(/^\+/, ''),
      to: to.replace(/^\+/, ''),
      direction: 'inbound',
      eventUrl: `${base}${API}/vonage/events`,
    });
    call.become('ringing');
    void call.follow(`${base}${API}/inbound/run`);
    return Promise.resolve(call);
  }

  onOutboundCall(handler: (call: VonageCall) => void): void {
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
    call: Pick<
      ConstructorParameters<typeof VonageCall>[0],
      'from' | 'to' | 'direction' | 'eventUrl'
    >,
  ): VonageCall {
    const made = new VonageCall({
      ...call,
      clock: this.#clock,
      webhooks: this.#webhooks,
      reach: this.#reach,
      mischief: this.#options.mischief ?? {},
    });
    this.#account.calls.set(made.id, made);
    return made;
  }

  #dial(wanted: DialBody): VonageCall {
    const call = this.#newCall({
      from: wanted.from.number,
      to: wanted.to[0].number,
      direction: 'outbound',
      eventUrl: wanted.event_url[0],
    });
    call.tell('placed', { body: wanted });
    void this.#ring(call, wanted);
    return call;
  }

  async #ring(call: VonageCall, wanted: DialBody): Promise<void> {
    await this.#pause(RING_AFTER_MS);
    call.become('initiated');
    call.become('ringing');
    const unanswered = this.#clock.after(wanted.ringing_timer * 1_000, () =>
      call.refuse('no-answer'),
    );
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return;
    }
    call.become('in-progress');
    const limit = this.#clock.after(wanted.length_timer * 1_000, () => call.end('completed'));
    void call.ended.then(() => limit.cancel());
    await call.follow(wanted.answer_url[0]);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    const { status, body } = await answerRest(this.#account, {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      authorization: request.headers.authorization ?? '',
      body: await bodyOf(request),
    });
    response.writeHead(status, answerHeaders(this.state));
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }
}

/** As the dashboard makes it, with what must not be lost. */
function newApplication(): Record<string, unknown> {
  return {
    name: 'Front desk',
    keys: { public_key: PUBLIC_KEY_PEM },
    privacy: { improve_ai: false },
    capabilities: {
      voice: {
        webhooks: { answer_url: { address: 'https://example.com/answer', http_method: 'GET' } },
        region: 'eu-west',
      },
      messages: { webhooks: { inbound_url: { address: 'https://example.com/in' } } },
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) break;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}
