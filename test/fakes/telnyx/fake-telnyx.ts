// A Telnyx for tests and for the demo: Call Control over REST, signed webhooks and media streams in real time. It sees
// of the gateway what Telnyx would see, and nothing else.

import { createPrivateKey, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/std/clock.ts';
import { accountState, answerHeaders } from '../hosted/account-state.ts';
import type { HostedFake, HostedFakeOptions } from '../hosted/hosted-fake.ts';
import { TelnyxCall } from './fake-call.ts';
import { type Account, answerRest, type DialBody } from './rest.ts';

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
}

const INBOUND_PATH = '/api/v1/telephony/inbound/run';
/** From the dial to the first ring, and from the answer to a verdict about who answered. */
const RING_AFTER_MS = 50;
const VERDICT_AFTER_MS = 1_500;
/** Without a command. */
const COMMAND_MS = 15_000;
const BODY_BYTES_MAX = 1024 * 1024;
/** PKCS#8 of an Ed25519 key, before the seed (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export async function startFakeTelnyx(options: FakeTelnyxOptions): Promise<FakeTelnyx> {
  const fake = new Fake(options);
  await fake.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  return fake;
}

class Fake implements FakeTelnyx {
  readonly account: Account;
  readonly state = accountState();
  readonly #options: FakeTelnyxOptions;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #pickUp: (call: TelnyxCall) => void = () => undefined;

  constructor(options: FakeTelnyxOptions) {
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

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  get calls(): readonly TelnyxCall[] {
    return [...this.account.calls.values()];
  }

  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
  }

  placeInboundCall({ from, to }: { from: string; to: string }): Promise<TelnyxCall> {
    const { connectionId, gatewayUrl } = this.#options;
    const ofNumber = this.account.numbers.get(to)?.connection_id || connectionId;
    const application = this.account.applications.get(ofNumber);
    const webhookUrl = application?.webhook_event_url ?? `${gatewayUrl}${INBOUND_PATH}`;
    const call = this.#newCall({ from, to, direction: 'inbound', webhookUrl, clientState: null });
    call.become('initiated');
    systemClock.after(COMMAND_MS, () => {
      if (call.status === 'initiated') call.end('failed');
    });
    return Promise.resolve(call);
  }

  onOutboundCall(handler: (call: TelnyxCall) => void): void {
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
    const { connectionId, seedHex, reach = (url) => url, mischief = {} } = this.#options;
    const der = Buffer.concat([PKCS8_HEAD, Buffer.from(seedHex, 'hex')]);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const call = new TelnyxCall({
      ...facts,
      id: `v3:${randomUUID()}`,
      connectionId,
      clock: systemClock,
      webhooks: { privateKey, reach, mischief },
    });
    this.account.calls.set(call.id, call);
    return call;
  }

  #dial(body: DialBody): TelnyxCall {
    const { from, to, webhook_url: webhookUrl, client_state: clientState = null } = body;
    const call = this.#newCall({ from, to, direction: 'outbound', webhookUrl, clientState });
    call.tell('placed', { body });
    void this.#ring(call, body);
    return call;
  }

  /** The course of an outbound call: ring, perhaps answer. What then happens is up to commands. */
  async #ring(call: TelnyxCall, body: DialBody): Promise<void> {
    await pause(RING_AFTER_MS);
    call.become('initiated');
    call.become('ringing');
    const unanswered = systemClock.after(body.timeout_secs * 1_000, () => call.refuse('no-answer'));
    this.#pickUp(call);
    const decision = await call.answerDecision;
    unanswered.cancel();
    if (decision !== 'in-progress') {
      call.end(decision);
      return;
    }
    call.become('in-progress');
    systemClock.after(body.time_limit_secs * 1_000, () => call.end('completed'));
    if (body.answering_machine_detection !== 'detect') return;
    await pause(VERDICT_AFTER_MS);
    if (!call.isOver) call.notify('call.machine.detection.ended', { result: call.answeredBy });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    const [, version, ...path] = url.pathname.split('/').map(decodeURIComponent);
    const text = await readBody(request);
    const answer = answerRest(this.account, {
      method: request.method ?? '',
      path: version === 'v2' ? path : [],
      query: url.searchParams,
      authorization: request.headers.authorization ?? '',
      body: text === '' ? undefined : JSON.parse(text),
    });
    response.writeHead(answer.status, answerHeaders(this.state));
    response.end(JSON.stringify(answer.body));
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}
