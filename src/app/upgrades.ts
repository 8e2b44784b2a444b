// HTTP upgrades in a process with calls: accepts media sockets and connections that PBXs open, refuses other
// websockets, and ignores offers of other protocols: the Java platform's HTTP client offers HTTP/2 (h2c) with its
// requests.

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Api } from '../api/http/api-deps.ts';
import type { AcceptUpgrade } from '../cluster/socket-handoff.ts';
import { isHttp11 } from '../cluster/upgrade-router.ts';
import type { ClientOf } from '../std/client-address.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import { refuseUpgrade } from '../transport/upgrade-refusal.ts';
import type { MediaServer } from '../transport/websocket/media-server.ts';

export function takeUpgrades(
  { providers, clientOf }: { providers: Providers; clientOf: ClientOf },
  media: MediaServer,
): AcceptUpgrade {
  return (request, socket, head) => {
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',');
    const client = clientOf(request.socket.remoteAddress, forwarded);
    const isTaken =
      media.handleUpgrade(request, socket, head) ||
      providers.pbx.some(({ pbx }) => pbx.takeUpgrade(request, socket, head, client));
    if (!isTaken) refuseUpgrade(socket, '404 Not Found');
  };
}

/** Passes the upgrades of the console to the API, all others to `next`. */
export function withConsole(api: Api, next: AcceptUpgrade): AcceptUpgrade {
  return (request, socket, head) => {
    const isTaken = isHttp11(request) && api.takeUpgrade?.(request, socket, head) === true;
    if (!isTaken) next(request, socket, head);
  };
}

/** Passes upgrades to websockets to `take`. A request that offers another protocol is answered as if it offered none
 *  (RFC 9110, 7.8). */
export function onWebsocketUpgrade(server: Server, take: AcceptUpgrade): void {
  server.on('upgrade', (request, socket, head) => {
    const offered = (request.headers.upgrade ?? '').toLowerCase().split(',');
    if (offered.some((protocol) => protocol.trim() === 'websocket')) take(request, socket, head);
    else serveAgain(server, request, { socket, head });
  });
}

/** Headers of an offer; `Connection` names them. */
const OFFER = new Set(['upgrade', 'connection', 'http2-settings']);

/** Serves a request again without its offer. Node stops reading the connection at the offer's body, so the
 *  connection begins again with these bytes and what follows. */
function serveAgain(
  server: Server,
  { method = 'GET', url = '/', httpVersion, rawHeaders, headers }: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1] ?? ''}`);
  }
  if (/\bclose\b/i.test(headers.connection ?? '')) lines.push('Connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
