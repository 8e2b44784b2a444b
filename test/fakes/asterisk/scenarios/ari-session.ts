// An ARI client for tests of the simulator and for its comparison with a real Asterisk: plain fetch and ws,
// nothing of the gateway's. Works against either.

import WebSocket from 'ws';

export interface Account {
  url: string;
  user: string;
  password: string;
}

export type Event = Record<string, unknown> & { type: string };

export interface Reply {
  status: number;
  /** JSON; null for none. */
  body: unknown;
}

/** How long anything may take that is waited for, in real time. */
const WAIT_MS_MAX = 15_000;

export class AriSession {
  readonly events: Event[] = [];
  readonly app: string;
  readonly #account: Account;
  readonly #socket: WebSocket;
  readonly #waiting = new Set<() => void>();

  private constructor(account: Account, app: string) {
    this.#account = account;
    this.app = app;
    const url = `${account.url.replace(/^http/, 'ws')}/ari/events?app=${app}`;
    this.#socket = new WebSocket(url, { headers: { authorization: this.#authorization } });
    this.#socket.on('message', (data: Buffer) => {
      this.events.push(JSON.parse(data.toString()));
      for (const look of [...this.#waiting]) look();
    });
  }

  static async open(account: Account, app: string): Promise<AriSession> {
    const session = new AriSession(account, app);
    await new Promise<void>((resolve, reject) => {
      session.#socket.once('open', resolve);
      session.#socket.once('error', reject);
    });
    return session;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async ask(method: string, path: string, query: Query = {}, body?: unknown): Promise<Reply> {
    return await ask(this.#account, { method, path, query, body });
  }

  /** The first event so far, or the next to come, that is meant. */
  async event(type: string, channelId?: string, from = 0): Promise<Event> {
    const found = (): Event | undefined =>
      this.events
        .slice(from)
        .find((event) => event.type === type && (channelId ?? idOf(event)) === idOf(event));
    await this.until(() => found() !== undefined, `${type} ${channelId ?? ''}`);
    return found() as Event; // It is there: this was waited for.
  }

  async until(isSo: () => boolean, what: string): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!isSo()) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no ${what} came: ${this.events.map(({ type }) => type).join(' ')}`));
      }, WAIT_MS_MAX);
      this.#waiting.add(look);
    });
  }

  /** Told of every event from here on. */
  onEvent(listener: (event: Event) => void): void {
    this.#socket.on('message', (data: Buffer) => listener(JSON.parse(data.toString())));
  }

  /** Text into the event socket. */
  send(message: string): void {
    this.#socket.send(message);
  }

  close(): void {
    this.#socket.close();
  }

  get #authorization(): string {
    return basic(this.#account);
  }
}

type Query = Record<string, string>;

export async function ask(
  account: Account,
  request: { method: string; path: string; query?: Query; body?: unknown },
): Promise<Reply> {
  const search = new URLSearchParams(request.query ?? {}).toString();
  const response = await fetch(`${account.url}/ari/${request.path}${search && `?${search}`}`, {
    method: request.method,
    headers: { authorization: basic(account), 'content-type': 'application/json' },
    signal: AbortSignal.timeout(WAIT_MS_MAX),
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** The channel that an event is about; empty for none. */
export function idOf(event: Event): string {
  const subject = event['channel'] ?? event['peer'];
  return typeof subject === 'object' && subject !== null ? String(Reflect.get(subject, 'id')) : '';
}

function basic({ user, password }: Account): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** A media socket in server mode: what came over it. */
export class MediaClient {
  readonly texts: string[] = [];
  readonly frames: Buffer[] = [];
  closedWith: number | null = null;
  readonly socket: WebSocket;

  constructor(account: Account, connectionId: string) {
    const url = `${account.url.replace(/^http/, 'ws')}/media/${connectionId}`;
    this.socket = new WebSocket(url, ['media'], { perMessageDeflate: false });
    this.socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.frames.push(data);
      else this.texts.push(data.toString());
    });
    this.socket.on('error', () => undefined); // Told by the close.
    this.socket.once('close', (code: number) => {
      this.closedWith = code;
    });
  }

  async until(isSo: () => boolean): Promise<void> {
    const timeUp = AbortSignal.timeout(WAIT_MS_MAX);
    while (!isSo()) {
      timeUp.throwIfAborted();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
