// One open console as a client: it asks and listens as the pages do (src/console/pages/board, src/console/pages/call-page.tsx) over
// HTTP, the board's socket and the call's stream. It draws nothing: a browser runs on another machine than the gateway.

import { createParser } from 'eventsource-parser';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Histogram } from '../figures/histogram.ts';

/** As the call page asks again while its call goes on. */
const RUN_MS = 5_000;
const PEAKS_MS = 1_000;
/** Width of a page's timeline. */
const BINS = 900;
const REPLY_MS_MAX = 15_000;
/** From the log-in to the board's calls. */
const SNAPSHOT_MS_MAX = 30_000;

const call = z.object({ run_id: z.string(), workflow_id: z.string() });
const message = z.looseObject({ type: z.string(), calls: z.array(z.unknown()).default([]) });
const run = z.looseObject({ definition_id: z.string().nullable() });

export interface ConsoleAddress {
  url: string;
  apiKey: string;
}

export interface ConsoleCounts {
  /** Messages of the board's socket, and their characters. */
  boardMessages: number;
  boardBytes: number;
  /** Items of the calls whose pages are open. */
  callItems: number;
  requests: number;
  failed: number;
  /** Sockets and streams that ended. */
  broken: number;
  durations: Histogram;
}

export class OpenConsole {
  readonly #url: string;
  readonly #counts: () => ConsoleCounts;
  readonly #signal: AbortSignal;
  #cookie = '';

  private constructor(url: string, counts: () => ConsoleCounts, signal: AbortSignal) {
    this.#url = url;
    this.#counts = counts;
    this.#signal = signal;
  }

  /** Logs in, opens the board and the page of its call at place `place`, until `signal` is aborted. */
  static async open(
    { url, apiKey }: ConsoleAddress,
    place: number,
    { counts, signal }: { counts: () => ConsoleCounts; signal: AbortSignal },
  ): Promise<void> {
    const console = new OpenConsole(url, counts, signal);
    await console.#logIn(apiKey);
    await console.#ask('/api/v1/workflow/count');
    const calls = await console.#openBoard();
    const at = calls[place % Math.max(1, calls.length)];
    if (at === undefined) throw new Error('the board shows no call');
    await console.#openCall(call.parse(at));
  }

  async #logIn(apiKey: string): Promise<void> {
    const reply = await fetch(`${this.#url}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-patchbay-console': '1' },
      body: JSON.stringify({ api_key: apiKey }),
      signal: this.#within(),
    });
    const [cookie] = reply.headers.getSetCookie();
    if (!reply.ok || cookie === undefined) throw new Error(`log-in: ${reply.status}`);
    this.#cookie = cookie.split(';', 1)[0] as string;
    await this.#ask('/console/session');
  }

  /** The calls of the first message; those that follow are read and counted. */
  #openBoard(): Promise<unknown[]> {
    const socket = new WebSocket(`${this.#url.replace(/^http/, 'ws')}/console/live`, {
      headers: { cookie: this.#cookie, origin: this.#url },
    });
    this.#signal.addEventListener('abort', () => socket.close());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no board in time')), SNAPSHOT_MS_MAX);
      socket.on('message', (data) => {
        const text = String(data);
        const { calls } = message.parse(JSON.parse(text));
        this.#counts().boardMessages += 1;
        this.#counts().boardBytes += text.length;
        clearTimeout(timer);
        resolve(calls);
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (!this.#signal.aborted) this.#counts().broken += 1;
      });
    });
  }

  async #openCall({ workflow_id: workflowId, run_id: runId }: z.infer<typeof call>): Promise<void> {
    const path = `/api/v1/workflow/${workflowId}/runs/${runId}`;
    const { definition_id: version } = run.parse(await this.#ask(path));
    if (version !== null) await this.#ask(`/api/v1/workflow/${workflowId}/versions/${version}`);
    this.#listen(`${path}/events`).catch(() => {
      if (!this.#signal.aborted) this.#counts().broken += 1;
    });
    this.#repeat(path, RUN_MS);
    this.#repeat(`${path}/peaks?bins=${BINS}&from_ms=0`, PEAKS_MS);
  }

  async #listen(path: string): Promise<void> {
    const reply = await fetch(`${this.#url}${path}`, {
      headers: { cookie: this.#cookie, accept: 'text/event-stream' },
      signal: this.#signal,
    });
    if (!reply.ok || reply.body === null) throw new Error(`${path}: ${reply.status}`);
    const parser = createParser({
      onEvent: ({ data }) => {
        JSON.parse(data);
        this.#counts().callItems += 1;
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of reply.body) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  #repeat(path: string, everyMs: number): void {
    const again = async (): Promise<void> => {
      await this.#ask(path).catch(() => undefined); // Counted.
      if (!this.#signal.aborted) setTimeout(() => void again(), everyMs);
    };
    void again();
  }

  async #ask(path: string): Promise<unknown> {
    const startMs = performance.now();
    const counts = this.#counts();
    counts.requests += 1;
    try {
      const reply = await fetch(`${this.#url}${path}`, {
        headers: { cookie: this.#cookie, 'x-patchbay-console': '1' },
        signal: this.#within(),
      });
      const body = await reply.arrayBuffer();
      // Of a recording that has not begun there are no peaks.
      if (!reply.ok && reply.status !== 404) throw new Error(`${path}: ${reply.status}`);
      const isJson = reply.headers.get('content-type')?.includes('json') === true;
      return isJson ? JSON.parse(Buffer.from(body).toString()) : undefined;
    } catch (error) {
      if (!this.#signal.aborted) counts.failed += 1;
      throw error;
    } finally {
      counts.durations.add(performance.now() - startMs);
    }
  }

  #within(): AbortSignal {
    return AbortSignal.any([this.#signal, AbortSignal.timeout(REPLY_MS_MAX)]);
  }
}
