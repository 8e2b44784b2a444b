// Refusal of an upgrade, as an HTTP answer in the API's error format. Source: contract §1.

import type { Duplex } from 'node:stream';
import { endConnection } from '../std/last-answer.ts';

/** Text of the whole answer. `status`: code and reason; `header`: further lines, each with its line end. */
export function upgradeRefusal(status: string, header = ''): string {
  const body = JSON.stringify({ detail: status.replace(/^\d+ /, '') });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n${header}\r\n${body}`;
}

/** Answers an upgrade without a handler and ends its connection. Parameters as above. */
export function refuseUpgrade(socket: Duplex, status: string, header = ''): void {
  endConnection(socket, upgradeRefusal(status, header));
}
