// The built gateway with calls on its worker, which is stopped for longer than any pause of its own and goes on before
// PATCHBAY_STALL_SECONDS: as a suspended machine, or a disk that is swapped to.

import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { LoadClient } from '../load/caller/load-client.ts';
import { loadOptionsOf, pause } from '../load/figures/measure.ts';
import { type LoadTarget, startOwnGateway } from '../load/load-target.ts';

const CALLS = 10;
const STOP_MS = 8_000;

let target: LoadTarget | undefined;
let client: LoadClient | undefined;

afterEach(async () => {
  client?.stop();
  await target?.stop();
}, 60_000);

it('calls go on after their worker was stopped for 8 s', async () => {
  target = await startOwnGateway({
    scenario: 'talk',
    workers: 1,
    cores: undefined,
    isSignUpOpen: false,
  });
  const worker = workerOf(target.pid ?? 0);
  client = new LoadClient();
  const options = loadOptionsOf(target, {
    scenario: 'talk',
    calls: CALLS,
    callsPerSecond: 20,
    interruptionsPerSecond: 1,

    leadMs: 80,
    cores: undefined,
    hostilePerSecond: 0,
  });
  await client.ask({ order: 'place', options });
  await pause(3_000); // Everybody speaks.
  process.kill(worker, 'SIGSTOP');
  await pause(STOP_MS);
  process.kill(worker, 'SIGCONT');
  await pause(4_000);
  const metrics = await (await fetch(target.metricsUrl ?? '')).text();
  const { summary } = await client.ask({ order: 'finish' });
  expect(summary).toMatchObject({ calls: CALLS, refused: 0, dropped: 0, failures: [] });
  expect(metrics).toMatch(/^patchbay_calls_active\{.*worker="1"\} 10$/m);
  expect(metrics).not.toMatch(/^patchbay_media_faults_total\{.*MEDIA_FLOOD/m);
}, 180_000);

function workerOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const isWorker = (each: number): boolean =>
    readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').includes('worker');
  const worker = children.map(Number).find(isWorker);
  if (worker === undefined) throw new Error('the gateway has no worker');
  return worker;
}
