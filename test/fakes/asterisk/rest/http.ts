// Asterisk's HTTP server: ARI with basic authentication, the upgrades of event and media sockets. Knows
// nothing of calls.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RestAnswer, RestRequest } from './rest.ts';

export interface AriUser {
  password: string;
  isReadOnly?: boolean;
}

export interface HttpMeans {
  users: Record<string, AriUser>;
  /** Undefined: never answered. */
  rest: (request: RestRequest) => Promise<RestAnswer | undefined>;
  /** Null if a media socket may be opened, else the status to refuse with. */
  refusesMedia: (id: string) => number | null;
  onMedia: (id: string, socket: WebSocket) => void;
  onEvents: (
    facts: { apps: string[]; subscribesAll: boolean; isReadOnly: boolean },
    socket: WebSocket,
  ) => void;
  /** Upgrades that go wrong on purpose. */
  upgrade: () => 'hang' | number | undefined;
  /** Without `/ari/api-docs/`; undefined if there is no such file. */
  apiDocs: (file: string, baseUrl: string) => unknown;
}

const BODY_BYTES_MAX = 1024 * 1024;

export class AriHttp {
  readonly #means: HttpMeans;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1024 * 1024,
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  #server: Server | null = null;
  #port = 0;

  constructor(means: HttpMeans) {
    this.#means = means;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(port: number): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port; // A TCP server has an address of this kind.
  }

  /** Everything that is open breaks off. */
  async kill(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const reply = (answer: RestAnswer): void => send(response, answer);
    if (!url.pathname.startsWith('/ari/')) {
      reply({ status: 404, body: { message: 'Not Found' } });
      return;
    }
    const user = this.#user(request, url);
    if (user === undefined) {
      response.setHeader('www-authenticate', 'Basic realm="Asterisk REST Interface"');
      reply({ status: 401, body: { message: 'Authentication required' } });
      return;
    }
    const path = url.pathname.slice('/ari/'.length);
    if (path.startsWith('api-docs/')) {
      const docs = this.#means.apiDocs(path.slice('api-docs/'.length), `${this.url}/ari`);
      if (docs === undefined) reply({ status: 404, body: { message: 'Resource not found' } });
      else reply({ status: 200, body: docs });
      return;
    }
    const body = await bodyOf(request);
    if (body === malformed) {
      reply({ status: 400, body: { message: 'Request body could not be parsed' } });
      return;
    }
    const isReadOnly = user.isReadOnly === true;
    const method = request.method ?? '';
    const answer = await this.#means.rest({
      method,
      path,
      query: url.searchParams,
      body,
      isReadOnly,
    });
    if (answer !== undefined) reply(answer);
  }

  #user(request: IncomingMessage, url: URL): AriUser | undefined {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const text =
      basic === undefined
        ? url.searchParams.get('api_key')
        : Buffer.from(basic, 'base64').toString();
    const [, name = '', password = ''] = /^([^:]*):(.*)$/.exec(text ?? '') ?? [];
    const user = Object.hasOwn(this.#means.users, name) ? this.#means.users[name] : undefined;
    return user?.password === password ? user : undefined;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const fault = this.#means.upgrade();
    if (fault === 'hang') return;
    const url = new URL(request.url ?? '/', this.url);
    const status = fault ?? this.#refusal(request, url);
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const user = this.#user(request, url);
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      if (url.pathname.startsWith('/media/')) {
        this.#means.onMedia(url.pathname.slice('/media/'.length), opened);
        return;
      }
      const facts = {
        apps: (url.searchParams.get('app') ?? '').split(','),
        subscribesAll: url.searchParams.get('subscribeAll') === 'true',
        isReadOnly: user?.isReadOnly === true,
      };
      this.#means.onEvents(facts, opened);
    });
  }

  #refusal(request: IncomingMessage, url: URL): number | null {
    if (url.pathname.startsWith('/media/')) {
      return this.#means.refusesMedia(url.pathname.slice('/media/'.length));
    }
    if (url.pathname !== '/ari/events') return 404;
    if (this.#user(request, url) === undefined) return 401;
    return (url.searchParams.get('app') ?? '') === '' ? 400 : null;
  }
}

const malformed = Symbol('a body that is no JSON');

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) break;
    chunks.push(Buffer.from(chunk));
  }
  const text = Buffer.concat(chunks).toString();
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return malformed;
  }
}

function send(response: ServerResponse, { status, body }: RestAnswer): void {
  const text = body === null ? '' : JSON.stringify(body);
  const length = { 'content-length': Buffer.byteLength(text) };
  const type = body === null ? {} : { 'content-type': 'application/json' };
  response.writeHead(status, {
    server: 'Asterisk',
    'cache-control': 'no-cache, no-store',
    ...type,
    ...length,
  });
  response.end(text);
}
