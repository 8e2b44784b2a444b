// A gateway of two workers on the embedded database: calls on both, and each of them killed in turn.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { holdCall } from '../demo/person.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../demo/provider-link.ts';
import { callerLines, inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { freePort } from '../fakes/free-port.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-workers-'));
const logFile = join(folder, 'gateway.log');
const POLL = { timeout: 30_000, interval: 200 };

const served = z.object({
  msg: z.literal('a worker serves'),
  worker: z.number(),
  pid: z.number(),
});

let gateway: Gateway;
let twilio: FakeTwilio;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile,
    port: await freePort(),
    env: {
      PATCHBAY_WORKERS: '2',
      PATCHBAY_METRICS_OLD_NAMES: '1',
      PATCHBAY_STT: 'none',
      PATCHBAY_DRAIN_SECONDS: '1',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
    },
  });
  twilio = await startFakeTwilio({
    publicWebhookBase: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [OWN_NUMBER],
  });
  await untilServing([1, 2], 0);
  api = new ApiClient(gateway.url, await gateway.firstKey());
  agents = await setUp(api, twilio.baseUrl);
}, 90_000);

afterAll(async () => {
  await gateway?.kill();
  await twilio?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('shares calls out, and outlives each of its workers', async () => {
  const first = await begin();
  const second = await begin();
  expect(await callsOn()).toEqual({ 1: 1, 2: 1 });
  const [onSecond, onFirst] = [first, second]; // Whoever has none at all comes first.

  // The worker behind the front dies: its call is closed, the other one goes on to its end.
  const killed = pidOf(2);
  process.kill(killed, 'SIGKILL');
  await untilServing([2], killed);
  await expect.poll(() => onSecond.call.status, POLL).toBe('completed');
  const lost = await runOf(onSecond);
  expect(lost).toMatchObject({ is_completed: true, disposition: 'unexpected_error' });
  await onFirst.held;
  await expect.poll(async () => (await runOf(onFirst)).is_completed, POLL).toBe(true);
  const whole = await runOf(onFirst);
  expect(whole.disposition).not.toBe('unexpected_error');
  expect(whole.gathered_context?.['extracted_variables']).toMatchObject({ weekday: 'wednesday' });

  // It takes calls again. Now the front dies: the call behind it goes on to its end.
  const third = await begin();
  expect(await callsOn()).toMatchObject({ 2: 1 });
  const front = pidOf(1);
  process.kill(front, 'SIGKILL');
  await untilServing([1], front);
  await third.held;
  await expect.poll(async () => (await runOf(third)).is_completed, POLL).toBe(true);
  expect((await runOf(third)).gathered_context?.['extracted_variables']).toMatchObject({
    weekday: 'wednesday',
  });
  expect(await gateway.stop()).toBe(0);
}, 180_000);

interface Begun {
  call: FakeCall;
  held: Promise<unknown>;
  runId: string;
}

/** A call whose caller has been answered. */
async function begin(): Promise<Begun> {
  const before = new Set(await api.runIds(agents.receiving.id));
  const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
  const held = holdCall(call, callerLines(inbound, false));
  held.catch(() => undefined); // Met again by its test.
  await expect.poll(() => call.heard.length, POLL).toBeGreaterThan(8_000);
  const runId = (await api.runIds(agents.receiving.id)).find((id) => !before.has(id)) ?? '';
  return { call, held, runId };
}

const runOf = ({ runId }: Begun) => api.run(agents.receiving.id, runId);

/** Calls by worker, from the metrics of all of them. */
async function callsOn(): Promise<Record<string, number>> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text).toContain('patchbay_workers{worker="0"} 2');
  expect(text).toContain('gateway_workers{worker="0"} 2');
  const builds = text.matchAll(/^patchbay_build_info\{version="\d.*",worker="(\d)"\} 1$/gm);
  expect([...builds].map(([, worker]) => worker).sort()).toEqual(['0', '1', '2']);
  const all = text.matchAll(/^patchbay_calls_active\{provider="twilio",worker="(\d)"\} (\d+)$/gm);
  return Object.fromEntries([...all].map(([, worker, calls]) => [worker, Number(calls)]));
}

/** By the gateway's log, the newest. */
function pidOf(worker: number): number {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const all = lines.flatMap((line) => {
    const parsed = served.safeParse(line.startsWith('{') ? JSON.parse(line) : undefined);
    return parsed.success && parsed.data.worker === worker ? [parsed.data.pid] : [];
  });
  return all.at(-1) ?? 0;
}

/** As other processes than `before`. */
async function untilServing(workers: readonly number[], before: number): Promise<void> {
  const isNew = (worker: number): boolean => ![0, before].includes(pidOf(worker));
  await vi.waitFor(() => expect(workers.every(isNew)).toBe(true), POLL);
}
