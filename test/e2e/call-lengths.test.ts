// How long calls were of which the gateway did not see the end: its worker is killed, all of it is killed and
// started again later, or is suspended while callers leave.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { type ApiClient, download, type RunDetail } from '../demo/api-client.ts';
import { connectTwilio, GatewayRig } from '../demo/gateway-rig.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import type { Agents } from '../demo/two-calls.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import type { FakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const rig = new GatewayRig('lengths');
const POLL = { timeout: 60_000, interval: 200 };
/** Longer than what is said first, so that no event is near the end. */
const TALK_MS = 9_000;
/** What a killed process has not written of a recording. */
const LOST_S_MAX = 1.5;
/** From one end of the line to the other, on a busy machine. */
const WAY_S_MAX = 0.7;
/** The supervisor kills a worker that is suspended for longer than 15 s. */
const STILL_MS = 8_000;

let twilio: FakeTwilio;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  api = await rig.start();
  ({ twilio, agents } = await connectTwilio(rig, api));
}, 180_000);

afterAll(async () => {
  await rig.end();
  await twilio?.close();
});

// The calls of callers who stay go on in the next worker.
it('calls whose worker is killed, and whose callers leave, were as long as until then', async () => {
  const calls = await talk(2);
  process.kill(rig.pidOf('1'), 'SIGKILL');
  const lengths = calls.map(lengthOf);
  for (const { call } of calls) call.hangUp();
  for (const [nth, call] of calls.entries()) {
    expectLength(await ended(call), lengths[nth], LOST_S_MAX);
  }
}, 120_000);

it('calls of a gateway that is killed and started again later were as long as until then', async () => {
  await expect.poll(answers, POLL).toBe(true);
  const [call] = await talk(1);
  if (call === undefined) throw new Error('no call');
  await rig.kill();
  const length = lengthOf(call);
  await pause(5_000);
  await rig.startAgain();
  expectLength(await ended(call), length, LOST_S_MAX);
}, 240_000);

it('callers who leave while the gateway is suspended count until then', async () => {
  const calls = await talk(2);
  process.kill(rig.pidOf('1'), 'SIGSTOP');
  await pause(500);
  for (const { call } of calls) call.hangUp();
  const lengths = calls.map(lengthOf);
  await pause(STILL_MS);
  process.kill(rig.pidOf('1'), 'SIGCONT');
  for (const [nth, call] of calls.entries()) {
    const run = await ended(call);
    expect(run.disposition).toBe('user_hangup');
    expectLength(run, lengths[nth], 0);
    const { samples, rateHz } = readWav(await download(String(run.recording_url)));
    expect(samples.length / 2 / rateHz).toBeCloseTo(run.duration ?? 0, 1);
  }
}, 120_000);

interface Talking {
  call: FakeCall;
  runId: string;
}

/** Calls that have talked for a while. */
async function talk(count: number): Promise<Talking[]> {
  const calls: Talking[] = [];
  for (let nth = 0; nth < count; nth++) {
    const before = new Set(await api.runIds(agents.receiving.id));
    const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
    await expect.poll(() => call.heard.length, POLL).toBeGreaterThan(8_000);
    const runId = (await api.runIds(agents.receiving.id)).find((id) => !before.has(id)) ?? '';
    calls.push({ call, runId });
  }
  await expect.poll(() => calls.every(({ call }) => call.mediaMs > TALK_MS), POLL).toBe(true);
  return calls;
}

interface Length {
  seconds: number;
  endedAt: number;
}

/** Up to now, by the caller's clock. */
function lengthOf({ call }: Talking): Length {
  return { seconds: call.mediaMs / 1_000, endedAt: Date.now() };
}

async function ended({ runId }: Talking): Promise<RunDetail> {
  const run = () => api.run(agents.receiving.id, runId);
  await expect.poll(async () => (await run()).is_completed, POLL).toBe(true);
  return run();
}

function expectLength(run: RunDetail, length: Length | undefined, lostS: number): void {
  if (length === undefined) throw new Error('no length');
  expect(run.duration).toBeGreaterThan(length.seconds - lostS - WAY_S_MAX);
  expect(run.duration).toBeLessThan(length.seconds + WAY_S_MAX);
  const laterS = (Date.parse(String(run.ended_at)) - length.endedAt) / 1_000;
  expect(laterS).toBeGreaterThan(-lostS - WAY_S_MAX);
  expect(laterS).toBeLessThan(WAY_S_MAX);
}

async function answers(): Promise<boolean> {
  const pid = rig.pidOf('1');
  return pid > 0 && (await fetch(`${rig.gateway.url}/api/v1/health`)).ok;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
