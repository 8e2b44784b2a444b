// A Twilio for tests and for the demo: REST, signed webhooks, TwiML and media streams in real time. It
// sees of the gateway what Twilio would see, and nothing else. It may run in any process.

import { randomBytes } from 'node:crypto';
import type { AccountState, Routing } from '../hosted/account-state.ts';
import {
  FakeProvider,
  type FakeProviderOptions,
  type RestQuestion,
  VERDICT_AFTER_MS,
} from '../hosted/fake-provider.ts';
import { FakeCall, type FakeCallOptions, type StatusTarget } from './fake-call.ts';
import { type Account, answerRest, type FakeNumber, type RestAnswer } from './rest.ts';
import { type Delivered, WebhookSender } from './webhooks.ts';

export interface FakeTwilioOptions extends FakeProviderOptions {
  /** The gateway's public address, without a path. */
  publicWebhookBase: string;
  accountSid: string;
  authToken: string;
  /** Numbers of the account. A number without a URL of its own rings at the gateway's inbound route. */
  numbers?: readonly string[];
  /** How long <Say> takes; Twilio's voice needs about 60 ms a character. */
  sayMsPerCharacter?: number;
}

export interface FakeTwilio extends Routing {
  readonly state: AccountState;
  /** For the configuration's `api_base_url`. */
  readonly baseUrl: string;
  /** Every call, oldest first. */
  readonly calls: readonly FakeCall[];
  /** Every webhook that was sent, with the gateway's answer. */
  readonly webhooks: readonly Delivered[];
  readonly numbers: ReadonlyMap<string, FakeNumber>;
  /** Rings the gateway. Resolves when the call exists; the rest shows in the call. */
  placeInboundCall(call: { from: string; to: string }): Promise<FakeCall>;
  /** Who picks up when the gateway dials: call `answer()` or `refuse()`. Without a handler, nobody. */
  onOutboundCall(handler: (call: FakeCall) => void): void;
  close(): Promise<void>;
}

const INBOUND_PATH = '/api/v1/telephony/inbound/run';

export async function startFakeTwilio(options: FakeTwilioOptions): Promise<FakeTwilio> {
  const fake = new Fake(options);
  await fake.listen();
  return fake;
}

class Fake extends FakeProvider<FakeCall> implements FakeTwilio {
  readonly #options: FakeTwilioOptions;
  readonly #sender: WebhookSender;
  readonly #account: Account;

  constructor(options: FakeTwilioOptions) {
    super(options);
    this.#options = options;
    this.#sender = new WebhookSender({ authToken: options.authToken, reach: this.reach });
    this.#account = {
      state: this.state,
      sid: options.accountSid,
      authToken: options.authToken,
      numbers: new Map(),
      calls: new Map(),
      dial: (form) => this.#dial(form),
    };
    for (const number of options.numbers ?? []) this.#addNumber(number);
  }

  pointApplication(): void {
    // Numbers have addresses of their own.
  }

  moveNumber(phoneNumber: string): void {
    const number = this.#account.numbers.get(phoneNumber) ?? this.#addNumber(phoneNumber);
    number.voiceUrl = 'https://another.system.invalid/voice';
  }

  get calls(): readonly FakeCall[] {
    return [...this.#account.calls.values()];
  }

  get webhooks(): readonly Delivered[] {
    return this.#sender.delivered;
  }

  get numbers(): ReadonlyMap<string, FakeNumber> {
    return this.#account.numbers;
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<FakeCall> {
    const number = this.#account.numbers.get(to) ?? this.#addNumber(to);
    const call = this.#newCall({ from, to, direction: 'inbound', statusTarget: null });
    call.become('ringing');
    void call.follow(number.voiceUrl || `${this.#options.publicWebhookBase}${INBOUND_PATH}`);
    return Promise.resolve(call);
  }

  #addNumber(phoneNumber: string): FakeNumber {
    const number = {
      sid: `PN${randomBytes(16).toString('hex')}`,
      phoneNumber,
      voiceUrl: '',
      voiceApplicationSid: '',
      trunkSid: '',
    };
    this.#account.numbers.set(phoneNumber, number);
    return number;
  }

  #newCall(facts: Pick<FakeCallOptions, 'from' | 'to' | 'direction' | 'statusTarget'>): FakeCall {
    const call = new FakeCall({
      ...facts,
      clock: this.clock,
      sender: this.#sender,
      reach: this.reach,
      accountSid: this.#account.sid,
      authToken: this.#account.authToken,
      sid: `CA${randomBytes(16).toString('hex')}`,
      mischief: this.mischief,
      sayMsPerCharacter: this.#options.sayMsPerCharacter ?? 60,
    });
    call.conferences = this.conferences;
    this.#account.calls.set(call.sid, call);
    return call;
  }

  #dial(form: URLSearchParams): FakeCall {
    const call = this.#newCall({
      from: form.get('From') ?? '',
      to: form.get('To') ?? '',
      direction: 'outbound-api',
      statusTarget: statusTarget(form),
    });
    call.tell('placed', { form: Object.fromEntries(form) });
    void this.#conduct(call, form);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer, perhaps detect a machine, go on. */
  async #conduct(call: FakeCall, form: URLSearchParams): Promise<void> {
    const ringS = Number(form.get('Timeout') ?? 60);
    const callS = Number(form.get('TimeLimit') ?? 14_400);
    if (!(await this.ring(call, { ringS, callS }))) return;
    if (form.has('MachineDetection')) {
      if (form.get('AsyncAmd') === 'true') void this.#verdict(call, form);
      else await this.pause(VERDICT_AFTER_MS);
    }
    const twiml = form.get('Twiml');
    await (twiml === null ? call.follow(form.get('Url') ?? '') : call.run(twiml));
  }

  async #verdict(call: FakeCall, form: URLSearchParams): Promise<void> {
    await this.pause(VERDICT_AFTER_MS);
    const url = form.get('AsyncAmdStatusCallback');
    if (url === null || call.isOver) return;
    call.tell('answered-by', { answeredBy: call.answeredBy });
    await this.#sender.post(url, {
      ['CallSid']: call.sid,
      ['AccountSid']: this.#account.sid,
      ['AnsweredBy']: call.answeredBy,
      ['MachineDetectionDuration']: String(VERDICT_AFTER_MS),
    });
  }

  protected override answer({ url, ...question }: RestQuestion): RestAnswer {
    return answerRest(this.#account, { ...question, path: url.pathname, query: url.searchParams });
  }
}

function statusTarget(form: URLSearchParams): StatusTarget | null {
  const url = form.get('StatusCallback');
  if (url === null) return null;
  const events = form.getAll('StatusCallbackEvent');
  return { url, events: events.length === 0 ? ['completed'] : events };
}
