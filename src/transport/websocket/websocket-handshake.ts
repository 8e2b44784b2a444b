// Opening handshake of websockets: answers one as a server, and makes one as a client. No extensions. Source: RFC 6455
// §4.

import { createHash } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemRandom } from '../../std/random.ts';
import { type RefusalStatus, upgradeRefusal } from '../upgrade-refusal.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const KEY_BYTES = 16;

/** HTTP answer to an upgrade, and whether it opens a websocket. Accepts the first subprotocol offered. */
export function answerUpgrade(request: IncomingMessage): { text: string; isOpen: boolean } {
  const { method, headers } = request;
  const key = headers['sec-websocket-key'] ?? '';
  if (method !== 'GET') return refusal('405 Method Not Allowed', 'Allow: GET');
  const isUpgrade = headers.upgrade?.toLowerCase() === 'websocket';
  if (!isUpgrade || !KEY.test(key)) return refusal('400 Bad Request');
  if (headers['sec-websocket-version'] !== '13') {
    return refusal('426 Upgrade Required', 'Sec-WebSocket-Version: 13');
  }
  const protocol = headers['sec-websocket-protocol']?.split(',', 1)[0]?.trim();
  if (protocol !== undefined && !TOKEN.test(protocol)) return refusal('400 Bad Request');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return { text: `${lines.join('\r\n')}\r\n\r\n`, isOpen: true };
}

export interface Handshake {
  url: string;
  protocol: string;
  /** Resolves the server's name. Default: the system. */
  lookup?: LookupFunction;
  signal: AbortSignal;
}

/** Opens a websocket to `url` (ws or wss). The server must agree to `protocol`. Throws plain errors that describe the
 *  server's answer. */
export function connectWebsocket(options: Handshake): Promise<{ socket: Duplex; head: Buffer }> {
  const { protocol, lookup, signal } = options;
  const url = new URL(options.url.replace(/^ws/, 'http'));
  const key = systemRandom.bytes(KEY_BYTES).toString('base64');
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      agent: false,
      signal,
      ...(lookup === undefined ? {} : { lookup }),
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': key,
        'sec-websocket-version': '13',
        'sec-websocket-protocol': protocol,
      },
    });
    request.on('error', reject);
    request.once('response', (response) => {
      response.destroy();
      reject(new Error(`answered ${response.statusCode ?? 0}`));
    });
    request.once('upgrade', ({ headers }, socket, head) => {
      const isAgreed =
        headers.upgrade?.toLowerCase() === 'websocket' &&
        headers['sec-websocket-accept'] === acceptOf(key) &&
        headers['sec-websocket-protocol'] === protocol &&
        headers['sec-websocket-extensions'] === undefined;
      if (isAgreed) resolve({ socket, head });
      else {
        socket.destroy();
        reject(new Error('broke the websocket handshake'));
      }
    });
    request.end();
  });
}

function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

function refusal(status: RefusalStatus, header?: string): { text: string; isOpen: boolean } {
  return { text: upgradeRefusal(status, header === undefined ? {} : { header }), isOpen: false };
}
