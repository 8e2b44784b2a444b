// Relay on this machine between a client and a service: passes requests and websockets to the service unchanged, and
// captures the messages of both sides. Follows no redirects and repeats nothing.

import {
  createServer,
  type IncomingMessage,
  request as plain,
  type ServerResponse,
} from 'node:http';
import { request as encrypted } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { WebSocket, WebSocketServer } from 'ws';
import type { WireCapture, WireSide } from './wire-capture.ts';

const ANSWER_MS_MAX = 30_000;
/** Timeouts in milliseconds, under the names of Node.js and ws. */
const timeout = ANSWER_MS_MAX;
const handshakeTimeout = ANSWER_MS_MAX;
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 4_096;
/** Messages of the service that wait for the client's side to open. */
const WAITING_MAX = 100;
/** Path of the check of MiniMax's key, which has a body. */
const CHECK_WITH_BODY = /\/get_voice(\?|$)/;
/** Headers of the connection between two programs. */
const HOP =
  /^(host|connection|upgrade|keep-alive|transfer-encoding|proxy-.*|sec-websocket-.*|accept-encoding)$/i;

/** Subprotocol that the service has chosen, by the client's request. */
const subprotocols = new WeakMap<IncomingMessage, string>();

export interface ServiceRelay {
  /** Address of the relay: `http://127.0.0.1:port`. */
  url: string;
  close(): Promise<void>;
}

export interface RelayOptions {
  /** Address of the service, http or https; its path comes before those of requests. */
  to: URL;
  capture: WireCapture;
  /** Called when a request with a body is answered or a websocket is closed. Requests without a body, and MiniMax's
   *  `get_voice`, are checks of keys and voices, or lists, which come before any call when the relay's address is
   *  stored. */
  onSession(): void;
}

