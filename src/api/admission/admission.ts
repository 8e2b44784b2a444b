// Admission control of API requests: what a route needs selects its queue, and each queue is shared fairly between
// organizations (fair-queue.ts). Webhooks of providers and probes of orchestrators never wait. Bodies are received
// outside the queues, so that a slow client takes no place.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf } from '../../errors/gateway-error.ts';
import { admissionSeconds, admissionsWaiting } from '../../metrics/api-metrics.ts';
import { clientName } from '../../std/client-address.ts';
import type { Clock } from '../../std/clock.ts';
import { organizationShare, type WorkShare } from '../../std/work-share.ts';
import { clientGone } from './client-gone.ts';
import { FairQueue, HeavyRests, type QueueLimits, tooMany } from './fair-queue.ts';
import type { Admission } from './route-admissions.ts';

type QueueName = Exclude<Admission, 'first'> | 'outsideLarge';

/** Smallest large body. Larger ones need a thread and milliseconds of checks; few agents and hardly any context are
 *  as large. */
export const LARGE_BYTES_MIN = 32_768;
/** Longest time for which a report that is being sent keeps its place; after it, the client reads too slowly. */
const SENDING_MS_MAX = 10_000;

export const QUEUES: Readonly<Record<QueueName, QueueLimits>> = {
  // The event loop and the embedded engine do one thing at a time: more concurrent requests are not faster. One
  // organization leaves some places for the next.
  ordinary: { max: 16, ofNameMax: 12, waitingMax: 256, waitingOfNameMax: 64, waitMsMax: 10_000 },
  heavy: { max: 3, ofNameMax: 1, waitingMax: 32, waitingOfNameMax: 6, waitMsMax: 10_000 },
  // Each request uses a thread and up to 10 MB.
  file: { max: 4, ofNameMax: 1, waitingMax: 32, waitingOfNameMax: 4, waitMsMax: 30_000 },
  outside: { max: 256, ofNameMax: 64, waitingMax: 256, waitingOfNameMax: 64, waitMsMax: 10_000 },
  outsideLarge: { max: 64, ofNameMax: 2, waitingMax: 64, waitingOfNameMax: 8, waitMsMax: 10_000 },
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Place in a queue; null for routes that never wait. */
    place: Place | null;
    /** Whose share of the database the request's statements use. */
    share: WorkShare;
  }
  interface FastifyContextConfig {
    /** What the route needs. Default: `ordinary`. */
    admission?: Admission;
  }
}

export interface AdmissionOptions {
  limits?: Partial<Record<QueueName, QueueLimits>> | undefined;
  /** Whether the event loop is busy. Default: never, so that no name rests. */
  isLoopBusy?: (() => boolean) | undefined;
}

export class RequestAdmission {
  readonly #clock: Clock;
  readonly #names = new ShareNames();
  readonly #rests: HeavyRests;
  readonly #queues: Readonly<Record<QueueName, FairQueue>>;

  constructor(clock: Clock, { limits = {}, isLoopBusy = () => false }: AdmissionOptions = {}) {
    const rests = new HeavyRests(clock, isLoopBusy);
    const queue = (name: QueueName, restsOf?: HeavyRests) =>
      new FairQueue(clock, limits[name] ?? QUEUES[name], restsOf);
    this.#clock = clock;
    this.#rests = rests;
    this.#queues = {
      ordinary: queue('ordinary'),
      heavy: queue('heavy', rests),
      file: queue('file'),
      outside: queue('outside'),
      outsideLarge: queue('outsideLarge', rests),
    };
  }

  /** The share before the key is checked. Webhooks have a share for each sender, separate from the sender's other
   *  requests: anyone may send them, and calls wait for those of providers. */
  shareOf(request: FastifyRequest): WorkShare {
    const isWebhook = request.routeOptions.config.providerBody === true;
    return { name: isWebhook ? `webhooks ${clientName(request.ip)}` : this.#names.nameOf(request) };
  }

  /** Sets the share's name when the principal is known. */
  renameShare({ share, principal }: FastifyRequest): void {
    if (principal !== null) Object.assign(share, organizationShare(principal.organizationId));
  }

  /** Takes a place before the key is checked. Throws what a queue throws. */
  async begin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    this.#rests.note(request.share.name);
    if (kindOf(request) === 'first') return;
    const place = new Place(this.#clock);
    request.place = place;
    reply.raw.once('close', () => place.abandon());
    if (hasBody(request)) this.#refuseFull(request, reply);
    await this.#enter(request, hasBody(request) ? 'ordinary' : queueOf(request));
  }

  /** Refuses a request whose body could not be processed soon, before the body is received and the key is checked,
   *  which would cost more. Throws TOO_MANY_REQUESTS. */
  #refuseFull(request: FastifyRequest, reply: FastifyReply): void {
    const queue = queueOf(request, Number(request.headers['content-length'] ?? 0));
    if (queue === 'ordinary' || !this.#queues[queue].isFullFor(this.#names.nameOf(request))) return;
    admissionSeconds.observe({ class: CLASSES[queue], result: 'refused' }, 0);
    // The client may go on sending its body: closing the connection stops it.
    reply.header('Connection', 'close');
    throw tooMany();
  }

  /** Takes a place again when the body has come, before any work on it. Throws what a queue throws. */
  async resume(request: FastifyRequest): Promise<void> {
    if (request.place?.isHeld === false) await this.#enter(request, queueOf(request));
  }

  /** Gives the place back while the body or the events come. */
  pause(request: FastifyRequest): void {
    if (request.place === null) return;
    if (request.place.isHeld) this.#names.learn(request);
    request.place.leave();
  }

  /** Gives the place back when the answer is ready. An answer that is generated while it is sent keeps its place for
   *  a while. */
  end(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const { place } = request;
    const isMadeLater = payload instanceof Readable && kindOf(request) === 'heavy';
    if (place === null || place.isAbandoned || !isMadeLater) {
      this.pause(request);
      return;
    }
    this.#names.learn(request);
    place.limitTime(SENDING_MS_MAX);
    reply.raw.once('close', () => place.leave());
  }

  async #enter(request: FastifyRequest, queue: QueueName): Promise<void> {
    const name = this.#names.nameOf(request);
    await request.place?.take((signal) => this.#measured(queue, name, signal));
  }

  async #measured(queue: QueueName, name: string, signal: AbortSignal): Promise<() => void> {
    const sinceMs = this.#clock.monotonicMs();
    const className = CLASSES[queue];
    let result = 'admitted';
    admissionsWaiting.inc({ class: className });
    try {
      return await this.#queues[queue].enter(name, signal);
    } catch (error) {
      result = resultOf(error);
      throw error;
    } finally {
      admissionsWaiting.dec({ class: className });
      const seconds = (this.#clock.monotonicMs() - sinceMs) / 1_000;
      admissionSeconds.observe({ class: className, result }, seconds);
    }
  }
}

