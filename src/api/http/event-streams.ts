// Event streams of this process: their limits, their end when the process stops, and one stream of server-sent events
// (SSE) from a feed to a response, with back-pressure: it waits for a client that does not read, then drops it; nothing
// is queued. Source: WHATWG HTML, "Server-sent events".

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventFeed, FeedMessage, MessageData } from '../../call/events/event-feeds.ts';
import { isInterim, type LiveWatchers, type Watcher } from '../../call/events/live-watchers.ts';
import { stamp } from '../../call/events/transcript.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { PlaceStore } from '../../store/db/places.ts';

/** Longest stream; after it the client reconnects, perhaps to another process. */
export const STREAM_LIFE_MS = 3_600_000;
/** Streams of one organization: people with dashboards, and some programs. */
const OF_ORGANIZATION_MAX = 20;
/** Time after a stream's longest life in which its place is given back. */
const AFTER_LIFE_MS = 60_000;
/** Streams of this process: each reads the store once a second. */
const OF_PROCESS_MAX = 500;

export class EventStreams {
  readonly #deps: StreamDeps & { places: PlaceStore };
  readonly #open = new Map<EventStream, string>();
  #isClosing = false;

  constructor(deps: StreamDeps & { places: PlaceStore }) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Answers with the events of the feed; resolves when the stream is over. With `lastId`, a feed that is over and
   *  has nothing new is answered 204: the client need not reconnect. Throws STREAMS_FULL, GATEWAY_DRAINING,
   *  STORE_UNAVAILABLE before the first byte. */
  async answer(
    feed: EventFeed,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
    options: { organizationId: string; isFollowing: boolean; isResumed: boolean },
  ): Promise<void> {
    const { organizationId, isFollowing, isResumed } = options;
    this.#refuse(organizationId);
    const stream = new EventStream(this.#deps, feed, reply.raw);
    this.#open.set(stream, organizationId);
    let giveBack: (() => Promise<void>) | undefined;
    try {
      giveBack = await this.#place(organizationId);
      const first = await feed.read();
      const hasNews = first.some(({ event }) => event !== 'completed');
      if (feed.isOver && isResumed && !hasNews) {
        await reply.status(204).send();
        return;
      }
      begin(request, reply);
      await stream.run(first, isFollowing).catch((error: unknown) => {
        request.log.warn({ err: error }, 'event stream ended');
      });
    } finally {
      this.#open.delete(stream);
      await giveBack?.();
    }
  }

  /** The organization's place among the streams of all gateways. */
  async #place(organizationId: string): Promise<() => Promise<void>> {
    const { places, lifeMs } = this.#deps;
    const claim = { max: OF_ORGANIZATION_MAX, ms: lifeMs + AFTER_LIFE_MS };
    const giveBack = await places.take(`streams ${organizationId}`, claim);
    if (giveBack === undefined)
      throw new GatewayError('STREAMS_FULL', { limit: OF_ORGANIZATION_MAX });
    return giveBack;
  }

