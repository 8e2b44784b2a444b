// A Vonage for tests, demo and load: REST, signed webhooks, NCCO documents and media sockets in real time.

import { digitsOf, FakeProvider, type RestQuestion } from '../hosted/fake-provider.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import { APPLICATION_ID, PUBLIC_KEY_PEM } from './account.ts';
import { type Delivered, VonageWebhooks } from './events.ts';
import { VonageCall } from './fake-call.ts';
import {
  type Account,
  answerRest,
  type DialBody,
  type FakeNumber,
  type RestAnswer,
} from './rest.ts';

const API = '/api/v1/telephony';

export interface FakeVonage extends HostedFake {
  /** Every webhook that was sent, with the gateway's answer. */
  readonly webhooks: readonly Delivered[];
  readonly numbers: readonly FakeNumber[];
  /** As the Application API gives it. */
  readonly application: Record<string, unknown>;
}

export async function startFakeVonage(options: HostedFakeOptions): Promise<FakeVonage> {
  const fake = new Fake(options);
  await fake.listen();
  return fake;
}

class Fake extends FakeProvider<VonageCall> implements FakeVonage {
  readonly #gatewayUrl: string;
  readonly #webhooks: VonageWebhooks;
  readonly #account: Account;

  constructor(options: HostedFakeOptions) {
    super(options);
    this.#gatewayUrl = options.gatewayUrl;
    this.#webhooks = new VonageWebhooks(this.reach);
    this.#account = {
      state: this.state,
      hasApplication: true,
      numbers: options.numbers.map((number) => ({
        country: 'US',
        msisdn: digitsOf(number),
        app_id: APPLICATION_ID,
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
    const found = this.#account.numbers.find(({ msisdn }) => msisdn === digitsOf(number));
    if (found !== undefined) found.app_id = 'another-application';
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

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<VonageCall> {
    const base = this.#gatewayUrl;
    const call = this.#newCall({
      from: digitsOf(from),
      to: digitsOf(to),
      direction: 'inbound',
      eventUrl: `${base}${API}/vonage/events`,
    });
    call.become('ringing');
    void call.follow(`${base}${API}/inbound/run`);
    return Promise.resolve(call);
  }

  #newCall(
    call: Pick<
      ConstructorParameters<typeof VonageCall>[0],
      'from' | 'to' | 'direction' | 'eventUrl'
    >,
  ): VonageCall {
    const made = new VonageCall({
      ...call,
      clock: this.clock,
      webhooks: this.#webhooks,
      reach: this.reach,
      mischief: this.mischief,
    });
    made.conferences = this.conferences;
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
    void this.#conduct(call, wanted);
    return call;
  }

  async #conduct(call: VonageCall, wanted: DialBody): Promise<void> {
    const limits = { ringS: wanted.ringing_timer, callS: wanted.length_timer };
    if (await this.ring(call, limits)) await call.follow(wanted.answer_url[0]);
  }

  protected override answer({ url, ...question }: RestQuestion): Promise<RestAnswer> {
    return answerRest(this.#account, { ...question, path: url.pathname, query: url.searchParams });
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
