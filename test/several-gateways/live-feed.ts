// A client that watches one call over server-sent events, and notes when each item came.

import { createParser } from 'eventsource-parser';
import { z } from 'zod';

const item = z.looseObject({ type: z.string() });

export interface LiveItem {
  type: string;
  /** Monotonic milliseconds. */
  atMs: number;
}

export class LiveFeed {
  readonly items: LiveItem[] = [];
  readonly #closing = new AbortController();

  /** Resolves once the stream is open. */
  static async open(url: string, apiKey: string): Promise<LiveFeed> {
    const feed = new LiveFeed();
    const answer = await fetch(url, {
      headers: { 'X-API-Key': apiKey },
      signal: feed.#closing.signal,
    });
    if (!answer.ok || answer.body === null) throw new Error(`GET ${url}: ${answer.status}`);
    feed.#read(answer.body).catch(() => undefined); // It is closed, or its gateway is.
    return feed;
  }

  /** Items of a type that came after `sinceMs`. */
  since(sinceMs: number, type: string): LiveItem[] {
    return this.items.filter((each) => each.atMs >= sinceMs && each.type === type);
  }

  close(): void {
    this.#closing.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent: ({ data }) => {
        const read = item.safeParse(JSON.parse(data));
        if (read.success) this.items.push({ type: read.data.type, atMs: performance.now() });
      },
    });
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
  }
}
