// One phone call at the fake Vonage: the documents (NCCO) that drive it, and its events.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { DocumentCall } from '../hosted/document-call.ts';
import type { FakeStatus } from '../hosted/hosted-call.ts';
import type { Mischief } from '../hosted/hosted-fake.ts';
import { StatusQueue } from '../hosted/webhooks.ts';
import type { Delivered, VonageWebhooks } from './events.ts';
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
      action: z.literal('notify'),
      payload: z.record(z.string(), z.unknown()),
      eventUrl: z.tuple([z.url()]),
      eventMethod: z.literal('POST'),
    }),
    z.strictObject({
      action: z.literal('conversation'),
      name: z.string().min(1),
      startOnEnter: z.boolean().optional(),
      endOnExit: z.literal(true),
    }),
    z.strictObject({
      action: z.literal('connect'),
      from: z.string().regex(/^\d+$/).optional(),
      limit: z.int().min(1).max(7_200).optional(),
      timeout: z.int().min(1).max(120).optional(),
      eventUrl: z.tuple([z.url()]).optional(),
      eventMethod: z.literal('POST').optional(),
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
type Notify = Extract<Action, { action: 'notify' }>;

export class VonageCall extends DocumentCall<Action> {
  readonly conversationId = `CON-${randomUUID()}`;
  readonly createdAt: number;
  readonly #options: VonageCallOptions;
  readonly #events: StatusQueue;

  constructor(options: VonageCallOptions) {
    const { clock, from, to, direction } = options;
    super({ clock, id: randomUUID(), from, to, direction });
    this.#options = options;
    this.createdAt = clock.now();
    this.#events = new StatusQueue(options.mischief);
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
      from,
      to,
      uuid: this.id,
      conversation_uuid: conversationId,

      direction: this.direction,
      timestamp: new Date().toISOString(),
    };
  }

  protected override fetchDocument(url: string): Promise<Delivered> {
    const { from, to, conversationId } = this;
    const asked = { from, to, uuid: this.id, conversation_uuid: conversationId };
    return this.#options.webhooks.post(url, asked);
  }

  protected override read(ncco: string): Action[] {
    return document.parse(JSON.parse(ncco));
  }

  protected override async perform(action: Action): Promise<void> {
    this.become('in-progress');
    if (action.action === 'connect') await this.#connect(action);
    else if (action.action === 'notify') await this.#notify(action);
    else if (action.action === 'conversation') await this.conferences.enter(action.name, this);
    else await this.speak(action.text, TALK_MS_PER_CHARACTER);
  }

  /** A document in the answer takes the place of this one; an empty answer changes nothing. */
  async #notify({ payload, eventUrl: [url] }: Notify): Promise<void> {
    const { status, body } = await this.#options.webhooks.post(url, { ...this.fields(), payload });
    this.tell('document', { url, status, body });
    if (status === 200 && body.startsWith('[{')) await this.run(body);
  }

  async #connect({ endpoint: [endpoint], from, timeout, eventUrl }: Connect): Promise<void> {
    if (endpoint.type !== 'websocket') {
      const to = endpoint.type === 'phone' ? endpoint.number : endpoint.uri;
      if (eventUrl !== undefined) {
        const leg = { ...this.fields(), uuid: randomUUID(), to, direction: 'outbound' };
        const { webhooks } = this.#options;
        this.#events.send(() => webhooks.post(eventUrl[0], { ...leg, status: 'answered' }), true);
      }
      await this.dialOut({ to, callerId: from, ringS: timeout });
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
    const { eventUrl, webhooks } = this.#options;
    if (eventUrl !== '') this.#events.send(() => webhooks.post(eventUrl, content), this.isOver);
  }
}
