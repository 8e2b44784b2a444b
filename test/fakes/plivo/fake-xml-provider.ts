// A Plivo or a Vobiz for tests and for the demo: REST, signed webhooks, documents and audio streams in real time. It
// sees of the gateway what the provider would see, and nothing else.

import { randomUUID } from 'node:crypto';
import {
  digitsOf,
  FakeProvider,
  type RestQuestion,
  VERDICT_AFTER_MS,
} from '../hosted/fake-provider.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import type { Dialect, FakeAccount, FakeApplication, RestAnswer, XmlCall } from './dialect.ts';
import { FakeXmlCall, type FakeXmlCallOptions } from './fake-call.ts';
import { answerRest } from './rest.ts';
import { type Delivered, WebhookSender } from './webhooks.ts';

/** The application that exists from the start; numbers without another one ring at it. */
export const APPLICATION_ID = '20468143130939379';
const INBOUND_PATH = '/api/v1/telephony/inbound/run';

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

class Fake extends FakeProvider<XmlCall> implements FakeXmlProvider {
  readonly account: FakeAccount;
  readonly #dialect: Dialect;
  readonly #sender: WebhookSender;

  constructor(dialect: Dialect, options: HostedFakeOptions) {
    super(options);
    this.#dialect = dialect;
    this.#sender = new WebhookSender(dialect, this.reach);
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

  get calls(): readonly XmlCall[] {
    return [...this.account.calls.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#sender.delivered;
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

  #newCall(
    facts: Pick<FakeXmlCallOptions, 'from' | 'to' | 'direction' | 'ringUrl' | 'hangupUrl'>,
  ): FakeXmlCall {
    const call = new FakeXmlCall({
      ...facts,
      clock: this.clock,
      dialect: this.#dialect,
      sender: this.#sender,
      reach: this.reach,
      id: randomUUID(),
      mischief: this.mischief,
    });
    call.conferences = this.conferences;
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
    void this.#conduct(call, body);
    return call;
  }

  async #conduct(call: FakeXmlCall, body: Record<string, unknown>): Promise<void> {
    const limits = {
      ringS: Number(body['ring_timeout'] ?? 120),
      callS: Number(body['time_limit'] ?? 14_400),
    };
    if (!(await this.ring(call, limits))) return;
    if (typeof body['machine_detection_url'] === 'string') {
      void this.#verdict(call, body['machine_detection_url']);
    }
    await call.follow(String(body['answer_url']), 'StartApp');
  }

  async #verdict(call: FakeXmlCall, url: string): Promise<void> {
    await this.pause(VERDICT_AFTER_MS);
    if (call.isOver) return;
    call.tell('answered-by', { answeredBy: call.answeredBy });
    const machine = String(call.answeredBy !== 'human');
    await this.#sender.post(url, { ...call.fields('MachineDetection'), ['Machine']: machine });
  }

  protected override answer({ method, url, headers, body }: RestQuestion): RestAnswer {
    const { version, authId } = this.#dialect;
    const root = `/${version}/Account/${authId}/`;
    if (!url.pathname.startsWith(root) || !this.#dialect.isAuthorized(headers)) {
      return { status: 401, body: { error: 'unauthorized' } };
    }
    return answerRest(this.#dialect, this.account, {
      method,
      path: url.pathname.slice(root.length),
      query: url.searchParams,
      body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>),
    });
  }
}
