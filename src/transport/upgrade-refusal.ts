// Refusal of an upgrade, as an HTTP answer in the API's error format. Source: contract §1.

import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors/gateway-error.ts';
import { endConnection } from '../std/last-answer.ts';

/** Error codes by status and reason. */
const CODES = {
  '400 Bad Request': 'BAD_REQUEST',
  '401 Unauthorized': 'PBX_UNAUTHORIZED',
  '403 Forbidden': 'ORIGIN_FORBIDDEN',
  '404 Not Found': 'PATH_NOT_FOUND',
  '405 Method Not Allowed': 'METHOD_NOT_ALLOWED',
  '426 Upgrade Required': 'UPGRADE_REQUIRED',
  '429 Too Many Requests': 'TOO_MANY_ATTEMPTS',
  '500 Internal Server Error': 'INTERNAL_ERROR',
  '503 Service Unavailable': 'GATEWAY_OVERLOADED',
} as const satisfies Record<string, ErrorCode>;

/** Code and reason of a refusal. */
export type RefusalStatus = keyof typeof CODES;

export interface RefusalOptions {
  /** A further header line, without its line end. */
  header?: string;
  /** Seconds after which to try again. */
  retryAfterS?: number;
}

/** Text of the whole answer. */
export function upgradeRefusal(
  status: RefusalStatus,
  { header, retryAfterS }: RefusalOptions = {},
): string {
  const mayWait = retryAfterS !== undefined;
  const detail = status.replace(/^\d+ /, '');
  const body = JSON.stringify({
    detail,
    code: CODES[status],
    ...(mayWait && { retry_after: retryAfterS }),
  });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(header === undefined ? [] : [header]),
    ...(mayWait ? [`Retry-After: ${retryAfterS}`] : []),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Answers an upgrade without a handler and ends its connection. Parameters as above. */
export function refuseUpgrade(
  socket: Duplex,
  status: RefusalStatus,
  options: RefusalOptions = {},
): void {
  endConnection(socket, upgradeRefusal(status, options));
}
