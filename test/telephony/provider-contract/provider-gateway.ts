// The least gateway that can hold a call of a hosted provider, made of the real provider, the real media server and the
// real media session: it verifies every request, answers calls, and keeps what comes.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallActions } from '../../../src/call/start/call-actions.ts';
import { codecByName } from '../../../src/codec/registry.ts';
import type { Clock } from '../../../src/std/clock.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaStart,
} from '../../../src/telephony/provider/media-session.ts';
import type {
  HostedProvider,
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../../src/telephony/provider/provider.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';
import { resampled } from './resampled.ts';

/** What the gateway has of one call's media. */
export class GatewayLine implements MediaListener {
  start: MediaStart | undefined;
  /** The caller, as samples of the stream's rate. */
  heard: number[] = [];
  digits = '';
  readonly marks: { name: string; outcome: string }[] = [];
  closed: string | undefined;
  readonly session: SocketMediaSession;
  readonly #changed: () => void;

  constructor(session: SocketMediaSession, changed: () => void) {
    this.session = session;
    this.#changed = changed;
  }

  onAudio(payload: Uint8Array): void {
    if (this.start === undefined) return;
    const codec = codecByName(this.start.codecIn);
    const pcm = new Int16Array(codec.samplesIn(payload));
    codec.decode(payload, pcm);
    for (const sample of pcm) this.heard.push(sample);
    this.#changed();
  }

  onEvent(event: MediaEvent): void {
    if (event.type === 'started') this.start = event.start;
    else if (event.type === 'digit') this.digits += event.digit;
    else if (event.type === 'mark') this.marks.push({ name: event.name, outcome: event.outcome });
    else if (event.type === 'closed') this.closed = event.reason;
    this.#changed();
  }

  /** Sends 8 kHz samples in messages of the provider's step, all at once. */
  play(samples: Int16Array): void {
    const codec = codecByName(this.start?.codecOut ?? '');
    const wide = resampled(samples, codec.rateHz);
    const step = (this.session.traits.lead.stepMs * codec.rateHz) / 1_000;
    for (let at = 0; at < wide.length; at += step) {
      const frame = new Int16Array(step);
      frame.set(wide.subarray(at, at + step));
      const payload = new Uint8Array((codec.frameBytes * this.session.traits.lead.stepMs) / 20);
      codec.encode(frame, payload);
      this.session.audio(payload);
    }
  }
}

export class ProviderGateway {
  readonly provider: HostedProvider;
  credentials: Record<string, unknown> = {};
  /** Events that were verified. */
  readonly events: ProviderEvent[] = [];
  /** Requests that were verified. */
  readonly requests: ProviderRequest[] = [];
  readonly lines: GatewayLine[] = [];
  refused = 0;
  /** What becomes of inbound calls. */
  inbound: 'answer' | 'reject' | 'lose-first-reply' = 'answer';
  readonly #clock: Clock;
  readonly #actions: CallActions;
  readonly #server: Server;
  readonly #media: ReturnType<typeof createMediaServer>;
  #waiting: (() => void)[] = [];
  #inboundAsked = 0;

  constructor(provider: HostedProvider, clock: Clock) {
    this.provider = provider;
    this.#clock = clock;
    this.#actions = new CallActions({ clock, log: quietLog().log });
    this.#server = createServer((request, response) => {
      void this.#receive(request).then((reply) => {
        if (reply === undefined) response.destroy();
        else
          response.writeHead(reply.status, { 'content-type': reply.contentType }).end(reply.body);
      });
    });
    this.#media = createMediaServer({
      log: quietLog().log,
      clock,
      authorize: async (_path, headers, url) => this.#authorize(headers, url ?? ''),
    });
    this.#server.on('upgrade', (request, socket, head) => {
      void this.#media.handleUpgrade(request, socket, head);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get base(): string {
    const { port } = this.#server.address() as AddressInfo; // A TCP server has an address of this kind.
    return `http://127.0.0.1:${port}`;
  }

  /** Settles once `test` is true; it is looked at whenever something came. */
  async until(test: () => boolean): Promise<void> {
    while (!test()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The media of the next call, started. */
  async nextLine(): Promise<GatewayLine> {
    const count = this.lines.length;
    await this.until(() => this.lines[count]?.start !== undefined);
    return this.lines[count] as GatewayLine;
  }

  urls(run: string): {
    answerUrl: string;
    statusUrl: string;
    answeredByUrl: string;
    transferUrl: string;
    resultUrl: string;
    /** URLs for the destination's leg of a warm transfer. */
    legUrls: { id: string; answerUrl: string; statusUrl: string; answeredByUrl: string };
  } {
    const { routes } = this.provider.webhook;
    const base = `${this.base}/api/v1/telephony/${this.provider.name}`;
    const id = `${run}-w${'0'.repeat(32)}`;
    const statusUrl = `${this.base}/api/v1/telephony/${routes.transferResult}/${id}`;
    return {
      legUrls: { id, answerUrl: `${base}/answer/${id}`, statusUrl, answeredByUrl: statusUrl },
      answerUrl: `${base}/answer/${run}`,
      statusUrl: `${base}/${routes.status}/${run}`,
      answeredByUrl: `${base}/${routes.answeredBy}/${run}`,
      transferUrl: `${base}/transfer/${run}`,
      resultUrl: `${this.base}/api/v1/telephony/${routes.transferResult}/${run}-c${'0'.repeat(32)}`,
    };
  }

  async close(): Promise<void> {
    await this.#media.close(1001);
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #authorize(headers: Record<string, string | undefined>, url: string) {
    const upgrade = bare(`${this.base.replace('http', 'ws')}${url}`, headers);
    const { verifyUpgrade } = this.provider.webhook;
    if (verifyUpgrade?.(upgrade, this.credentials) === false) {
      this.refused += 1;
      return { refuse: 4401, reason: 'signature' };
    }
    return {
      accept: (socket: ConstructorParameters<typeof SocketMediaSession>[0]['socket']) => {
        const protocol = this.provider.createMedia();
        const { log } = quietLog();
        const session = new SocketMediaSession({ socket, protocol, clock: this.#clock, log });
        const line = new GatewayLine(session, () => this.#wake());
        this.lines.push(line);
        session.attach(line);
        return session;
      },
    };
  }

  /** Undefined: the connection breaks without a reply. */
  async #receive(request: IncomingMessage): Promise<WebhookReply | undefined> {
    const asked = await providerRequestOf(this.base, request);
    const { webhook, capabilities } = this.provider;
    const isKnown = webhook.recognises(asked) || !asked.url.includes('/inbound/');
    if (!isKnown || !webhook.verify(asked, this.credentials, this.#clock.now())) {
      this.refused += 1;
      return { status: 401, contentType: 'text/plain', body: 'no' };
    }
    const event = webhook.parse(asked);
    this.events.push(event);
    this.requests.push(asked);
    this.#wake();
    if (event.kind === 'inbound-call') return this.#onInbound(event);
    const isAnswer = asked.url.includes('/answer/');
    const isAnswered = event.kind === 'status' && event.status === 'in-progress';
    const isCommand = capabilities.answerStyle === 'command';
    if (
      'callId' in event &&
      (isAnswer || (isCommand && isAnswered && /\/1(?:-w0+)?$/.test(asked.url)))
    ) {
      return this.#connect(event.callId, 'outbound');
    }
    return webhook.transferDocument?.(asked) ?? webhook.acknowledge();
  }

  async #onInbound({
    callId,
  }: Extract<ProviderEvent, { kind: 'inbound-call' }>): Promise<WebhookReply | undefined> {
    this.#inboundAsked += 1;
    if (this.inbound === 'reject') {
      const action = this.provider.webhook.reject('busy', callId);
      return this.#actions.perform(action, this.credentials);
    }
    const reply = await this.#connect(callId, 'inbound');
    return this.inbound === 'lose-first-reply' && this.#inboundAsked === 1 ? undefined : reply;
  }

  #connect(callId: string, direction: 'inbound' | 'outbound'): Promise<WebhookReply> {
    const run = direction === 'inbound' ? '2' : '1';
    const { statusUrl, answeredByUrl } = this.urls(run);
    const action = this.provider.webhook.answer({
      runId: run,
      callId,
      statusUrl,
      answeredByUrl,
      isAnswered: direction === 'outbound',
      mediaUrl: `${this.base.replace('http', 'ws')}/api/v1/telephony/ws/1/2/${run}/t`,
    });
    return this.#actions.perform(action, this.credentials);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

async function providerRequestOf(base: string, request: IncomingMessage): Promise<ProviderRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const url = `${base}${request.url}`;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = Buffer.concat(chunks).toString();
  if (body === '') return bare(url, headers);
  const isForm = headers['content-type']?.includes('urlencoded') === true;
  return isForm ? formPost(url, body, headers) : jsonPost(url, body, headers);
}
