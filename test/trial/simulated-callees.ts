// A provider with Twilio's REST interface and ten thousand people behind it. It answers dials, rings,
// sends callbacks (in order, doubled, swapped, late, not at all), opens media streams for those who pick
// up, and writes down every call. Leaner than test/fakes/twilio, and on purpose unreliable.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { readTwiml } from '../fakes/twilio/markup.ts';
import { WebhookSender } from '../fakes/twilio/webhooks.ts';
import { CallbackSender } from './callback-sender.ts';
import { drawLot, type Fate, type Lot, type Reply } from './fate.ts';
import { talk } from './short-stream.ts';

type Status = 'queued' | 'initiated' | 'ringing' | 'in-progress' | 'completed' | 'canceled' | Fate;

/** One call as the provider knows it. */
export interface LedgerCall extends Lot {
  sid: string;
  to: string;
  from: string;
  status: Status;
  /** Milliseconds since 1970. */
  placedAt: number;
  endedAt: number | undefined;
  /** Whether its media reached the gateway and stayed to the end of the talk. */
  talked: boolean;
  hungUpByGateway: boolean;
}

export interface SimulatedCalleesOptions {
  accountSid: string;
  authToken: string;
  numbers: readonly string[];
  seed: string;
  /** The fate of each call. Default: drawn by the seed. */
  lotOf?: ((to: string, dial: number) => Lot) | undefined;
}

const SILENT_MS = 60_000;
/** The longest wait for a dial, and how long the gateway takes to write one down. */
const DIAL_MS_MAX = 2_000;
const SETTLED_MS = 100;

type Answer = { status: number; body: unknown } | 'cut' | 'silence';

function fault(status: number, code: number, message: string): Answer {
  return { status, body: { code, message, status } };
}

const OUT_OF_ORDER = fault(500, 20_500, 'An internal error');

/** One dial in four places its call, and says otherwise. */
function replyOutOfOrder({ ringMs }: Lot): Reply {
  return Math.floor(ringMs) % 4 === 0 ? 'broken-placed' : 'broken';
}

/** Twilio's word for a status. */
function wordOf(status: Status): string {
  return status === 'answered' || status === 'voicemail' ? 'completed' : status;
}

export class SimulatedCallees {
  readonly calls = new Map<string, LedgerCall>();
  /** When each dial arrived, placed or not. */
  readonly dialledAt: number[] = [];
  /** How long the gateway took to answer each status callback. */
  readonly callbackMs: number[] = [];
  /** From when to when the provider was out of order. */
  readonly outages: { from: number; to: number }[] = [];
  readonly #options: SimulatedCalleesOptions;
  readonly #sender: WebhookSender;
  readonly #dials = new Map<string, number>();
  readonly #byNumber = new Map<string, LedgerCall[]>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  constructor(options: SimulatedCalleesOptions) {
    this.#options = options;
    this.#sender = new WebhookSender({ authToken: options.authToken, reach: (url) => url });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** From here on every request is answered 500; some dials place a call all the same. */
  beOutOfOrderFor(ms: number): void {
    const from = Date.now();
    this.outages.push({ from, to: from + ms });
  }

  /** A moment after a dial, before the next, where they come seldom enough. */
  async betweenDials(): Promise<void> {
    const before = this.dialledAt.length;
    const until = Date.now() + DIAL_MS_MAX;
    while (this.dialledAt.length === before && Date.now() < until) await pause(2);
    await pause(SETTLED_MS);
  }