/** Labels of the queues in metrics. */
const CLASSES: Readonly<Record<QueueName, string>> = {
  ordinary: 'ordinary',
  heavy: 'heavy',
  file: 'file',
  outside: 'outside',
  outsideLarge: 'outside_large',
};

function resultOf(error: unknown): 'refused' | 'busy' | 'gone' {
  if (codeOf(error) === 'TOO_MANY_REQUESTS') return 'refused';
  return codeOf(error) === 'API_BUSY' ? 'busy' : 'gone';
}

/** The place of one request, held during the work on it. */
export class Place {
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  #leave: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isHeld(): boolean {
    return this.#leave !== undefined;
  }

  /** Whether the connection is closed. */
  get isAbandoned(): boolean {
    return this.#gone.signal.aborted;
  }

  async take(enter: (signal: AbortSignal) => Promise<() => void>): Promise<void> {
    this.#leave = await enter(this.#gone.signal);
  }

  limitTime(ms: number): void {
    this.#cancelTimer?.();
    const timer = this.#clock.after(ms, () => this.leave());
    this.#cancelTimer = () => timer.cancel();
  }

  leave(): void {
    this.#cancelTimer?.();
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Leaves the queue: the client is gone, or has its answer. Work that has begun keeps the place until it ends. */
  abandon(): void {
    this.#gone.abort(clientGone);
  }
}

function kindOf({ routeOptions: { config } }: FastifyRequest): Admission {
  if (config.providerBody === true || config.streamedBody === true) return 'first';
  return config.admission ?? 'ordinary';
}

function queueOf(request: FastifyRequest, bytes = request.rawBody.length): QueueName {
  const kind = kindOf(request);
  const isLarge = bytes >= LARGE_BYTES_MIN;
  if (kind === 'outside') return isLarge ? 'outsideLarge' : kind;
  if (kind === 'ordinary' || kind === 'first') return isLarge ? 'heavy' : 'ordinary';
  return kind;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Keys that are cached, as a hash and an id each; the least recently used is removed first. */
const KEYS_MAX = 10_000;
/** Longest text that counts as a key. */
const KEY_LENGTH_MAX = 4_096;

/** Names of the shares of requests whose key has not been checked yet: the organization that
 *  the key belonged to before, or the client's address. A name proves nothing: the key is
 *  checked all the same. */
export class ShareNames {
  readonly #organizations = new Map<string, string>();

  nameOf(request: FastifyRequest): string {
    if (request.principal !== null) return organizationShare(request.principal.organizationId).name;
    const key = keyOf(request);
    const organization = key === undefined ? undefined : this.#organizations.get(key);
    return organization ?? `address ${clientName(request.ip)}`;
  }

  /** Caches the organization of the request's key, once the check of the key has answered. */
  learn(request: FastifyRequest): void {
    const key = keyOf(request);
    if (key === undefined) return;
    this.#organizations.delete(key);
    if (request.principal === null) return;
    this.#organizations.set(key, organizationShare(request.principal.organizationId).name);
    const [oldest] = this.#organizations.keys();
    if (this.#organizations.size > KEYS_MAX && oldest !== undefined) {
      this.#organizations.delete(oldest);
    }
  }
}

/** Hash of the request's key, so that no secret is kept. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key'] ?? headers.authorization;
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX) return undefined;
  return createHash('sha256').update(key).digest('base64');
}
