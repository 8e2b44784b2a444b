// Requests to this gateway by its public address, as a provider makes them: a request, and the upgrade of a media
// socket. A failure from inside proves little: many routers do not forward their own public address back (no hairpin
// NAT).

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { z } from 'zod';
import { parseJson } from '../../std/json.ts';

/** Longest answer, which is below 1 kB. */
const ANSWER_BYTES_MAX = 65_536;
/** Media path of no call: the gateway accepts the socket and closes it. */
const PROBE_PATH = '/api/v1/telephony/ws/0/0/0/doctor';

const health = z.object({ backend_api_endpoint: z.string() });

export type SelfCall =
  | { kind: 'ours' }
  | { kind: 'other'; status: number }
  /** `isCertain`: it fails from everywhere, not only from here. */
  | { kind: 'failed'; code: string; isCertain: boolean };

/** Whether the gateway answers at its public address. Never rejects. */
export function callHealth(publicUrl: string, signal: AbortSignal): Promise<SelfCall> {
  return exchange(`${publicUrl}/api/v1/health`, { headers: {}, signal }, async (response) => {
    const body = health.safeParse(parseJson(await textOf(response))).data;
    const isOurs = response.statusCode === 200 && body?.backend_api_endpoint === publicUrl;
    return isOurs ? { kind: 'ours' } : { kind: 'other', status: response.statusCode ?? 0 };
  });
}

/** Whether the upgrade of a media socket reaches the gateway. Never rejects. */
export function callMedia(publicUrl: string, signal: AbortSignal): Promise<SelfCall> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    // The key of RFC 6455's example: nothing is sent over this connection.
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return exchange(`${publicUrl}${PROBE_PATH}`, { headers, signal }, (response) => {
    response.resume();
    return Promise.resolve({ kind: 'other', status: response.statusCode ?? 0 });
  });
}

function exchange(
  address: string,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
  read: (response: IncomingMessage) => Promise<SelfCall>,
): Promise<SelfCall> {
  const url = new URL(address);
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = open(url, { headers, signal, agent: false });
    const failed = (error: unknown) => resolve(failure(error));
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ kind: 'ours' });
    });
    request.on('response', (response) => {
      read(response).then(resolve, failed);
    });
    request.on('error', failed);
    request.end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return '';
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}

/** The failure by its code. A name that is not found and a certificate that is not trusted fail from everywhere. */
function failure(error: unknown): SelfCall {
  const found =
    error instanceof Error && 'code' in error && typeof error.code === 'string'
      ? error.code
      : 'unknown';
  const code = found === 'ABORT_ERR' ? 'no answer in time' : found;
  // UNABLE_TO_VERIFY_LEAF_SIGNATURE: the certificates between it and the authority are missing.
  const isCertain = code === 'ENOTFOUND' || /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/.test(code);
  return { kind: 'failed', code, isCertain };
}
