// An HTTP server in place of a speech service: records each request with its form, and answers as a test says.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpAsked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Fields of a form in order; `file` has the bytes of its file. */
  fields: [string, string][];
  file: Buffer;
  /** The client ended the request before its answer was complete. */
  isCancelled: boolean;
  response: ServerResponse;
}

export interface FakeHttpService {
  url: string;
  asked: HttpAsked[];
  close(): Promise<void>;
}

export async function startHttpService(
  answer: (asked: HttpAsked) => void,
): Promise<FakeHttpService> {
  const asked: HttpAsked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = Buffer.concat(parts);
      const form = formOf(headers['content-type'] ?? '', body);
      const one = { method, path, headers, body, ...form, isCancelled: false, response };
      response.on('close', () => {
        one.isCancelled = !response.writableFinished;
      });
      asked.push(one);
      answer(one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Source: RFC 7578. */
function formOf(type: string, body: Buffer): Pick<HttpAsked, 'fields' | 'file'> {
  const boundary = /boundary=(.+)$/.exec(type)?.[1];
  const fields: [string, string][] = [];
  let file = Buffer.alloc(0);
  if (boundary === undefined) return { fields, file };
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const content = Buffer.from(rest.join('\r\n\r\n').slice(0, -2), 'latin1');
    const name = /name="([^"]+)"/.exec(head)?.[1] ?? '';
    if (head.includes('filename=')) file = content;
    else fields.push([name, content.toString('utf8')]);
  }
  return { fields, file };
}