  /** Ends all streams with a message; clients reconnect to another process. */
  close(): void {
    this.#isClosing = true;
    for (const stream of this.#open.keys()) stream.close('closing');
  }

  #refuse(organizationId: string): void {
    if (this.#isClosing) throw new GatewayError('GATEWAY_DRAINING');
    if (this.#open.size >= OF_PROCESS_MAX) {
      throw new GatewayError('STREAMS_FULL', { limit: OF_PROCESS_MAX });
    }
    const own = [...this.#open.values()].filter((each) => each === organizationId).length;
    if (own >= OF_ORGANIZATION_MAX) {
      throw new GatewayError('STREAMS_FULL', { limit: OF_ORGANIZATION_MAX });
    }
  }
}

/** Takes over the response for the stream. */
function begin(request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('X-Request-Id', request.id)
    .header('Content-Type', 'text/event-stream; charset=utf-8')
    .header('Cache-Control', 'no-store')
    // Proxies would hold answers back to send larger pieces.
    .header('X-Accel-Buffering', 'no');
  const headers = reply.getHeaders();
  reply.hijack();
  request.place?.leave();
  reply.raw.writeHead(200, headers as Record<string, string | string[] | number>); // None is undefined.
}

/** Interval of heartbeats: proxies close a silent connection after a minute, some after half a minute. */
const HEARTBEAT_MS = 15_000;
/** Interval of reads for what nobody reports: calls of other gateways that cannot be reached, and new calls. */
const LOOK_MS = 1_000;
/** The same for a feed of which everything is reported, after a first read that brought nothing. */
const LOOK_REPORTED_MS = 10_000;
/** Shortest pause between two reads, however much happens. */
const PAUSE_MS = 250;
/** Longest wait for a client that reads nothing. */
const STALL_MS_MAX = 30_000;
/** Time for the last messages to reach a slow client. */
const FAREWELL_MS = 2_000;
/** Live items that are queued; they are sent once and not kept. More than a call produces between two reads. */
const LIVE_MAX = 100;
/** Interim words among them: they are frequent, and the next ones replace them. */
const INTERIM_MAX = LIVE_MAX / 2;

/** Why a stream ends before its call. */
type CloseReason = 'slow' | 'closing' | 'lifetime' | 'unavailable';

interface StreamDeps {
  clock: Clock;
  live: LiveWatchers;
  lifeMs: number;
  /** Whether other gateways report what happens in their calls. */
  areOthersReporting?: (() => boolean) | undefined;
}

/** A stream of events from one feed to one client. */
export class EventStream implements Watcher {
  readonly #deps: StreamDeps;
  readonly #feed: EventFeed;
  readonly #response: ServerResponse;
  readonly #watches = new Map<string, () => void>();
  #live: FeedMessage[] = [];
  /** Where a client goes on that has what was written. */
  #place: string;
  #isStored = false;
  /** Reads in a row that brought nothing. */
  #idleReads = 0;
  #isGone = false;
  #reason: CloseReason | undefined;
  #heartbeat: Timer | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: StreamDeps, feed: EventFeed, response: ServerResponse) {
    this.#deps = deps;
    this.#feed = feed;
    this.#response = response;
    this.#place = feed.place;
    response.once('close', () => this.#leave());
  }

  onStored(): void {
    this.#isStored = true;
    this.#wake();
  }

  onLive(runId: string, item: Parameters<Watcher['onLive']>[1]): void {
    if (this.#live.length >= (isInterim(item) ? INTERIM_MAX : LIVE_MAX)) return;
    this.#live.push(this.#feed.liveMessage(runId, item));
    this.#wake();
  }

  /** Ends the stream with a message about the reason. */
  close(reason: CloseReason): void {
    this.#reason ??= reason;
    this.#wake();
  }

  /** Sends every stored event, and goes on until the feed is over, the client is gone or `close` is called.
   *  `isFollowing`: waits for further events. Rejects if the store fails. */
  async run(first: readonly FeedMessage[], isFollowing: boolean): Promise<void> {
    const { clock, lifeMs } = this.#deps;
    const life = clock.after(lifeMs, () => this.close('lifetime'));
    this.#response.write('retry: 3000\n\n');
    this.#beat();
    try {
      await this.#writeRead(first);
      while (!this.#isGone && this.#reason === undefined && !this.#feed.isOver) {
        this.#watchAll();
        this.#isStored = false;
        const messages = await this.#feed.read();
        await this.#writeRead(messages);
        this.#idleReads = messages.length > 0 ? 0 : this.#idleReads + 1;
        if (messages.length > 0) continue;
        if (!isFollowing) break;
        await this.#news();
      }
    } catch (error) {
      this.#reason ??= 'unavailable';
      throw error;
    } finally {
      life.cancel();
      for (const unwatch of this.#watches.values()) unwatch();
      this.#end();
    }
  }

  #watchAll(): void {
    const wanted = new Set(this.#feed.runIds);
    for (const [runId, unwatch] of this.#watches) {
      if (wanted.has(runId)) continue;
      unwatch();
      this.#watches.delete(runId);
    }
    for (const runId of wanted) {
      if (!this.#watches.has(runId)) this.#watches.set(runId, this.#deps.live.watch(runId, this));
    }
  }

  /** Waits until the next read is due. Sends live items meanwhile. */
  async #news(): Promise<void> {
    const { clock } = this.#deps;
    const since = clock.monotonicMs();
    for (;;) {
      await this.#writeAll(this.#live.splice(0));
      const passedMs = clock.monotonicMs() - since;
      const dueMs = (this.#isStored ? PAUSE_MS : this.#lookMs) - passedMs;
      if (this.#isGone || this.#reason !== undefined || dueMs <= 0) return;
      if (this.#live.length === 0) await this.#sleep(dueMs);
    }
  }

  get #lookMs(): number {
    const { areOthersReporting } = this.#deps;
    const isReported = this.#feed.isReported && areOthersReporting?.() === true;
    return isReported && this.#idleReads > 1 ? LOOK_REPORTED_MS : LOOK_MS;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(ms, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** Writes what the feed has read. */
  async #writeRead(messages: readonly FeedMessage[]): Promise<void> {
    await this.#writeAll(messages);
    // Messages that were read and not written are sent again to a client that comes back.
    if (!this.#isGone && this.#reason === undefined) this.#place = this.#feed.place;
  }

  async #writeAll(messages: readonly FeedMessage[]): Promise<void> {
    for (const { id, event, data } of messages) {
      if (this.#isGone || this.#reason !== undefined) return;
      this.#place = id ?? this.#place;
      await this.#write(textOf(this.#place, event, data));
    }
    if (messages.length > 0) this.#beat();
  }

  /** Restarts the heartbeat interval after a write. */
  #beat(): void {
    this.#heartbeat?.cancel();
    if (this.#isGone) return;
    this.#heartbeat = this.#deps.clock.after(HEARTBEAT_MS, () => {
      // No heartbeat while the client reads nothing.
      if (!this.#response.writableNeedDrain) this.#response.write(': still here\n\n');
      this.#beat();
    });
  }

  /** Writes, and waits while the client does not read; ends the stream if that takes too long. */
  async #write(text: string): Promise<void> {
    if (this.#response.write(text)) return;
    const isDrained = await new Promise<boolean>((resolve) => {
      const timer = this.#deps.clock.after(STALL_MS_MAX, () => resolve(false));
      const settle = (): void => {
        timer.cancel();
        resolve(true);
      };
      this.#response.once('drain', settle);
      this.#response.once('close', settle);
    });
    if (!isDrained) this.close('slow');
  }

  #end(): void {
    this.#heartbeat?.cancel();
    if (this.#isGone) return;
    const { clock } = this.#deps;
    const reason = this.#reason;
    if (reason !== undefined) {
      const timestamp = stamp(clock.now());
      // The reason stands beside the payload too, for clients of earlier versions.
      const data = { type: 'closed', payload: { reason }, timestamp, reason };
      this.#response.write(textOf(this.#place, 'closed', data));
    }
    this.#response.end();
    const farewell = clock.after(FAREWELL_MS, () => this.#response.destroy());
    this.#response.once('close', () => farewell.cancel());
  }

  #leave(): void {
    this.#isGone = true;
    this.#heartbeat?.cancel();
    this.#wake();
  }
}

/** The message in SSE format. JSON has no line breaks of its own. */
function textOf(id: string, event: string | null, data: MessageData): string {
  const eventLine = event === null ? '' : `event: ${event}\n`;
  return `id: ${id}\n${eventLine}data: ${JSON.stringify(data)}\n\n`;
}
