// A Cloudonix domain for tests and for the demo: REST, unsigned webhooks, CXML and media streams in real time. It is our
// reading of the documentation (providers §5), not an observed account.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../src/std/clock.ts';
import { digitsOf, FakeProvider, type RestQuestion } from '../hosted/fake-provider.ts';
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
const WINDOW_MS = 10_000;

export async function startFakeCloudonix(options: FakeCloudonixOptions): Promise<FakeCloudonix> {
  const fake = new Fake(options);
  await fake.listen();
  return fake;
}

class Fake extends FakeProvider<FakeSession> implements FakeCloudonix {
  readonly domain: Domain;
  readonly asked: { request: string; status: number }[] = [];
  readonly #options: FakeCloudonixOptions;
  readonly #sender: WebhookSender;
  #served: number[] = [];
  #ids = 100;

  constructor(options: FakeCloudonixOptions) {
    super(options);
    this.#options = options;
    this.#sender = new WebhookSender(this.reach);
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
    const forms = [number, digitsOf(number)];
    this.domain.dnids = this.domain.dnids.filter(({ source }) => !forms.includes(source));
    for (const source of forms) {
      this.domain.dnids.push({ id: this.domain.nextId(), source, applicationId: 4_711 });
    }
  }

  get calls(): readonly FakeSession[] {
    return [...this.domain.sessions.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#sender.delivered;
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

  #newCall(
    facts: Pick<FakeSessionOptions, 'from' | 'to' | 'direction' | 'applicationKey' | 'callbackUrl'>,
  ): FakeSession {
    const { gatewayUrl, detailRecords, sayMsPerCharacter, domain } = this.#options;
    const call = new FakeSession({
      ...facts,

      clock: this.clock,
      sender: this.#sender,
      reach: this.reach,
      domain,
      token: randomBytes(16).toString('hex'),
      callSid: randomBytes(16).toString('hex'),
      detailRecordUrl: detailRecords === true ? `${gatewayUrl}${ROUTES}/cloudonix/cdr` : null,
      mischief: this.mischief,
      sayMsPerCharacter: sayMsPerCharacter ?? 60,
    });
    call.conferences = this.conferences;
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
    void this.#conduct(call, body);
    return call;
  }

  async #conduct(call: FakeSession, body: Record<string, unknown>): Promise<void> {
    const limits = {
      ringS: Number(body['timeout'] ?? 60),
      callS: Number(body['timeLimit'] ?? 14_400),
    };
    if (await this.ring(call, limits)) await call.follow(String(body['url']));
  }

  protected override answer({ method, url, authorization, body }: RestQuestion): RestAnswer {
    const path = url.pathname;
    const json = body === '' ? undefined : JSON.parse(body);
    const answer = this.#isAboveLimit()
      ? { status: 429, body: { message: 'Too many requests' } }
      : answerRest(this.domain, { method, path, authorization, json });
    this.asked.push({ request: `${method} ${path}`, status: answer.status });
    return answer;
  }

  #isAboveLimit(): boolean {
    const nowMs = this.clock.monotonicMs();
    this.#served = this.#served.filter((each) => each > nowMs - WINDOW_MS);
    if (this.#served.length >= (this.#options.requestsMax ?? Number.POSITIVE_INFINITY)) return true;
    this.#served.push(nowMs);
    return false;
  }
}
