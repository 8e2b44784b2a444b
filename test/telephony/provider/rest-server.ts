// A REST server on loopback that records its requests and gives set answers.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The answer, at once or once `until` resolves; `hang` for none, or `reset` for a connection that breaks
 *  after the request. */
export type Answer =
  | { status: number; body: unknown; until?: Promise<unknown>; headers?: Record<string, string> }
  | 'hang'
  | 'reset';

export interface RestServer {
  url: string;
  asked: Asked[];
  /** Settles when the next request has arrived in full. */
  next(): Promise<Asked>;
  answer: Answer | ((asked: Asked) => Answer);
  close(): Promise<void>;
}

export async function startRestServer(): Promise<RestServer> {
  const asked: Asked[] = [];
  let waiting: ((asked: Asked) => void)[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      };
      asked.push(one);
      void reply(response, typeof self.answer === 'function' ? self.answer(one) : self.answer);
      for (const arrived of waiting) arrived(one);
      waiting = [];
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  const self: RestServer = {
    url: `http://127.0.0.1:${port}`,
    asked,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    answer: { status: 200, body: {} },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

async function reply(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    response.socket?.destroy();
    return;
  }
  if (answer.until !== undefined) await answer.until;
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  response
    .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    .end(body);
}
