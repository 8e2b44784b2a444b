// Answers requests that the HTTP parser refuses, in the contract's form, and refuses requests with no host or two (RFC
// 9112, 3.2), which proxies and servers read differently. Source: contract §1.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import { endConnection } from '../../std/last-answer.ts';
import { plainFault } from './error-reply.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Codes by Node's codes of parser errors. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_OVERSIZED',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'BODY_OVERSIZED',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Handler of the server's `clientError`: answers on the bare socket. */
export function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  endWith(socket, CODES[error.code ?? ''] ?? 'BAD_REQUEST');
}

/** Handler of the server's `connect`: the gateway is not a proxy. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  endWith(socket, 'METHOD_NOT_ALLOWED');
}

function endWith(socket: Duplex, code: ErrorCode): void {
  const { status, text: body } = answerOf(code);
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
  const { status, text: body } = answerOf('EXPECTATION_FAILED');
  response.writeHead(status, {
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

function answerOf(code: ErrorCode): { status: number; text: string } {
  const { status, body } = plainFault(code);
  return { status, text: JSON.stringify(body) };
}
