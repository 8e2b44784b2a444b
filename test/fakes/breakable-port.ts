// A TCP port in front of a server that a test breaks and mends: gone, so that connections are reset and refused, as after
// the death of the process; or silent, so that they stay open and nothing passes, as behind a dead link.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface BreakablePort {
  readonly port: number;
  break(how: 'gone' | 'silent'): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** `target`: a port of this machine. */
export async function openBreakablePort(target: number): Promise<BreakablePort> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isSilent = false;
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.setNoDelay(true);
      from.on('data', (data) => {
        if (!isSilent) to.write(data);
      });
      from.on('error', () => to.destroy());
      from.on('end', () => to.end());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const drop = (): void => {
    for (const [inner, outer] of pairs) {
      inner.resetAndDestroy();
      outer.destroy();
    }
  };
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      if (!server.listening) {
        resolve();
        return;
      }
      server.close(() => resolve());
      drop();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async break(how) {
      if (how === 'gone') await stop();
      else isSilent = true;
    },
    async mend() {
      // What was lost while nothing passed would break the encryption.
      if (isSilent) drop();
      isSilent = false;
      if (!server.listening) await listen(port);
    },
    close: stop,
  };
}