  get #isOutOfOrder(): boolean {
    return Date.now() < (this.outages.at(-1)?.to ?? 0);
  }

  /** Dials that reached the provider, by number, placed or not. */
  dialsOf(to: string): number {
    return this.#dials.get(to) ?? 0;
  }

  callsTo(to: string): readonly LedgerCall[] {
    return this.#byNumber.get(to) ?? [];
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://callees');
    const form = new URLSearchParams(await bodyOf(request));
    const answer = this.#isOurs(request.headers.authorization ?? '')
      ? this.#answer(request.method ?? '', url, form)
      : { status: 401, body: { code: 20_003, message: 'Authenticate' } };
    if (answer === 'cut') {
      response.destroy();
    } else if (answer === 'silence') {
      setTimeout(() => response.destroy(), SILENT_MS).unref();
    } else {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    }
  }

  #answer(method: string, { pathname, searchParams }: URL, form: URLSearchParams): Answer {
    const [, resource = '', sid] = /Accounts\/\w+\/(\w+)(?:\/(\w+))?\.json$/.exec(pathname) ?? [];
    if (resource === 'IncomingPhoneNumbers') {
      return { status: 200, body: this.#numberList(searchParams) };
    }
    const isDial = sid === undefined && method === 'POST';
    if (isDial) return this.#dial(form);
    if (this.#isOutOfOrder) return OUT_OF_ORDER;
    if (sid !== undefined) return this.#oneCall(method, sid, form);
    return { status: 200, body: this.#callList(searchParams) };
  }

  #isOurs(authorization: string): boolean {
    const { accountSid, authToken } = this.#options;
    const expected = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    const [a, b] = [Buffer.from(authorization), Buffer.from(expected)];
    return a.length === b.length && timingSafeEqual(a, b);
  }

  #numberList(query: URLSearchParams): unknown {
    const wanted = query.get('PhoneNumber') ?? '';
    const found = this.#options.numbers.filter((number) => number.includes(wanted));
    const incomingPhoneNumbers = found.map((number) => ({
      sid: `PN${number.slice(1)}`,
      phone_number: number,
      voice_url: '',
      voice_application_sid: '',
      trunk_sid: '',
    }));
    return { incoming_phone_numbers: incomingPhoneNumbers, next_page_uri: null };
  }

  /** Newest first, as Twilio lists them, and late. */
  #callList(query: URLSearchParams): unknown {
    const to = query.get('To') ?? '';
    const from = query.get('From');
    const since = Date.parse(query.get('StartTime>') ?? query.get('StartTime>=') ?? '') || 0;
    const calls = this.callsTo(to)
      .filter((call) => (from === null || call.from === from) && call.placedAt >= since)
      .filter(({ placedAt, listedAfterMs }) => placedAt + listedAfterMs <= Date.now())
      .map(bodyOfCall)
      .toReversed();
    return { calls, next_page_uri: null };
  }

  #oneCall(method: string, sid: string, form: URLSearchParams): Answer {
    const call = this.calls.get(sid);
    if (call === undefined) return fault(404, 20_404, 'The call was not found');
    if (method === 'POST') {
      if (isOver(call)) return fault(400, 21_220, 'Call is not in-progress.');
      if (['completed', 'canceled'].includes(form.get('Status') ?? '')) {
        call.hungUpByGateway = true;
        this.#end(call, call.status === 'in-progress' ? 'completed' : 'canceled');
      }
    }
    return { status: 200, body: bodyOfCall(call) };
  }

  #dial(form: URLSearchParams): Answer {
    const to = form.get('To') ?? '';
    const dial = this.dialsOf(to);
    this.#dials.set(to, dial + 1);
    this.dialledAt.push(Date.now());
    const { seed, lotOf = (...of) => drawLot(seed, ...of) } = this.#options;
    const drawn = lotOf(to, dial);
    const lot = this.#isOutOfOrder ? { ...drawn, reply: replyOutOfOrder(drawn) } : drawn;
    if (lot.reply === 'throttled') return fault(429, 20_429, 'Too many requests');
    if (lot.reply === 'broken') return OUT_OF_ORDER;
    if (lot.reply === 'silent') return 'silence';
    const call = this.#place(lot, to, form);
    if (lot.reply === 'broken-placed') return OUT_OF_ORDER;
    if (lot.reply === 'silent-placed') return 'silence';
    if (lot.reply === 'cut-placed') return 'cut';
    return { status: 201, body: bodyOfCall(call) };
  }

  #place(lot: Lot, to: string, form: URLSearchParams): LedgerCall {
    const call: LedgerCall = {
      ...lot,
      sid: `CA${randomBytes(16).toString('hex')}`,
      to,
      from: form.get('From') ?? '',
      status: 'queued',
      placedAt: Date.now(),
      endedAt: undefined,
      talked: false,
      hungUpByGateway: false,
    };
    this.calls.set(call.sid, call);
    this.#byNumber.set(to, [...this.callsTo(to), call]);
    void this.#live(call, form);
    return call;
  }

  /** The course of one call. */
  async #live(call: LedgerCall, form: URLSearchParams): Promise<void> {
    const callbackSender = new CallbackSender(this.#sender, form.get('StatusCallback') ?? '', {
      news: call.news,
      onAnswer: (ms) => this.callbackMs.push(ms),
    });
    const tell = (status: Status, isLast: boolean): void => {
      this.#sender.delivered.length = 0; // Ten thousand calls would fill the memory.
      const length = isLast ? { ['CallDuration']: call.status === 'completed' ? '1' : '0' } : {};
      callbackSender.tell(
        { ...this.#fieldsOf(call), ['CallStatus']: wordOf(status), ...length },
        isLast,
      );
    };
    await pause(5);
    if (isOver(call)) return tell(call.status, true);
    call.status = 'ringing';
    tell('initiated', false);
    tell('ringing', false);
    await pause(call.ringMs);
    if (!isOver(call) && (call.fate === 'answered' || call.fate === 'voicemail')) {
      call.status = 'in-progress';
      tell('in-progress', false);
      await this.#pickUp(call, form);
      this.#end(call, 'completed');
    } else this.#end(call, call.fate);
    tell(call.status, true);
  }

  #end(call: LedgerCall, status: Status): void {
    if (isOver(call)) return;
    call.status = status;
    call.endedAt = Date.now();
  }

  async #pickUp(call: LedgerCall, form: URLSearchParams): Promise<void> {
    const { status, body } = await this.#sender.post(form.get('Url') ?? '', this.#fieldsOf(call));
    if (status !== 200 || isOver(call)) return;
    const stream = readTwiml(body).find((verb) => verb.verb === 'Stream');
    if (stream === undefined) return;
    void this.#detect(call, form);
    call.talked = await talk({
      url: stream.url,
      callSid: call.sid,
      accountSid: this.#options.accountSid,
      authToken: this.#options.authToken,
      parameters: stream.parameters,
      ms: call.talkMs,
      isOver: () => isOver(call),
    });
  }

  /** What the answering-machine detection says, early in the talk. */
  async #detect(call: LedgerCall, form: URLSearchParams): Promise<void> {
    const url = form.get('AsyncAmdStatusCallback');
    if (url === null) return;
    await pause(50);
    const verdict = call.fate === 'voicemail' ? 'machine_start' : 'human';
    const { accountSid } = this.#options;
    await this.#sender.post(url, {
      ['CallSid']: call.sid,
      ['AccountSid']: accountSid,
      ['AnsweredBy']: verdict,
      ['MachineDetectionDuration']: '50',
    });
  }

  #fieldsOf(call: LedgerCall): Record<string, string> {
    return {
      ['CallSid']: call.sid,
      ['AccountSid']: this.#options.accountSid,
      ['From']: call.from,
      ['To']: call.to,
      ['CallStatus']: wordOf(call.status),
      ['Direction']: 'outbound-api',
      ['ApiVersion']: '2010-04-01',
    };
  }
}

function isOver({ endedAt }: LedgerCall): boolean {
  return endedAt !== undefined;
}

function bodyOfCall(call: LedgerCall): Record<string, unknown> {
  const created = new Date(call.placedAt).toUTCString();
  return {
    sid: call.sid,
    from: call.from,
    to: call.to,
    status: wordOf(call.status),
    direction: 'outbound-api',
    duration: isOver(call) ? '1' : null,
    date_created: created,
    start_time: created,
    answered_by: null,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
