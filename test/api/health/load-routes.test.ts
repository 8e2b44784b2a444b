import { describe, expect, it } from 'vitest';
import { DEVOPS_SECRET, withApi } from '../served.ts';
import { makeWorld } from '../world.ts';

const served = withApi();
const secret = { 'x-patchbay-devops-secret': DEVOPS_SECRET };
const ask = (path: string, headers: Record<string, string> = secret) =>
  served.call('GET', `/api/v1/health/${path}`, { key: null, headers });

describe('the figures for scaling', () => {
  it('return the calls of this process and the delay of its event loop', async () => {
    served.callService.activeCalls = 7;
    const { status, body } = await ask('active-calls');
    expect([status, body]).toEqual([
      200,
      {
        active_calls: 7,
        loop_lag_p95_ms: expect.any(Number),
        loop_lag_max_ms: expect.any(Number),
      },
    ]);
  });

  it('return the calls of all processes and organizations, and a buffer', async () => {
    expect((await ask('autoscale-metric')).body).toEqual({ value: 0 });
    await makeWorld(served); // One run that is not completed.
    expect((await ask('autoscale-metric')).body).toEqual({ value: 1 });
    expect((await ask('autoscale-metric?buffer=20')).body).toEqual({ value: 21 });
    expect((await ask('autoscale-metric?buffer=-1')).status).toBe(422);
  });

  it('open to the secret in either spelling of its header', async () => {
    for (const name of ['X-Patchbay-Devops-Secret', 'X-Dograh-Devops-Secret']) {
      expect((await ask('active-calls', { [name]: DEVOPS_SECRET })).status).toBe(200);
    }
  });

  it('are 403 with a wrong secret or none, and not for an API key', async () => {
    for (const headers of [{}, { 'x-patchbay-devops-secret': 'wrong' }, { 'x-api-key': 'k' }]) {
      for (const path of ['active-calls', 'autoscale-metric']) {
        expect((await ask(path, headers as Record<string, string>)).status).toBe(403);
      }
    }
  });
});

describe('without a secret in the settings', () => {
  const closed = withApi(() => ({ devopsSecret: undefined }));

  it('no client gets the figures: 503', async () => {
    for (const path of ['active-calls', 'autoscale-metric']) {
      const { status, body } = await closed.call('GET', `/api/v1/health/${path}`, {
        headers: secret,
      });
      expect([status, body]).toEqual([
        503,
        {
          detail: 'Set PATCHBAY_DEVOPS_SECRET to read these figures',
          code: 'DEVOPS_SECRET_UNSET',
          retry_after: 5,
        },
      ]);
    }
  });
});
