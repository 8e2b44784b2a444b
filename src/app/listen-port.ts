// Binds the gateway's port, with retries while another process has it: the processes of a killed gateway keep it for
// some tenths of a second, longer on a busy machine.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { ListenHandle } from '../runtime/listen-handle.ts';
import type { Clock } from '../std/clock.ts';

/** Time of the retries: without a free core, processes take seconds to notice the end of their gateway. */
const PORT_MS_MAX = 30_000;
const PORT_RETRY_MS = 100;

/** Advice by the system's error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program, or this gateway a second time, listens there: end it, or set PATCHBAY_PORT to a free port.',
  EADDRNOTAVAIL: 'Set PATCHBAY_HOST to an address of this machine; 0.0.0.0 is all of them.',
  EACCES: 'Set PATCHBAY_PORT to 1024 or above, or give the gateway the right to lower ports.',
};
const OTHER_REMEDY = 'Set PATCHBAY_HOST and PATCHBAY_PORT to where it may listen.';

/** Binds a port. Throws PORT_UNAVAILABLE if the address is still in use after 30 s, and at once for other faults,
 *  which do not pass. `bind`: as `bindListenHandle`, whose `undefined` is returned. */
export async function bindWhenFree(
  { host, port }: { host: string; port: number },
  bind: (host: string, port: number) => ListenHandle | string | undefined,
  { clock, log }: { clock: Clock; log: Log },
): Promise<ListenHandle | undefined> {
  for (let waitedMs = 0; ; waitedMs += PORT_RETRY_MS) {
    const bound = bind(host, port);
    if (typeof bound !== 'string') return bound;
    if (bound !== 'EADDRINUSE' || waitedMs >= PORT_MS_MAX) {
      const remedy = REMEDIES[bound] ?? OTHER_REMEDY;
      const error = new GatewayError('PORT_UNAVAILABLE', { host, port, reason: bound, remedy });
      log.error({ err: error, waitedMs }, 'the port cannot be bound');
      throw error;
    }
    if (waitedMs === 0) {
      log.warn({ host, port, waitMsMax: PORT_MS_MAX }, 'the port is in use: waiting');
    }
    await new Promise<void>((resolve) => clock.after(PORT_RETRY_MS, resolve));
  }
}
