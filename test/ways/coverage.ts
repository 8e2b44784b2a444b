// V8's precise coverage of a running gateway, read over its inspector: which functions ran since the last reading.
// Source: Chrome DevTools Protocol, domain Profiler.

import WebSocket from 'ws';
import { z } from 'zod';

const ANSWER_MS_MAX = 10_000;

const reply = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});
const targets = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]);
const coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({
          functionName: z.string(),
          ranges: z.array(z.object({ startOffset: z.number(), count: z.number() })).min(1),
        }),
      ),
    }),
  ),
});

const evaluated = z.object({ result: z.object({ value: z.string() }) });
const ways = z.array(z.object({ entry: z.string(), functions: z.array(z.string()) }));
/** What ran between an entry and its end; functions as `file#name`, without a name for those that called the entry. */
export type Way = z.infer<typeof ways>[number];

export class Coverage {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: z.infer<typeof reply>) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const answer = reply.safeParse(JSON.parse(String(data)));
      if (answer.success) this.#pending.get(answer.data.id)?.(answer.data);
    });
  }

  /** Attaches to the inspector at a port of this machine and begins to count. */
  static async attach(port: number): Promise<Coverage> {
    const [{ webSocketDebuggerUrl }] = targets.parse(
      await (await fetch(`http://127.0.0.1:${port}/json/list`)).json(),
    );
    const socket = new WebSocket(webSocketDebuggerUrl, { perMessageDeflate: false });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const attached = new Coverage(socket);
    await attached.#ask('Profiler.enable');
    await attached.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return attached;
  }

  /** The functions that ran since the last reading, by file (`call/session/session`), as `name@offset`. */
  async take(): Promise<Map<string, Set<string>>> {
    const { result } = coverage.parse(await this.#ask('Profiler.takePreciseCoverage'));
    const files = new Map<string, Set<string>>();
    for (const { url, functions } of result) {
      const file = /\/dist\/(.+)\.js$/.exec(url)?.[1];
      if (file === undefined || url.includes('/node_modules/')) continue;
      const ran = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      const names = ran.map(
        ({ functionName, ranges: [first] }) => `${functionName}@${first?.startOffset}`,
      );
      if (names.length > 0) files.set(file, new Set(names));
    }
    return files;
  }

  /** What began since the last time (way-recorder.mjs); it ends here. */
  async takeWays(): Promise<Way[]> {
    const { result } = evaluated.parse(await this.#evaluate('globalThis.ways.take()'));
    return ways.parse(JSON.parse(result.value));
  }

  /** The function with which the ways that begin from here on end; undefined: when they are taken. */
  async endWith(exit: string | undefined): Promise<void> {
    await this.#evaluate(`globalThis.ways.exit = ${JSON.stringify(exit)}`);
  }

  #evaluate(expression: string): Promise<unknown> {
    return this.#ask('Runtime.evaluate', { expression, returnByValue: true });
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS_MAX);
      this.#pending.set(id, ({ result, error }) => {
        clearTimeout(late);
        this.#pending.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${JSON.stringify(error)}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
