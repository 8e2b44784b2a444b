// A gateway that is killed while it holds a call over an Asterisk, and started again.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { type FakeAsterisk, startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../fakes/asterisk/phone.ts';

const rig = new GatewayRig('asterisk-kill');
const WAIT_MS_MAX = 20_000;
let asterisk: FakeAsterisk;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  api = await rig.start();
  asterisk = await startAsterisk();
  agents = await setUp(api, asterisk.url.replace('://', '://gw:gwsecret@'), 'ari');
}, 60_000);

afterAll(async () => {
  await rig.end();
  await asterisk?.stop();
});

const until = (condition: () => boolean) =>
  vi.waitFor(() => expect(condition()).toBe(true), { interval: 50, timeout: WAIT_MS_MAX });

/** A caller who hears the agent. */
async function callIn(): Promise<Phone> {
  const to = OWN_NUMBER.slice(1);
  const phone = asterisk.placeCall({ from: inbound.callerNumber, to, app: agents.app });
  const isLoud = (sample: number) => Math.abs(sample) > 1_000;
  await until(() => phone.heard.slice(-10).some(({ pcm }) => pcm.some(isLoud)));
  return phone;
}

it('a call whose gateway was killed is hung up at the PBX, nothing of it is left, and the next is answered', async () => {
  const phone = await callIn();
  await rig.kill();
  expect(phone.isOver).toBe(false);

  await rig.startAgain();
  await phone.ended;
  await until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);
  const [runId = ''] = await api.runIds(agents.receiving.id);
  const run = await api.run(agents.receiving.id, runId);
  expect(run).toMatchObject({ is_completed: true, disposition: 'unexpected_error' });

  await until(() => asterisk.openEventSockets === 1);
  const next = await callIn();
  next.hangUp();
  await until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);
  expect(asterisk.complaints).toEqual([]);
}, 90_000);
