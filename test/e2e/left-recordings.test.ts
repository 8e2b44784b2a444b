// Two gateways on one PostgreSQL server: one is killed during a call, the other closes its run, and the recording comes
// when the first one's disk is seen again, be it by a gateway of another name. With the files on the disks, and in S3.

import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { ApiClient, download, type RunDetail } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { machine } from '../demo/machine-pace.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { type FakeS3, startFakeS3 } from '../fakes/s3/fake-s3.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { onDatabase } from './database-gateway.ts';

/** What a killed process may lose. */
const LOST_S_MAX = 1.5;
/** From the death to the closed run, and from there until nobody writes the recording any more. */
const CLOSED_MS_MAX = 60_000;
const ATTACHED_MS_MAX = 60_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.runIf(engines().includes('server')).each(['the disks', 'S3'])('files on %s', (place) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-left-'));
  let server: TestServer;
  let s3: FakeS3;
  let first: Gateway;
  let second: Gateway;
  let twilio: FakeTwilio;
  let workflowId = '';
  let api: { first: ApiClient; second: ApiClient };
  let key = '';

  async function start(name: string): Promise<Gateway> {
    const { endpoint, bucket, accessKey, secretKey } = s3.settings;
    const env = {
      PATCHBAY_NODE: name,
      PATCHBAY_WORKERS: '1',
      ...(place === 'S3' && {
        S3_ENDPOINT: endpoint,
        S3_BUCKET: bucket,
        S3_ACCESS_KEY: accessKey,
        S3_SECRET_KEY: secretKey,
      }),
    };
    return Gateway.start(await onDatabase({ databaseUrl: server.url, folder, name, env }));
  }

  beforeAll(async () => {
    machine.watch();
    [server, s3] = await Promise.all([startServer(), startFakeS3()]);
    first = await start('first');
    key = await first.firstKey();
    second = await start('second');
    twilio = await startFakeTwilio({
      publicWebhookBase: first.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    api = { first: new ApiClient(first.url, key), second: new ApiClient(second.url, key) };
    const { receiving } = await setUp(api.first, twilio.baseUrl);
    workflowId = receiving.id;
  }, 240_000);

  afterAll(async () => {
    await Promise.all([first?.kill(), second?.kill()]);
    await twilio?.close();
    await Promise.all([server?.stop(), s3?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** The newest run of the agent, as the second gateway shows it. */
  async function newest(): Promise<RunDetail> {
    const ids = await api.second.runIds(workflowId);
    const id = ids.sort((one, other) => Number(other) - Number(one))[0] ?? '';
    return api.second.run(workflowId, id);
  }

  it.runIf(place === 'S3')(
    'a recording is read everywhere once S3 has it, and before at its own gateway',
    async () => {
      s3.fault = 'broken';
      const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
      await vi.waitFor(() => expect(call.heard.length).toBeGreaterThan(0), 30_000);
      call.hangUp();
      const soon = { timeout: machine.scaled(20_000), interval: 200 };
      await vi.waitFor(async () => expect((await newest()).recording_url).not.toBeNull(), soon);
      const url = String((await newest()).recording_url);
      const refused = await fetch(url);
      expect(refused.status).toBe(503);
      expect((await fetch(url.replace(second.url, first.url))).status).toBe(200);
      s3.fault = undefined;
      const back = { timeout: machine.scaled(60_000), interval: 500 };
      await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), back);
    },
    180_000,
  );

  it('the recording of a killed gateway comes from its disk, whoever has that', async () => {
    const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
    await vi.waitFor(() => expect(call.heard.length).toBeGreaterThan(0), 30_000);
    await pause(4_000);
    const livedS = call.mediaMs / 1_000;
    await first.kill();
    const over = { timeout: machine.scaled(CLOSED_MS_MAX), interval: 500 };
    await vi.waitFor(async () => expect((await newest()).is_completed).toBe(true), over);
    expect((await newest()).recording_url).toBeNull();

    renameSync(join(folder, 'first'), join(folder, 'third'));
    first = await start('third');
    api.first = new ApiClient(first.url, key);
    const there = { timeout: machine.scaled(ATTACHED_MS_MAX), interval: 500 };
    await vi.waitFor(async () => expect((await newest()).recording_url).not.toBeNull(), there);
    const run = await newest();
    // Links have the address of the gateway that is asked.
    const url = String(run.recording_url);
    const own = url.replace(second.url, first.url);
    if (place === 'S3') {
      await vi.waitFor(() => expect(s3.objects.has(`recordings/${run.id}.wav`)).toBe(true), there);
      const part = await fetch(url, { headers: { range: 'bytes=0-3' } });
      expect([part.status, await part.text()]).toEqual([206, 'RIFF']);
    }
    const bytes = await download(place === 'S3' ? url : own);
    const { samples, channels, rateHz } = readWav(bytes);
    expect(samples.length / channels / rateHz).toBeGreaterThan(livedS - LOST_S_MAX);
    // Its header has the length of what is there.
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  }, 240_000);
});
