// A Telnyx for tests and for the demo: Call Control over REST, signed webhooks and media streams in real time. It sees
// of the gateway what Telnyx would see, and nothing else.

import { createPrivateKey, randomUUID } from 'node:crypto';
import { FakeProvider, type RestQuestion, VERDICT_AFTER_MS } from '../hosted/fake-provider.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import { TelnyxCall } from './fake-call.ts';
import {
  type Account,
  answerRest,
  type DialBody,
  type RestAnswer,
  type RestRequest,
} from './rest.ts';

export interface FakeTelnyxOptions extends HostedFakeOptions {
  apiKey: string;
  /** An application of the account, whose webhooks go to the gateway. */
  connectionId: string;
  /** The Ed25519 seed of the account's key, 32 bytes in hex. */
  seedHex: string;
}

export interface FakeTelnyx extends HostedFake {
  readonly calls: readonly TelnyxCall[];
  readonly account: Account;
  /** From now on commands that answer a call get no response, and are carried out by `carryOutWithheld` alone. */
  withholdAnswers: boolean;
  /** Commands that got no response, by their `command_id`. */
  readonly withheld: readonly string[];
  carryOutWithheld(): void;
  placeInboundCall(call: { from: string; to: string }): Promise<TelnyxCall>;
}

const INBOUND_PATH = '/api/v1/telephony/inbound/run';
/** Without a command that was carried out. */
const COMMAND_MS = 120_000;
/** PKCS#8 of an Ed25519 key, before the seed (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export async function startFakeTelnyx(options: FakeTelnyxOptions): Promise<FakeTelnyx> {
  const fake = new Fake(options);
  await fake.listen();
  return fake;
}

class Fake extends FakeProvider<TelnyxCall> implements FakeTelnyx {
  readonly account: Account;
  withholdAnswers = false;
  readonly #withheld: RestRequest[] = [];
  readonly #options: FakeTelnyxOptions;

  constructor(options: FakeTelnyxOptions) {
    super(options);
    this.#options = options;
    const application = {
      id: options.connectionId,
      application_name: 'of the portal',
      webhook_event_url: `${options.gatewayUrl}${INBOUND_PATH}`,
      webhook_api_version: '2',
    };
    this.account = {
      state: this.state,
      apiKey: options.apiKey,
      applications: new Map([[application.id, application]]),
      numbers: new Map(),
      calls: new Map(),
      dials: new Map(),
      dial: (body) => this.#dial(body),
    };
    for (const number of options.numbers) this.#addNumber(number);
  }

  get calls(): readonly TelnyxCall[] {
    return [...this.account.calls.values()];
  }

  get withheld(): readonly string[] {
    return this.#withheld.map(({ body }) => String(Object(body)['command_id']));
  }

  carryOutWithheld(): void {
    for (const request of this.#withheld.splice(0)) answerRest(this.account, request);
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<TelnyxCall> {
    const { connectionId, gatewayUrl } = this.#options;
    const ofNumber = this.account.numbers.get(to)?.connection_id || connectionId;
    const application = this.account.applications.get(ofNumber);
    const webhookUrl = application?.webhook_event_url ?? `${gatewayUrl}${INBOUND_PATH}`;
    const call = this.#newCall({ from, to, direction: 'inbound', webhookUrl, clientState: null });
    call.become('initiated');
    this.clock.after(COMMAND_MS, () => {
      if (call.status === 'initiated') call.end('failed');
    });
    return Promise.resolve(call);
  }

  pointApplication(url: string | null): void {
    const { connectionId } = this.#options;
    const application = this.account.applications.get(connectionId);
    if (url === null) this.account.applications.delete(connectionId);
    else if (application !== undefined) application.webhook_event_url = url;
  }

  moveNumber(phoneNumber: string): void {
    const number = this.account.numbers.get(phoneNumber);
    if (number === undefined) return;
    number.connection_id = '4711';
    number.connection_name = 'of another system';
  }

  #addNumber(phoneNumber: string): void {
    const id = String(1_700_000_000_000_000_000n + BigInt(this.account.numbers.size));
    const number = { id, phone_number: phoneNumber, connection_id: '', connection_name: null };
    this.account.numbers.set(phoneNumber, number);
  }

  #newCall(facts: {
    from: string;
    to: string;
    direction: 'inbound' | 'outbound';
    webhookUrl: string;
    clientState: string | null;
  }): TelnyxCall {
    const { connectionId, seedHex } = this.#options;
    const der = Buffer.concat([PKCS8_HEAD, Buffer.from(seedHex, 'hex')]);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const call = new TelnyxCall({
      ...facts,
      id: `v3:${randomUUID()}`,
      connectionId,
      clock: this.clock,
      webhooks: { privateKey, reach: this.reach, mischief: this.mischief, clock: this.clock },
    });
    call.conferences = this.conferences;
    this.account.calls.set(call.id, call);
    return call;
  }

  #dial(body: DialBody): TelnyxCall {
    const { from, to, webhook_url: webhookUrl, client_state: clientState = null } = body;
    const call = this.#newCall({ from, to, direction: 'outbound', webhookUrl, clientState });
    call.tell('placed', { body });
    void this.#conduct(call, body);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer. What then happens is up to commands. */
  async #conduct(call: TelnyxCall, body: DialBody): Promise<void> {
    const limits = { ringS: body.timeout_secs, callS: body.time_limit_secs };
    if (!(await this.ring(call, limits))) return;
    if (body.answering_machine_detection !== 'detect') return;
    await this.pause(VERDICT_AFTER_MS);
    if (!call.isOver) call.notify('call.machine.detection.ended', { result: call.answeredBy });
  }

  protected override answer(question: RestQuestion): RestAnswer | Promise<never> {
    const { method, url, authorization, body } = question;
    const [, version, ...path] = url.pathname.split('/').map(decodeURIComponent);
    const request = {
      method,
      path: version === 'v2' ? path : [],
      query: url.searchParams,
      authorization,
      body: body === '' ? undefined : JSON.parse(body),
    };
    if (!this.withholdAnswers || path.at(-1) !== 'answer') return answerRest(this.account, request);
    this.#withheld.push(request);
    return new Promise(() => undefined); // Until the connection is closed.
  }
}
