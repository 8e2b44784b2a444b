// Whether something listens at the address of a service of which no request says whether it is the service, as of a
// Wyoming or Vosk server of one's own: a connection that is closed at once.

import type { Egress } from '../../egress/egress-rule.ts';
import { type CheckedFields, text } from './key-check-table.ts';

/** A sentence for the owner of the settings. Undefined: they have no address, or the egress rule hides what listens at
 *  addresses from tenants. `signal` ends the wait. Never rejects. */
export async function reachability(
  fields: CheckedFields,
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  const given = text(fields, 'base_url');
  // Only so are host and port in their usual form.
  const url = given === undefined ? null : URL.parse(given.replace(/^(tcp|ws)(?=s?:)/, 'http'));
  if (url === null || egress.hidesFaults) return undefined;
  const { hostname, protocol } = url;
  const port = url.port || (protocol === 'https:' ? '443' : '80');
  const problem = await connected({ hostname, port }, egress, signal);
  const place = `${hostname}:${port}`;
  if (problem === undefined) return `no request checks this service; something listens at ${place}`;
  return `no request checks this service, and nothing answers at ${place}: ${problem}`;
}

/** What went wrong. */
function connected(
  { hostname, port }: { hostname: string; port: string },
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('no connection in time'), { once: true });
    egress.connect({ hostname, port, protocol: 'http:' }, (error, socket) => {
      // Also one that comes late.
      socket?.on('error', () => undefined).destroy();
      resolve(error === null ? undefined : codeIn(error));
    });
  });
}

function codeIn(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
