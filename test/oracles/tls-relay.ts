// TLS in front of a fake on loopback, for an SDK that speaks wss alone.

import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { makeCertificate } from '../fakes/certificates.ts';

export interface TlsRelay {
  /** wss://127.0.0.1:port */
  url: string;
  close(): Promise<void>;
}

/** The SDK gives no way to name an authority: its certificates go unchecked while the relay is open. */
export async function startTlsRelay(target: string): Promise<TlsRelay> {
  const port = Number(new URL(target).port);
  const server = createServer(makeCertificate({ names: ['127.0.0.1'] }), (socket) => {
    const inner = connect(port, '127.0.0.1');
    for (const each of [socket, inner]) each.on('error', () => undefined);
    socket.pipe(inner).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  return {
    url: `wss://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
