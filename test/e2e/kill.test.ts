// A gateway that is killed in the middle of a call, and started again.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { type ApiClient, download } from '../demo/api-client.ts';
import { connectTwilio, GatewayRig } from '../demo/gateway-rig.ts';
import { holdCall } from '../demo/person.ts';
import { callerLines, inbound, OWN_NUMBER } from '../demo/scenario.ts';
import type { Agents } from '../demo/two-calls.ts';
import { loudSeconds } from '../demo/verdict.ts';
import type { FakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const rig = new GatewayRig('kill');
/** What a killed process may lose. */
const LOST_S_MAX = 1.5;

let twilio: FakeTwilio;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  api = await rig.start();
  ({ twilio, agents } = await connectTwilio(rig, api));
}, 60_000);

afterAll(async () => {
  await rig.end();
  await twilio?.close();
});

it('a run whose gateway was killed is closed with what was stored, and its recording plays', async () => {
  const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
  const held = holdCall(call, callerLines(inbound, false).slice(0, 2));
  await untilSaid('wednesday');
  const livedS = call.mediaMs / 1_000;
  await rig.kill();

  await rig.startAgain();
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
