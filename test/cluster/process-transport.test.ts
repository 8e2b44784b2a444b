// A socket between two real processes.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { send } from '../../src/cluster/process-transport.ts';

const program = fileURLToPath(new URL('./late-process.ts', import.meta.url));

it('loses nothing of a socket whose taker comes late to it', async () => {
  const child = fork(program, { execArgv: ['--import', 'tsx'], serialization: 'advanced' });
  const server = createServer();
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = await accepted;
    socket.resume(); // As the server of a request reads on.
    child.send('stand still');
    await once(child, 'message');
    const note = { kind: 'note', from: 1, to: 2, topic: 'upgrade', body: {} } as const;
    expect(send(child, note, socket)).toBe(true);
    await new Promise<void>((resolve) => peer.write('first words', () => resolve()));
    const [told] = await once(child, 'message', { signal: AbortSignal.timeout(10_000) });
    expect(told).toBe('heard first words');
    peer.destroy();
  } finally {
    child.kill();
    server.close();
  }
}, 20_000);
