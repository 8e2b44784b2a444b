// A worker for tests of the supervisor: reports its number, forwards its messages, and exits on a message.
// Those numbered 9 and above never serve.

import { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { API, SUPERVISOR } from '../../src/cluster/ipc-message.ts';
import { supervisorTransport } from '../../src/cluster/process-transport.ts';
import { acceptHandedOffSocket } from '../../src/cluster/socket-handoff.ts';
import { followSupervisor, gatewayEpoch } from '../../src/cluster/worker-commands.ts';
import { processIn } from '../../src/cluster/worker-supervisor.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const number = processIn(process.argv) ?? 0;
const { log } = quietLog();
const channel = supervisorTransport({ clock, log }, () => process.exit(1));
const link = new IpcChannel(number, channel, { clock, log });
const epoch = gatewayEpoch(link);
let known: string | null = null;
const heard: string[] = [];
for (const topic of ['announced', 'listen']) link.onNotification(topic, () => heard.push(topic));
link.onRequest('who', async () => ({ number, pid: process.pid, epoch: known, heard }));
link.onRequest('ask', async (to) => link.request(Number(to), 'who', {}, 5_000));
link.onRequest('fill', async () => {
  for (const kept: object[] = []; ; ) kept.push(Array.from({ length: 1_000 }, () => ({})));
});
link.onRequest('never', () => new Promise(() => undefined));
acceptHandedOffSocket(link, (request, socket) => socket.end(`${number} has ${request.url}`));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
if (process.env['FAIL_WORKER'] === String(number)) process.exit(3);
known = await epoch;
if (number === API) link.notify(SUPERVISOR, 'listener', {});
const settled = { drain: () => Promise.resolve(), close: () => Promise.resolve() };
followSupervisor(link, settled, { clock, leave: () => process.exit(0) });
