// Reachability of a self-hosted service that has no request to identify it, for example a Wyoming or Vosk server. Opens
// a TCP connection and closes it at once.

import type { Egress } from '../../egress/egress-rule.ts';
import { type CheckedFields, text } from './key-check-table.ts';

/** Returns a sentence for the owner of the settings. Returns undefined if they have no address, or if the egress rule
 *  hides from tenants what listens at an address. `signal` ends the wait. Never rejects. */
export async function reachability(
  fields: CheckedFields,
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  const given = text(fields, 'base_url');
  // URL parses host and port only for http schemes.
  const url = given === undefined ? null : URL.parse(given.replace(/^(tcp|ws)(?=s?:)/, 'http'));
  if (url === null || egress.hidesFaults) return undefined;
  const { hostname, protocol } = url;
  const port = url.port || (protocol === 'https:' ? '443' : '80');
  const problem = await connected({ hostname, port }, egress, signal);
  const place = `${hostname}:${port}`;
  if (problem === undefined) return `no request checks this service; something listens at ${place}`;
  return `no request checks this service, and nothing answers at ${place}: ${problem}`;
}

/** Connects. Returns the error, or undefined if the connection was accepted. */
function connected(
  { hostname, port }: { hostname: string; port: string },
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('no connection in time'), { once: true });
    egress.connect({ hostname, port, protocol: 'http:' }, (error, socket) => {
      // A socket that opens after the deadline is closed, too.
      socket?.on('error', () => undefined).destroy();
      resolve(error === null ? undefined : codeIn(error));
    });
  });
}

function codeIn(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
