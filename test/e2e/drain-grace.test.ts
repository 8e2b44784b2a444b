// The built gateway behind a load balancer, which needs a moment to notice that it stops: until then it takes what comes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';

const GRACE_SECONDS = 6;
const POLL = { timeout: 5_000, interval: 50 };

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
    const stopped = gateway.stop();
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
