// Binds the gateway's port, for a time while another process has it: the processes of a gateway that was killed have it
// for some tenths of a second more.

import type { Log } from '../log.ts';
import type { ListenHandle } from '../runtime/listen-handle.ts';
import type { Clock } from '../std/clock.ts';

const PORT_MS_MAX = 10_000;
const PORT_RETRY_MS = 100;

/** Undefined if the address is still in use after 10 s, or cannot be bound for another reason, which does not pass. The
 *  process that then binds by itself reports it. `bind`: as `bindListenHandle`. */
export async function bindWhenFree(
  address: { host: string; port: number },
  bind: (host: string, port: number) => ListenHandle | 'in-use' | undefined,
  { clock, log }: { clock: Clock; log: Log },
): Promise<ListenHandle | undefined> {
  const { host, port } = address;
  for (let waitedMs = 0; ; waitedMs += PORT_RETRY_MS) {
    const handle = bind(host, port);
    if (handle !== 'in-use') return handle;
    if (waitedMs === 0)
      log.warn({ host, port, waitMsMax: PORT_MS_MAX }, 'the port is in use: waiting');
    if (waitedMs >= PORT_MS_MAX) {
      log.warn({ host, port, waitedMs }, 'the port is still in use: no longer waiting');
      return undefined;
    }
    await new Promise<void>((resolve) => clock.after(PORT_RETRY_MS, resolve));
  }
}
