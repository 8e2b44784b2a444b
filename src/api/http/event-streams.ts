// All event streams of this process: their limits, and their end when the process stops.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventFeed } from '../../call/events/event-feed.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { EventStream, type StreamDeps } from './event-stream.ts';

/** Longest stream; after it the client reconnects, perhaps to another process. */
export const STREAM_LIFE_MS = 3_600_000;
/** Streams of one organization: people with dashboards, and some programs. */
const OF_ORGANIZATION_MAX = 20;
/** Streams of this process: each reads the store once a second. */
const OF_PROCESS_MAX = 500;

export class EventStreams {
  readonly #deps: StreamDeps;
  readonly #open = new Map<EventStream, string>();
  #isClosing = false;

  constructor(deps: StreamDeps) {
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
    try {
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
    }
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
