// A Twilio for tests and for the demo: REST, signed webhooks, TwiML and media streams in real time. It
// sees of the gateway what Twilio would see, and nothing else. It may run in any process.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import {
  type AccountState,
  accountState,
  answerHeaders,
  type Routing,
} from '../hosted/account-state.ts';
import { FakeCall, type FakeCallOptions, type StatusTarget } from './fake-call.ts';
import { type Account, answerRest, type FakeNumber } from './rest.ts';
import { type Delivered, type Mischief, WebhookSender } from './webhooks.ts';

export interface FakeTwilioOptions {
  /** The gateway's public address, without a path. */
  publicWebhookBase: string;
  accountSid: string;
  authToken: string;
  /** Of the REST interface; 0 for any. */
  port?: number;
  /** Address to listen on; default: this machine only. */
  host?: string;
  /** Numbers of the account. A number without a URL of its own rings at the gateway's inbound route. */
  numbers?: readonly string[];
  /** Where a public URL is really reached, if not where it says. Signatures are over the public one. */
  reach?: (url: string) => string;
  mischief?: Mischief;
  /** How long <Say> takes; Twilio's voice needs about 60 ms a character. */
  sayMsPerCharacter?: number;
  clock?: Clock;
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
/** From the dial to the first ring, and from the answer to a verdict about who answered. */
const RING_AFTER_MS = 50;
const VERDICT_AFTER_MS = 1_500;
const BODY_BYTES_MAX = 1024 * 1024;

export async function startFakeTwilio(options: FakeTwilioOptions): Promise<FakeTwilio> {
  const fake = new Fake(options);
  await fake.listen(options.port ?? 0);
  return fake;
}

class Fake implements FakeTwilio {
  readonly #options: FakeTwilioOptions;
  readonly #clock: Clock;
  readonly #reach: (url: string) => string;
  readonly #sender: WebhookSender;
  readonly #account: Account;
  readonly state = accountState();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #pickUp: (call: FakeCall) => void = () => undefined;

  constructor(options: FakeTwilioOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#reach = options.reach ?? ((url) => url);
    this.#sender = new WebhookSender({ authToken: options.authToken, reach: this.#reach });
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

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
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

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.#options.host ?? '127.0.0.1', resolve);
    });
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<FakeCall> {
    const number = this.#account.numbers.get(to) ?? this.#addNumber(to);
    const call = this.#newCall({ from, to, direction: 'inbound', statusTarget: null });
    call.become('ringing');
    void call.follow(number.voiceUrl || `${this.#options.publicWebhookBase}${INBOUND_PATH}`);
    return Promise.resolve(call);
  }

  onOutboundCall(handler: (call: FakeCall) => void): void {
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
      clock: this.#clock,
      sender: this.#sender,
      reach: this.#reach,
      accountSid: this.#account.sid,
      authToken: this.#account.authToken,
      sid: `CA${randomBytes(16).toString('hex')}`,
      mischief: this.#options.mischief ?? {},
      sayMsPerCharacter: this.#options.sayMsPerCharacter ?? 60,
    });
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
    void this.#ring(call, form);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer, perhaps listen for a machine, go on. */
  async #ring(call: FakeCall, form: URLSearchParams): Promise<void> {
    await this.#pause(RING_AFTER_MS);
    call.become('initiated');
    call.become('ringing');
    const ringS = Number(form.get('Timeout') ?? 60);
    const unanswered = this.#clock.after(ringS * 1_000, () => call.refuse('no-answer'));
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return;
    }
    call.become('in-progress');
    this.#clock.after(Number(form.get('TimeLimit') ?? 14_400) * 1_000, () => call.end('completed'));
    if (form.has('MachineDetection')) {
      if (form.get('AsyncAmd') === 'true') void this.#verdict(call, form);
      else await this.#pause(VERDICT_AFTER_MS);
    }
    const twiml = form.get('Twiml');
    await (twiml === null ? call.follow(form.get('Url') ?? '') : call.run(twiml));
  }

  async #verdict(call: FakeCall, form: URLSearchParams): Promise<void> {
    await this.#pause(VERDICT_AFTER_MS);
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

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    const answer = answerRest(this.#account, {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      authorization: request.headers.authorization ?? '',
      body: await readBody(request),
    });
    response.writeHead(answer.status, answerHeaders(this.state));
    response.end(JSON.stringify(answer.body));
  }
}

function statusTarget(form: URLSearchParams): StatusTarget | null {
  const url = form.get('StatusCallback');
  if (url === null) return null;
  const events = form.getAll('StatusCallbackEvent');
  return { url, events: events.length === 0 ? ['completed'] : events };
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
