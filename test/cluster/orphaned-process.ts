// Two processes for a test of the transport. The first forks the second, and reads nothing more from it. The second
// passes a connection to the first, which does not confirm it, and prints its process id.

import { fork } from 'node:child_process';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { send, supervisorTransport } from '../../src/cluster/process-transport.ts';
import { systemClock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const NOTE = { kind: 'note', from: 1, to: 0, bytes: 9, topic: 'upgrade', body: {} } as const;
const STILL_MS = 60_000;

if (process.argv[2] === 'second') {
  supervisorTransport({ clock: systemClock, log: quietLog().log }, () => process.exit(1));
  process.once('message', () => {
    const server = createServer((socket) => {
      send(process, NOTE, socket);
      process.stdout.write(`${process.pid}\n`);
    });
    server.listen(0, '127.0.0.1', () => connect((server.address() as AddressInfo).port));
  });
} else {
  const second = fork(fileURLToPath(import.meta.url), ['second'], {
    execArgv: process.execArgv,
    serialization: 'advanced',
  });
  second.send('begin', () =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS),
  );
}
