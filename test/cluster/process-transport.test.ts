// The pipe to another process: a socket between two real ones, and its limits.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MESSAGE_BYTES_MAX } from '../../src/cluster/ipc-message.ts';
import { send } from '../../src/cluster/process-transport.ts';
import { isAlive } from '../fakes/is-alive.ts';

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
    const note = { kind: 'note', from: 1, to: 2, bytes: 9, topic: 'upgrade', body: {} } as const;
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

it('ends a process whose supervisor was killed before it confirmed a connection', async () => {
  const program = fileURLToPath(new URL('./orphaned-process.ts', import.meta.url));
  const first = spawn(process.execPath, ['--import', 'tsx', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(first.stdout, 'data', { signal: AbortSignal.timeout(15_000) });
  const second = Number(line);
  first.kill('SIGKILL');
  try {
    await expect.poll(() => isAlive(second), { timeout: 5_000 }).toBe(false);
  } finally {
    if (isAlive(second)) process.kill(second, 'SIGKILL');
  }
}, 30_000);

describe('a process that does not read', () => {
  const note = { kind: 'note', from: 1, to: 2, topic: 'webhook', body: {} } as const;

  /** Gives what is called once the message was read. */
  function stopped() {
    const read: (() => void)[] = [];
    const pipe = {
      connected: true,
      send: (...[, , , sent]: unknown[]) => read.push(sent as () => void) > 0,
    };
    return { pipe, read };
  }

  it('is sent no more than 64 MB, and more once it has read', () => {
    const { pipe, read } = stopped();
    const large = { ...note, bytes: MESSAGE_BYTES_MAX };
    const taken = Array.from({ length: 20 }, () => send(pipe, large, undefined));
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(8);
    read[0]?.();
    expect(send(pipe, large, undefined)).toBe(true);
    expect(send(pipe, large, undefined)).toBe(false);
  });

  it('is not sent what cannot be copied, which leaves room for what can', () => {
    const pipe = {
      connected: true,
      send: () => {
        throw new Error('could not be cloned');
      },
    };
    for (let n = 0; n < 9; n++) {
      expect(() => send(pipe, { ...note, bytes: MESSAGE_BYTES_MAX }, undefined)).toThrow('cloned');
    }
  });
});
