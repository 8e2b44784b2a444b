// A gateway of an API process and two call workers on the embedded database: calls on both, and each process killed
// in turn. What a killed process does not hold goes on as if nothing had happened.

import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { connectTwilio, GatewayRig } from '../demo/gateway-rig.ts';
import { holdCall } from '../demo/person.ts';
import { callerLines, inbound, OWN_NUMBER } from '../demo/scenario.ts';
import type { Agents } from '../demo/two-calls.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import type { FakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const rig = new GatewayRig('workers');
const POLL = { timeout: 60_000, interval: 200 };
/** A dead process is looked for every half minute without that. */
const SOON = { timeout: 20_000, interval: 200 };
/** Of the gateway, shown when a test fails. */
const LOG_LINES = 60;

let twilio: FakeTwilio;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  api = await rig.start({
    PATCHBAY_WORKERS: '2',
    PATCHBAY_METRICS_OLD_NAMES: '1',
    PATCHBAY_DRAIN_SECONDS: '1',
    PATCHBAY_STALL_SECONDS: '5',
  });
  await untilServing(['1', '2', 'api'], 0);
  ({ twilio, agents } = await connectTwilio(rig, api));
}, 180_000);

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  const lines = readFileSync(rig.logFile, 'utf8').trimEnd().split('\n');
  process.stderr.write(`${lines.slice(-LOG_LINES).join('\n')}\n`);
});

afterAll(async () => {
  await rig.end();
  await twilio?.close();
});

it('shares calls out, and outlives each of its workers', async () => {
  const first = await begin();
  const isFirstOnTwo = (await callsOn())[2] === 1;
  const second = await begin();
  expect(await callsOn()).toEqual({ 1: 1, 2: 1 });
  const [onFirst, onSecond] = isFirstOnTwo ? [second, first] : [first, second];

  // A worker dies: Twilio asks what to do with its call, which goes on in the other worker.
  const killed = rig.pidOf('2');
  process.kill(killed, 'SIGKILL');
  await expect.poll(() => documentsOf(onSecond), SOON).toEqual(['Stream', 'Stream']);
  await expect.poll(async () => (await callsOn())[1], SOON).toBe(2);
  await untilServing(['2'], killed);

  // It takes calls again. Then the API process dies: what is asked meanwhile is answered when it is there again,
  // nothing is refused, and the audio of calls has no gap.
  const third = await begin();
  expect(await callsOn()).toEqual({ 1: 2, 2: 1 });
  const before = await gapSeconds();
  const api = rig.pidOf('api');
  process.kill(api, 'SIGKILL');
  const { answers, heardSpeech, awayS } = await duringRestart(third.call);
  expect(heardSpeech).toBe(true);
  // Audio that waited for the API process would be away as long. A busy machine has gaps of its own.
  expect((await gapSeconds()) - before).toBeLessThan(awayS / 4);
  expect(answers.filter((status) => status !== 200)).toEqual([]);
  expect(answers.length).toBeGreaterThan(10);
  await untilServing(['api'], api);

  // Both calls outlive the processes that died, to their end.
  for (const outlived of [onFirst, third]) {
    await outlived.held;
    await expect.poll(async () => (await runOf(outlived)).is_completed, POLL).toBe(true);
    const { disposition, gathered_context: gathered } = await runOf(outlived);
    expect(disposition).not.toBe('unexpected_error');
    expect(gathered?.['extracted_variables']).toMatchObject({ weekday: 'wednesday' });
  }
  // What the caller said to the dead worker last may be lost.
  await onSecond.held;
  await expect.poll(async () => (await runOf(onSecond)).is_completed, POLL).toBe(true);
  const { disposition } = await runOf(onSecond);
  expect(disposition).not.toBe('unexpected_error');
}, 300_000);

it('answers an upgrade of an unknown path', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const request = get(`${rig.gateway.url}/unknown`, { headers, agent: false });
    request.once('response', (response) => resolve(response.resume().statusCode));
    request.once('upgrade', () => reject(new Error('upgraded')));
    request.once('error', reject);
  });
  expect(status).toBe(404);
});

it('kills a worker that is suspended, and stops as a whole', async () => {
  const still = rig.pidOf('2');
  process.kill(still, 'SIGSTOP');
  await untilServing(['2'], still);
  const metrics = await (await fetch(`${rig.gateway.url}/metrics`)).text();
  expect(metrics).toContain('patchbay_worker_kills_total{worker="supervisor"} 1');
  expect(await rig.gateway.stop()).toBe(0);
}, 180_000);

/** New connections from the kill on, until one that was made after it is answered: their statuses, 0 for a refused
 *  one. Whether the agent went on speaking meanwhile, and how long that was. */
async function duringRestart(call: FakeCall) {
  const asked: Promise<number>[] = [];
  const fromMs = call.mediaMs;
  const sinceMs = performance.now();
  let awayS = 0;
  let heardSpeech = false;
  let isAnswered = false;
  while (!isAnswered || asked.length <= 10) {
    const answer = ask();
    asked.push(answer);
    void answer.then(() => {
      isAnswered = true;
      awayS ||= (performance.now() - sinceMs) / 1_000;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let ms = fromMs; ms < call.mediaMs && !isAnswered; ms += 100) {
      heardSpeech ||= call.isHearingSpeechAt(ms);
    }
  }
  return { answers: await Promise.all(asked), heardSpeech, awayS };
}

/** Silence that callers heard because audio came late, by the workers' metrics. */
async function gapSeconds(): Promise<number> {
  const text = await (await fetch(`${rig.gateway.url}/metrics`)).text();
  const sums = text.matchAll(/^patchbay_playout_gap_seconds_sum\{.*\} (\S+)$/gm);
  return [...sums].reduce((all, [, seconds]) => all + Number(seconds), 0);
}

function ask(): Promise<number> {
  return new Promise((resolve) => {
    const request = get(`${rig.gateway.url}/api/v1/health`, { agent: false });
    request.once('response', (response) => resolve(response.resume().statusCode ?? 0));
    request.once('error', () => resolve(0));
  });
}

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

/** What Twilio was asked to do, one word for each document. */
function documentsOf({ call }: Begun): string[] {
  const documents = call.events.filter(({ type }) => type === 'document');
  return documents.map(({ detail }) => {
    return /<(Stream|Hangup)/.exec(String(detail['body']))?.[1] ?? '';
  });
}

const runOf = ({ runId }: Begun) => api.run(agents.receiving.id, runId);

/** Calls by worker, from the metrics of all of them. */
async function callsOn(): Promise<Record<string, number>> {
  const text = await (await fetch(`${rig.gateway.url}/metrics`)).text();
  expect(text).toContain('patchbay_workers{worker="supervisor"} 2');
  expect(text).toContain('gateway_workers{worker="supervisor"} 2');
  const builds = text.matchAll(/^patchbay_build_info\{version="\d.*",worker="(\w+)"\} 1$/gm);
  expect([...builds].map(([, worker]) => worker).sort()).toEqual(['1', '2', 'api', 'supervisor']);
  const all = text.matchAll(/^patchbay_calls_active\{provider="twilio",worker="(\d)"\} (\d+)$/gm);
  return Object.fromEntries([...all].map(([, worker, calls]) => [worker, Number(calls)]));
}

/** As other processes than `before`. */
async function untilServing(workers: readonly string[], before: number): Promise<void> {
  const isNew = (worker: string): boolean => ![0, before].includes(rig.pidOf(worker));
  await vi.waitFor(() => expect(workers.every(isNew)).toBe(true), POLL);
}
