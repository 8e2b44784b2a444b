// A gateway that is killed while it holds a call over an Asterisk, and started again: the call goes on.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { type FakeAsterisk, startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../fakes/asterisk/phone.ts';
import { hasHeardOut, speechAfter } from './left-asterisk-calls.ts';

const WAIT_MS_MAX = 20_000;

describe.each([
  ['of one process', '0'],
  ['of an API process and a call worker', '1'],
])('a gateway %s', (_, workers) => {
  const rig = new GatewayRig(`asterisk-kill-${workers}`);
  let asterisk: FakeAsterisk;
  let api: ApiClient;
  let agents: Agents;

  beforeAll(async () => {
    api = await rig.start({ PATCHBAY_WORKERS: workers });
    asterisk = await startAsterisk();
    agents = await setUp(api, asterisk.url.replace('://', '://gw:gwsecret@'), 'ari');
  }, 120_000);

  afterAll(async () => {
    await rig.end();
    await asterisk?.stop();
  });

  const until = (condition: () => boolean) =>
    vi.waitFor(() => expect(condition()).toBe(true), { interval: 50, timeout: WAIT_MS_MAX });

  /** A caller who has heard the agent's first words. */
  async function callIn(): Promise<Phone> {
    const to = OWN_NUMBER.slice(1);
    const phone = asterisk.placeCall({ from: inbound.callerNumber, to, app: agents.app });
    await until(() => hasHeardOut(phone));
    return phone;
  }

  const nothingLeft = () =>
    until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);

  it('that was killed goes on with its call when it is started again, to its end', async () => {
    const phone = await callIn();
    await rig.kill();
    expect(phone.isOver).toBe(false);
    const speech = speechAfter(phone, rig.logFile);
    await rig.startAgain();
    const { connectedMs } = await speech;
    process.stderr.write(`${workers} workers: speech ${connectedMs} ms after the connection\n`);
    phone.hangUp();
    await nothingLeft();
    const [runId = ''] = await api.runIds(agents.receiving.id);
    const run = async () => api.run(agents.receiving.id, runId);
    await expect
      .poll(run, { timeout: WAIT_MS_MAX })
      .toMatchObject({ is_completed: true, disposition: 'user_hangup' });

    await until(() => asterisk.openEventSockets === 1);
    const next = await callIn();
    next.hangUp();
    await nothingLeft();
    expect(asterisk.complaints).toEqual([]);
  }, 120_000);
});
