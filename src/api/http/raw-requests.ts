// Answers requests that the HTTP parser refuses, in the contract's form, and refuses requests with no host or two (RFC
// 9112, 3.2), which proxies and servers read differently. Source: contract §1.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endConnection } from '../../std/last-answer.ts';
import { errorPhrases } from './error-reply.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Handler of the server's `clientError`: answers on the bare socket. */
export function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  endWith(socket, STATUS[error.code ?? ''] ?? 400);
}

/** Handler of the server's `connect`: the gateway is not a proxy. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  endWith(socket, 405);
}

function endWith(socket: Duplex, status: number): void {
  const body = bodyOf(status);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  endConnection(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Handler of the server's `checkExpectation`: an `Expect` other than `100-continue`, which Node answers itself. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = bodyOf(417);
  response.writeHead(417, {
    connection: 'close',
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Whether the request names one host, or none as HTTP/1.0 permits. Node keeps the first of several, and answers a
 *  missing one without a body unless `requireHostHeader` is off. */
export function namesItsHost({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): boolean {
  const names = rawHeaders.filter((_each, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

function bodyOf(status: number): string {
  return JSON.stringify({ detail: errorPhrases[status] ?? 'Bad Request' });
}
