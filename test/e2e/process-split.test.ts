// Runs that are open under the owner names of other forms of the gateway: one process has the gateway's name, a call
// worker has its number behind it. Whatever form starts next closes what a killed one left behind.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-split-'));
const POLL = { timeout: 30_000, interval: 200 };
/** At the start, not when dead processes are looked for: that is half a minute later. */
const SOON = { timeout: 10_000, interval: 200 };

let gateway: Gateway | undefined;
let twilio: FakeTwilio | undefined;
let port = 0;

afterEach(() => gateway?.kill());
afterAll(async () => {
  await twilio?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(workers: number): Promise<Gateway> {
  port ||= await freePort();
  gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port,
    env: {
      PATCHBAY_WORKERS: String(workers),
      PATCHBAY_STT: 'none',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
    },
  });
  return gateway;
}

it('one process, then processes of their own, then these again: each closes the runs of the one before', async () => {
  const first = await start(0);
  twilio = await startFakeTwilio({
    publicWebhookBase: first.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [OWN_NUMBER],
  });
  const api = new ApiClient(first.url, await first.firstKey());
  const agents: Agents = await setUp(api, twilio.baseUrl);
  for (const next of [1, 1]) {
    const before = new Set(await api.runIds(agents.receiving.id));
    const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
    await expect.poll(() => call.heard.length, POLL).toBeGreaterThan(8_000);
    const runId = (await api.runIds(agents.receiving.id)).find((id) => !before.has(id)) ?? '';
    await gateway?.kill();
    await start(next);
    const run = () => api.run(agents.receiving.id, runId);
    await expect.poll(async () => (await run()).is_completed, SOON).toBe(true);
    expect((await run()).disposition).toBe('unexpected_error');
  }
}, 180_000);
