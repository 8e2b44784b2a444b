// A gateway that is killed in the middle of a call, and started again.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { ApiClient, download } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { holdCall } from '../demo/person.ts';
import { callerLines, inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { loudSeconds } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-kill-'));
/** What a killed process may lose. */
const LOST_S_MAX = 1.5;

let options: Parameters<typeof Gateway.start>[0];
let gateway: Gateway;
let twilio: FakeTwilio;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  options = {
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { PATCHBAY_STT: 'none', OPENAI_BASE_URL: '', OPENAI_API_KEY: '' },
  };
  gateway = await Gateway.start(options);
  twilio = await startFakeTwilio({
    publicWebhookBase: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [OWN_NUMBER],
  });
  api = new ApiClient(gateway.url, await gateway.firstKey());
  agents = await setUp(api, twilio.baseUrl);
}, 60_000);

afterAll(async () => {
  await gateway?.kill();
  await twilio?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a run whose gateway was killed is closed with what was stored, and its recording plays', async () => {
  const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
  const held = holdCall(call, callerLines(inbound, false).slice(0, 2));
  await untilSaid('wednesday');
  const livedS = call.mediaMs / 1_000;
  await gateway.kill();

  gateway = await Gateway.start(options);
  const [runId = ''] = await api.runIds(agents.receiving.id);
  const run = await api.run(agents.receiving.id, runId);
  expect(run.is_completed).toBe(true);
  expect(run.gathered_context?.['extracted_variables']).toEqual({ weekday: 'wednesday' });
  expect(run.gathered_context?.['error']).toEqual(expect.any(String));
  expect(run.disposition).toBe('unexpected_error');

  const recording = readWav(await download(String(run.recording_url)));
  const seconds = recording.samples.length / recording.channels / recording.rateHz;
  expect(seconds).toBeGreaterThan(livedS - LOST_S_MAX);
  expect(loudSeconds(recording.samples)).toBeGreaterThan(2);
  const transcript = (await download(String(run.transcript_url))).toString('utf8');
  expect(transcript).toContain('assistant: Welcome to Riverside Dental.');

  // The provider was told to hang up: nobody is left on a dead line.
  await held;
  expect(call.status).toBe('completed');
}, 90_000);

/** Waits until the run, as the API shows it, holds that text; then for the store to have it, too. */
async function untilSaid(text: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const [runId] = await api.runIds(agents.receiving.id);
    const run = runId === undefined ? undefined : await api.run(agents.receiving.id, runId);
    if (JSON.stringify(run?.logs ?? {}).includes(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`nobody said ${text}`);
}
