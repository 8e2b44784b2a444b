// A gateway of two call workers with calls over one Asterisk: both have some. The worker with the connection is killed,
// then the other one: the calls of each go on, and those of the other do not notice it.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { type FakeAsterisk, startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../fakes/asterisk/phone.ts';
import { hasHeardOut, speechAfter } from './left-asterisk-calls.ts';

const rig = new GatewayRig('asterisk-workers');
const POLL = { timeout: 60_000, interval: 100 };
let asterisk: FakeAsterisk;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  api = await rig.start({ PATCHBAY_WORKERS: '2', PATCHBAY_DRAIN_SECONDS: '1' });
  asterisk = await startAsterisk();
  agents = await setUp(api, asterisk.url.replace('://', '://gw:gwsecret@'), 'ari');
}, 180_000);

afterAll(async () => {
  await rig.end();
  await asterisk?.stop();
});

const until = (condition: () => boolean) => vi.waitFor(() => expect(condition()).toBe(true), POLL);

/** A caller who has heard the agent's first words, and the worker of the call. */
async function callIn(): Promise<{ phone: Phone; worker: string }> {
  const before = await callsOn();
  const to = OWN_NUMBER.slice(1);
  const phone = asterisk.placeCall({ from: inbound.callerNumber, to, app: agents.app });
  await until(() => hasHeardOut(phone));
  const after = await callsOn();
  const worker = Object.keys(after).find((each) => (after[each] ?? 0) > (before[each] ?? 0));
  return { phone, worker: worker ?? '' };
}

/** Calls by worker. */
async function callsOn(): Promise<Record<string, number>> {
  const text = await (await fetch(`${rig.gateway.url}/metrics`)).text();
  const all = text.matchAll(/^patchbay_calls_active\{provider="ari",worker="(\d)"\} (\d+)$/gm);
  return Object.fromEntries([...all].map(([, worker = '', calls]) => [worker, Number(calls)]));
}

/** Calls until each worker has one. */
async function callInOnBoth(): Promise<{ first: Phone; second: Phone }> {
  const byWorker = new Map<string, Phone>();
  for (let nth = 0; nth < 6 && byWorker.size < 2; nth++) {
    const { phone, worker } = await callIn();
    if (byWorker.has(worker)) phone.hangUp();
    else byWorker.set(worker, phone);
  }
  const [first, second] = [byWorker.get('1'), byWorker.get('2')];
  if (first === undefined || second === undefined) throw new Error('a worker has no call');
  return { first, second };
}

async function killWorker(worker: string): Promise<void> {
  const killed = rig.pidOf(worker);
  process.kill(killed, 'SIGKILL');
  await vi.waitFor(() => expect([0, killed]).not.toContain(rig.pidOf(worker)), POLL);
}

async function nothingLeft(): Promise<void> {
  await until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);
}

/** The runs of the first agent that are completed, by their dispositions. */
async function dispositions(): Promise<(string | null | undefined)[]> {
  const ids = await api.runIds(agents.receiving.id);
  const runs = await Promise.all(ids.map((id) => api.run(agents.receiving.id, id)));
  return runs.map(({ is_completed, disposition }) => (is_completed ? disposition : 'open'));
}

it('calls of one PBX are in both workers, and outlive the death of each', async () => {
  const { first, second } = await callInOnBoth();

  // The worker with the connection: its call goes on when the next one has connected.
  const speech = speechAfter(first, rig.logFile);
  await killWorker('1');
  const { killedMs, connectedMs } = await speech;
  process.stderr.write(
    `worker with the connection killed: speech after ${killedMs} ms, ${connectedMs} ms after it was connected again\n`,
  );
  expect([first.isOver, second.isOver]).toEqual([false, false]);
  const heard = second.heard.length;
  await until(() => second.heard.length > heard + 25);
  await until(() => asterisk.openEventSockets === 1);
  // Its events come from the next connection.
  second.hangUp();
  first.hangUp();
  await nothingLeft();
  await expect
    .poll(async () => new Set(await dispositions()), POLL)
    .toEqual(new Set(['user_hangup']));

  // The other worker.
  const again = await callInOnBoth();
  const next = speechAfter(again.second, rig.logFile);
  await killWorker('2');
  const member = await next;
  process.stderr.write(`other worker killed: speech after ${member.killedMs} ms\n`);
  expect([again.first.isOver, again.second.isOver]).toEqual([false, false]);
  const before = again.first.heard.length;
  await until(() => again.first.heard.length > before + 25);
  again.first.hangUp();
  again.second.hangUp();
  await nothingLeft();
  await expect
    .poll(async () => new Set(await dispositions()), POLL)
    .toEqual(new Set(['user_hangup']));
  expect(asterisk.complaints).toEqual([]);
}, 240_000);
