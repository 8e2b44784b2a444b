// The built gateway behind a load balancer, which needs a moment to notice that it stops: until then it takes what comes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Gateway } from '../demo/gateway.ts';
import { connectTwilio, GatewayRig } from '../demo/gateway-rig.ts';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { freePort } from '../fakes/free-port.ts';
import type { FakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const GRACE_SECONDS = 6;
/** A busy machine takes seconds until the agent speaks. */
const CALL_GRACE_SECONDS = 12;
/** With the grace, on a busy machine. */
const STOP_MS_MAX = 60_000;
const POLL = { timeout: 5_000, interval: 50 };
const PATIENT_POLL = { timeout: 60_000, interval: 200 };

let folder: string;
let gateway: Gateway | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-grace-'));
});

afterEach(async () => {
  await gateway?.kill();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe.each([0, 1])('a gateway with %i workers that is stopped with a grace', (workers) => {
  it('is not ready at once, serves until the grace is over, and ends then', async () => {
    gateway = await Gateway.start({
      dataFolder: join(folder, 'data'),
      logFile: join(folder, 'gateway.log'),
      port: await freePort(),
      env: {
        PATCHBAY_WORKERS: String(workers),
        PATCHBAY_DRAIN_GRACE_SECONDS: String(GRACE_SECONDS),
      },
    });
    const { url } = gateway;
    const key = await gateway.firstKey();
    const isStarted = async (): Promise<number> => {
      const response = await fetch(`${url}/api/v1/workflow/create/definition`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'late', workflow_definition: { nodes: [], edges: [] } }),
      });
      return response.status;
    };
    const ready = async () => {
      const response = await fetch(`${url}/ready`);
      return { http: response.status, body: await response.json() };
    };
    const accepted = await isStarted();
    expect(accepted).toBeLessThan(300);
    await expect.poll(async () => (await ready()).http, POLL).toBe(200);

    const sinceMs = performance.now();
    const stopped = gateway.stop(STOP_MS_MAX);
    await expect.poll(ready, POLL).toMatchObject({
      http: 503,
      body: { reasons: ['draining'] },
    });
    expect(performance.now() - sinceMs).toBeLessThan(GRACE_SECONDS * 1_000);
    expect(await isStarted()).toBe(accepted);

    expect(await stopped).toBe(0);
    expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(GRACE_SECONDS * 1_000);
  }, 180_000);
});

it('a call that comes within the grace is answered, and goes on after it', async () => {
  const rig = new GatewayRig('grace-call');
  let twilio: FakeTwilio | undefined;
  try {
    const api = await rig.start({ PATCHBAY_DRAIN_GRACE_SECONDS: String(CALL_GRACE_SECONDS) });
    ({ twilio } = await connectTwilio(rig, api));
    const { gateway: stopping } = rig;
    process.kill(stopping.pid ?? 0, 'SIGTERM');
    await expect.poll(async () => (await fetch(`${stopping.url}/ready`)).status, POLL).toBe(503);
    const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
    await expect.poll(() => call.heard.length, PATIENT_POLL).toBeGreaterThan(8_000);
    const afterGraceMs = (CALL_GRACE_SECONDS + 1) * 1_000;
    await expect.poll(() => call.mediaMs, PATIENT_POLL).toBeGreaterThan(afterGraceMs);
    expect(call.status).toBe('in-progress');
    call.hangUp();
    expect(await stopping.exited).toBe(0);
  } finally {
    await rig.end();
    await twilio?.close();
  }
}, 240_000);
