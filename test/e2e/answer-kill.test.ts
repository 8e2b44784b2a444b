// A gateway that is killed after it has replied to the webhook of a new call, and before Telnyx has accepted the command
// that answers the call: the caller, whose phone rings on, still gets the agent.

import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { inbound } from '../demo/scenario.ts';
import type { TelnyxCall } from '../fakes/telnyx/fake-call.ts';
import { type FakeTelnyx, startFakeTelnyx } from '../fakes/telnyx/fake-telnyx.ts';
import { API_KEY, CONNECTION_ID, SEED_HEX, telnyxRow } from '../fakes/telnyx/row.ts';

const NUMBER = '+14155550101';
const CALLER = '+14155550100';
/** A restart takes this long on a machine that does much else. */
const POLL = { timeout: 90_000, interval: 100 };
/** A call that is older than a minute when a machine has restarted the worker at last is not answered. */
const PATIENT = { timeout: 240_000, retry: 1 };
const WORKERS = ['1', '2'];

const rig = new GatewayRig('answer-kill');
let telnyx: FakeTelnyx;
let api: ApiClient;
let agentId: string;

beforeAll(async () => {
  api = await rig.start({ PATCHBAY_WORKERS: '2' });
  await vi.waitFor(() => expect(WORKERS.every((worker) => rig.pidOf(worker) > 0)).toBe(true), POLL);
  await api.useOwnKey('Test');
  telnyx = await startFakeTelnyx({
    apiKey: API_KEY,
    connectionId: CONNECTION_ID,
    seedHex: SEED_HEX,

    gatewayUrl: rig.gateway.url,
    numbers: [NUMBER],
  });
  const config = telnyxRow.configuration(telnyx.baseUrl);
  const configurationId = await api.createConfiguration('Telnyx', config, false);
  agentId = (await api.createWorkflow('Answers', inbound.definition)).id;
  await api.addNumber(configurationId, { address: NUMBER, inbound_workflow_id: agentId });
}, 240_000);

afterAll(async () => {
  await rig.end();
  await telnyx?.close();
});

/** A call whose webhook has been replied to, while the command that answers it has not. */
async function waitingCall(): Promise<TelnyxCall> {
  telnyx.withholdAnswers = true;
  const before = telnyx.withheld.length;
  const call = await telnyx.placeInboundCall({ from: CALLER, to: NUMBER });
  await vi.waitFor(() => expect(telnyx.withheld.length).toBeGreaterThan(before), POLL);
  await call.callbacksSettled();
  expect(call.status).toBe('initiated');
  return call;
}

/** The caller hears the agent, over one stream, and the run says so. */
async function talks(call: TelnyxCall): Promise<void> {
  await vi.waitFor(() => expect(call.heard.length).toBeGreaterThan(0), POLL);
  await call.waitForSpeech();
  const [runId = ''] = await api.runIds(agentId);
  expect((await api.run(agentId, runId)).state).toBe('running');
  const started = call.events.filter(({ type }) => type === 'stream-started');
  expect(started).toHaveLength(1);
  expect(call.faults).toEqual([]);
  call.hangUp();
  await expect.poll(async () => (await api.run(agentId, runId)).is_completed, POLL).toBe(true);
  expect((await api.run(agentId, runId)).disposition).toBe('user_hangup');
}

it(
  'a caller whose worker was killed before the answer was accepted gets the agent',
  PATIENT,
  async () => {
    const call = await waitingCall();
    const commandId = telnyx.withheld.at(-1);
    telnyx.withholdAnswers = false;
    for (const worker of WORKERS) process.kill(rig.pidOf(worker), 'SIGKILL');
    await talks(call);
    expect([...call.commands]).toEqual([commandId]);
  },
);

it(
  'so does one whose call was answered while the worker was away, which opens no second stream by itself',
  PATIENT,
  async () => {
    const call = await waitingCall();
    telnyx.withholdAnswers = false;
    for (const worker of WORKERS) process.kill(rig.pidOf(worker), 'SIGKILL');
    telnyx.carryOutWithheld();
    expect(call.status).toBe('in-progress');
    await talks(call);
    const names = call.events.flatMap(({ type, detail }) =>
      type === 'command' ? [detail['name']] : [],
    );
    expect(names.slice(0, 2)).toEqual(['answer', 'streaming_start']);
  },
);

it('so does one whose whole gateway was killed', PATIENT, async () => {
  const call = await waitingCall();
  telnyx.withholdAnswers = false;
  await rig.kill();
  // A slow machine must not make the call too old: the clock of the second gateway is a minute behind.
  const preload = pathToFileURL('test/e2e/skewed-clock.mjs').href;
  await rig.startAgain({ ['NODE_OPTIONS']: `--import=${preload}`, ['SKEW_MS']: '-60000' });
  await talks(call);
});
