// One phone call at the fake Vonage: the documents (NCCO) that drive it, and its events.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { type FakeStatus, HostedCall } from '../hosted/hosted-call.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { CallEvents, type VonageWebhooks } from './events.ts';
import { vonageWire } from './media-wire.ts';

export interface VonageCallOptions {
  clock: Clock;
  webhooks: VonageWebhooks;
  reach: (url: string) => string;
  from: string;
  to: string;
  direction: 'inbound' | 'outbound';
  eventUrl: string;
  mischief: Mischief;
}

/** How long a character of `talk` takes. */
const TALK_MS_PER_CHARACTER = 2;

const words: Readonly<Record<FakeStatus, string | undefined>> = {
  queued: undefined,
  initiated: 'started',
  ringing: 'ringing',
  'in-progress': 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'unanswered',
  failed: 'failed',
  canceled: 'cancelled',
};

const document = z.array(
  z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('talk'), text: z.string().max(1_500) }),
    z.strictObject({
      action: z.literal('connect'),
      from: z.string().regex(/^\d+$/).optional(),
      limit: z.int().min(1).max(7_200).optional(),
      timeout: z.int().min(1).max(120).optional(),
      endpoint: z.tuple([
        z.discriminatedUnion('type', [
          z.strictObject({
            type: z.literal('websocket'),
            uri: z.string().regex(/^wss?:\/\//),
            'content-type': z.literal('audio/l16;rate=8000'),
            headers: z
              .record(z.string(), z.string())
              .refine((headers) => JSON.stringify(headers).length <= 512),
          }),
          z.strictObject({ type: z.literal('phone'), number: z.string().regex(/^\d{7,15}$/) }),
          z.strictObject({ type: z.literal('sip'), uri: z.string().regex(/^sips?:/) }),
        ]),
      ]),
    }),
  ]),
);
type Action = z.infer<typeof document>[number];
type Connect = Extract<Action, { action: 'connect' }>;

export class VonageCall extends HostedCall {
  readonly conversationId = `CON-${randomUUID()}`;
  readonly createdAt: number;
  readonly #options: VonageCallOptions;
  readonly #events: CallEvents;
  /** Grows with each document, so that a transfer stops the one before. */
  #document = 0;

  constructor(options: VonageCallOptions) {
    const { clock, from, to, direction } = options;
    super({ clock, id: randomUUID(), from, to, direction });
    this.#options = options;
    this.createdAt = clock.now();
    this.#events = new CallEvents(options.webhooks, options.mischief);
  }

  get direction(): 'inbound' | 'outbound' {
    return this.#options.direction;
  }

  /** Vonage's word. */
  get word(): string {
    return words[this.status] ?? 'started';
  }

  override callbacksSettled(): Promise<void> {
    return this.#events.settled();
  }

  override end(status: FakeStatus): void {
    if (!this.isOver) this.#document += 1;
    super.end(status);
  }

  protected override announce(status: FakeStatus): void {
    const word = words[status];
    if (word === undefined) return;
    const length = this.isOver
      ? { duration: String(this.durationS), price: '0.1', rate: '0.1' }
      : {};
    this.#announce({ ...this.fields(), status: word, ...length });
  }

  /** What every webhook about this call has. */
  fields(): Record<string, unknown> {
    const { from, to, conversationId } = this;
    return {
      ...{ from, to, uuid: this.id, conversation_uuid: conversationId },
      ...{ direction: this.direction, timestamp: new Date().toISOString() },
    };
  }

  /** Asks for a document and carries it out. */
  async follow(url: string): Promise<void> {
    const { from, to, conversationId } = this;
    const asked = { from, to, uuid: this.id, conversation_uuid: conversationId };
    const { status, body } = await this.#options.webhooks.post(url, asked);
    this.tell('document', { url, status, body });
    if (status !== 200) {
      this.end(this.status === 'in-progress' ? 'completed' : 'failed');
      return;
    }
    await this.run(JSON.parse(body));
  }

  /** Carries a document out, to its end or until another takes its place. */
  async run(ncco: unknown): Promise<void> {
    this.#document += 1;
    const mine = this.#document;
    this.leaveMedia();
    const read = document.safeParse(ncco);
    if (!read.success) {
      this.tell('protocol-fault', { message: read.error.message });
      this.end('failed');
      return;
    }
    for (const action of read.data) {
      if (this.#document !== mine) return;
      this.become('in-progress');
      if (action.action === 'connect') await this.#connect(action);
      else {
        this.tell('said', { text: action.text });
        await this.pause(action.text.length * TALK_MS_PER_CHARACTER);
      }
    }
    if (this.#document === mine) this.end('completed');
  }

  async #connect({ endpoint: [endpoint], from, timeout }: Connect): Promise<void> {
    if (endpoint.type !== 'websocket') {
      const to = endpoint.type === 'phone' ? endpoint.number : endpoint.uri;
      this.tell('dialed', { to, callerId: from, ringS: timeout });
      await this.ended; // The other leg stays until the person hangs up.
      return;
    }
    const { uri, 'content-type': contentType, headers } = endpoint;
    const leg = { ...this.fields(), uuid: randomUUID(), to: uri, direction: 'outbound' };
    this.#announce({ ...leg, status: 'answered' });
    await this.connectMedia({
      url: uri,
      reachUrl: this.#options.reach(uri),
      headers: {},
      wire: vonageWire(contentType, headers),
    });
    this.#announce({ ...leg, status: 'disconnected' });
    this.#announce({ ...leg, status: 'completed', duration: '1' });
  }

  #announce(content: Record<string, unknown>): void {
    const { eventUrl } = this.#options;
    if (eventUrl !== '') this.#events.send(eventUrl, content, this.isOver);
  }
}