export async function startRelay(options: RelayOptions): Promise<ServiceRelay> {
  let sessions = 0;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols: (_, request) => subprotocols.get(request) ?? false,
  });
  const server = createServer((request, response) => {
    sessions += 1;
    relayRequest({ ...options, session: sessions }, request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    sessions += 1;
    relaySocket({ ...options, session: sessions, sockets }, { request, socket, head });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

type Session = RelayOptions & { session: number };

function relayRequest(of: Session, request: IncomingMessage, response: ServerResponse): void {
  const { to, capture, session } = of;
  const { method = 'GET', url = '/' } = request;
  capture.request(session, { method, url, headers: request.headers });
  const send = to.protocol === 'https:' ? encrypted : plain;
  const headers = passedOn(request.headers);
  const outer = send(targetOf(to, url), { method, headers, timeout }, (answer) => {
    const { statusCode: status = 502, headers: answered } = answer;
    capture.answer(session, { status, headers: answered });
    response.writeHead(status, passedOn(answered));
    noteBody(of, 'service', answer);
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  outer.on('timeout', () => outer.destroy(new Error('no answer in time')));
  outer.on('error', (error) => {
    capture.closed(session, 'service', { reason: error.message });
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  response.on('close', () => {
    if (!response.writableFinished) {
      capture.closed(session, 'client', { reason: 'left' });
      outer.destroy();
    }
    if (hasBody(request) && !CHECK_WITH_BODY.test(url)) of.onSession();
  });
  noteBody(of, 'client', request);
  request.pipe(outer);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function noteBody({ capture, session }: Session, from: WireSide, body: IncomingMessage): void {
  const type = body.headers['content-type'] ?? '';
  const isText = /json|text\/|event-stream|xml/.test(type);
  const decoder = new StringDecoder('utf8');
  let text = '';
  body.on('data', (part: Buffer) => {
    if (!isText) {
      capture.binary(session, from, part.length);
      return;
    }
    text += decoder.write(part);
    // Whole events, or the whole body: a key that is cut in two would not be found.
    const end = /event-stream/.test(type) ? text.lastIndexOf('\n\n') : -1;
    if (end < 0 && text.length < MESSAGE_BYTES_MAX) return;
    if (end >= 0) capture.text(session, from, text.slice(0, end));
    text = end < 0 ? '' : text.slice(end + 2);
  });
  body.on('end', () => capture.text(session, from, text));
}

function relaySocket(
  of: Session & { sockets: WebSocketServer },
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const { to, capture, session, sockets, onSession } = of;
  const { url = '/' } = request;
  capture.request(session, { method: 'GET', url, headers: request.headers });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (inner === undefined) outer.terminate();
  });
  const target = targetOf(to, url).replace(/^http/, 'ws');
  const wanted = request.headers['sec-websocket-protocol']?.split(',').map((each) => each.trim());
  const outer = new WebSocket(target, wanted ?? [], {
    headers: passedOn(request.headers),

    perMessageDeflate: false,
    followRedirects: false,

    handshakeTimeout,
    maxPayload: MESSAGE_BYTES_MAX,
  });
  let inner: WebSocket | undefined;
  const waiting: [Buffer, boolean][] = [];
  outer.on('upgrade', ({ statusCode: status = 101, headers }) =>
    capture.answer(session, { status, headers }),
  );
  outer.on('message', (data: Buffer, isBinary) => {
    note(of, 'service', data, isBinary);
    if (inner !== undefined) inner.send(data, { binary: isBinary });
    else if (waiting.length < WAITING_MAX) waiting.push([data, isBinary]);
  });
  outer.on('unexpected-response', (_, answer) => refuse(of, answer, socket));
  outer.on('error', (error) => {
    capture.closed(session, 'service', { reason: error.message });
    socket.destroy();
  });
  outer.on('close', (code, reason) => {
    capture.closed(session, 'service', { code, reason: reason.toString() });
    end(inner, code, reason.toString());
    onSession();
  });
  outer.on('open', () => {
    if (outer.protocol !== '') subprotocols.set(request, outer.protocol);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      inner = opened;
      for (const [data, isBinary] of waiting.splice(0)) opened.send(data, { binary: isBinary });
      opened.on('message', (data: Buffer, isBinary) => {
        note(of, 'client', data, isBinary);
        if (outer.readyState === WebSocket.OPEN) outer.send(data, { binary: isBinary });
      });
      opened.on('error', () => outer.terminate());
      opened.on('close', (code, reason) => {
        capture.closed(session, 'client', { code, reason: reason.toString() });
        end(outer, code, reason.toString());
      });
    });
  });
}

function note(
  { capture, session }: Session,
  from: WireSide,
  data: Buffer,
  isBinary: boolean,
): void {
  if (isBinary) capture.binary(session, from, data.length);
  else capture.text(session, from, data.toString());
}

/** Closes a socket. Codes that programs may not send are those of broken connections. */
function end(socket: WebSocket | undefined, code: number, reason: string): void {
  const maySend =
    code === 1000 || (code >= 1002 && code < 5_000 && ![1004, 1005, 1006, 1015].includes(code));
  if (maySend) socket?.close(code, reason.slice(0, 120));
  else socket?.terminate();
}

/** Answers the upgrade as the service answered it. */
function refuse(
  { capture, session, onSession }: Session,
  answer: IncomingMessage,
  socket: Duplex,
): void {
  const { statusCode: status = 502, headers } = answer;
  capture.answer(session, { status, headers });
  const decoder = new StringDecoder('utf8');
  let text = '';
  answer.on('data', (part: Buffer) => {
    if (text.length < REFUSAL_BYTES_MAX) text += decoder.write(part);
  });
  answer.on('close', () => {
    onSession();
    capture.text(session, 'service', text);
    const length = `content-length: ${Buffer.byteLength(text)}`;
    socket.end(`HTTP/1.1 ${status} Refused\r\n${length}\r\nconnection: close\r\n\r\n${text}`);
  });
}

function passedOn(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name]) => !HOP.test(name));
  return Object.fromEntries(
    passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function targetOf(to: URL, path: string): string {
  return `${to.origin}${to.pathname.replace(/\/$/, '')}${path}`;
}
