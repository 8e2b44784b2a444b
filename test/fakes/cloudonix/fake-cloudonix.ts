// A Cloudonix domain for tests and for the demo: REST, unsigned webhooks, CXML and media streams in real time. It is our
// reading of the documentation (providers §5), not an observed account.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { accountState, answerHeaders } from '../hosted/account-state.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import { FakeSession, type FakeSessionOptions } from './fake-session.ts';
import { answerRest, type Domain, type RestAnswer } from './rest.ts';
import { type Delivered, WebhookSender } from './webhooks.ts';

export interface FakeCloudonixOptions extends HostedFakeOptions {
  domain: string;
  bearerToken: string;
  /** An application that exists from the start, with the gateway's inbound URL. */
  application: { name: string; apiKey: string };
  /** Requests that are served in ten seconds; others get 429. Default: all. */
  requestsMax?: number;
  /** Whether the domain's profile sends call detail records to the gateway. */
  detailRecords?: boolean;
  /** How long <Say> takes, in milliseconds a character. */
  sayMsPerCharacter?: number;
  clock?: Clock;
}

export interface FakeCloudonix extends HostedFake {
  readonly calls: readonly FakeSession[];
  readonly domain: Domain;
  /** Every webhook that was sent, with the gateway's answer. */
  readonly webhooks: readonly Delivered[];
  /** REST requests by method and path, oldest first, with their status. */
  readonly asked: readonly { request: string; status: number }[];
}

const ROUTES = '/api/v1/telephony';
const RING_AFTER_MS = 50;
const WINDOW_MS = 10_000;
const BODY_BYTES_MAX = 1024 * 1024;

export async function startFakeCloudonix(options: FakeCloudonixOptions): Promise<FakeCloudonix> {
  const fake = new Fake(options);
  await fake.listen(options.port ?? 0);
  return fake;
}

class Fake implements FakeCloudonix {
  readonly domain: Domain;
  readonly asked: { request: string; status: number }[] = [];
  readonly #options: FakeCloudonixOptions;
  readonly #clock: Clock;
  readonly #reach: (url: string) => string;
  readonly #sender: WebhookSender;
  readonly state = accountState();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #served: number[] = [];
  #ids = 100;
  #pickUp: (call: FakeSession) => void = () => undefined;

  constructor(options: FakeCloudonixOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#reach = options.reach ?? ((url) => url);
    this.#sender = new WebhookSender(this.#reach);
    const { gatewayUrl, application } = options;
    const uuid = '00000000-0000-4000-8000-000000000001';
    this.domain = {
      state: this.state,
      name: options.domain,
      bearerToken: options.bearerToken,
      applications: [{ id: 1, uuid, url: `${gatewayUrl}${ROUTES}/inbound/run`, ...application }],
      dnids: [],
      sessions: new Map(),
      dial: (body) => this.#dial(body),
      nextId: () => ++this.#ids,
    };
  }

  pointApplication(url: string | null): void {
    const [application] = this.domain.applications;
    if (url === null) this.domain.applications = [];
    else if (application !== undefined) application.url = url;
  }

  moveNumber(number: string): void {
    const forms = [number, number.replace(/^\+/, '')];
    this.domain.dnids = this.domain.dnids.filter(({ source }) => !forms.includes(source));
    for (const source of forms) {
      this.domain.dnids.push({ id: this.domain.nextId(), source, applicationId: 4_711 });
    }
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  get calls(): readonly FakeSession[] {
    return [...this.domain.sessions.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#sender.delivered;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.#options.host ?? '127.0.0.1', resolve);
    });
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<FakeSession> {
    const { applications, dnids } = this.domain;
    const dnid = dnids.find(({ source }) => source === to);
    const application = applications.find(({ id }) => id === (dnid?.applicationId ?? 1));
    const facts = { applicationKey: application?.apiKey ?? null, callbackUrl: null };
    const call = this.#newCall({ from, to, direction: 'inbound', ...facts });
    call.become('ringing');
    void call.follow(application?.url ?? '');
    return Promise.resolve(call);
  }

  onOutboundCall(handler: (call: FakeSession) => void): void {
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
    facts: Pick<FakeSessionOptions, 'from' | 'to' | 'direction' | 'applicationKey' | 'callbackUrl'>,
  ): FakeSession {
    const { gatewayUrl, mischief, detailRecords, sayMsPerCharacter, domain } = this.#options;
    const call = new FakeSession({
      ...facts,
      ...{ clock: this.#clock, sender: this.#sender, reach: this.#reach, domain },
      token: randomBytes(16).toString('hex'),
      callSid: randomBytes(16).toString('hex'),
      detailRecordUrl: detailRecords === true ? `${gatewayUrl}${ROUTES}/cloudonix/cdr` : null,
      mischief: mischief ?? {},
      sayMsPerCharacter: sayMsPerCharacter ?? 60,
    });
    this.domain.sessions.set(call.id, call);
    return call;
  }

  #dial(body: Record<string, unknown>): FakeSession {
    const { callback } = body;
    const call = this.#newCall({
      from: String(body['caller-id']),
      to: String(body['destination']),
      direction: 'outbound-api',
      applicationKey: null,
      callbackUrl: typeof callback === 'string' ? callback : null,
    });
    call.tell('placed', { body });
    void this.#ring(call, body);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer, fetch the document. */
  async #ring(call: FakeSession, body: Record<string, unknown>): Promise<void> {
    await this.#pause(RING_AFTER_MS);
    call.become('initiated');
    call.become('ringing');
    const ringS = Number(body['timeout'] ?? 60);
    const unanswered = this.#clock.after(ringS * 1_000, () => call.refuse('no-answer'));
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return;
    }
    call.become('in-progress');
    const limitS = Math.min(Number(body['timeLimit'] ?? 14_400), 1_000_000);
    this.#clock.after(limitS * 1_000, () => call.end('completed'));
    await call.follow(String(body['url']));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const text = await readBody(request);
    const answer = this.#isAboveLimit()
      ? { status: 429, body: { message: 'Too many requests' } }
      : answerRest(this.domain, {
          method: request.method ?? '',
          path,
          authorization: request.headers.authorization ?? '',
          json: text === '' ? undefined : JSON.parse(text),
        });
    this.#answer(response, `${request.method} ${path}`, answer);
  }

  #answer(response: ServerResponse, request: string, { status, body }: RestAnswer): void {
    this.asked.push({ request, status });
    response.writeHead(status, answerHeaders(this.state));
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  #isAboveLimit(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#served = this.#served.filter((each) => each > nowMs - WINDOW_MS);
    if (this.#served.length >= (this.#options.requestsMax ?? Number.POSITIVE_INFINITY)) return true;
    this.#served.push(nowMs);
    return false;
  }
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
