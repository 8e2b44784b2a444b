import { describe, expect, it } from 'vitest';
import { clusterStatus } from '../../../src/model/gateway-condition.ts';
import { DEVOPS_SECRET, withApi } from '../served.ts';
import { makeWorld } from '../world.ts';

const served = withApi();
const ask = (headers: Record<string, string> = { 'x-patchbay-devops-secret': DEVOPS_SECRET }) =>
  served.call('GET', '/api/v1/health/cluster', { key: null, headers });

describe('the status of all gateways', () => {
  it('says which gateway answers, and has each with its open calls', async () => {
    await makeWorld(served); // One run that is not completed.
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(clusterStatus.parse(body)).toMatchObject({
      asked: 'gw1',
      gateways: [{ calls: 1, condition: null, processes: [{ calls: 1 }] }],
      calls: 1,
      calls_without_owner: 0,
      pbx_leases: [{ name: 'owners-own pbx', node: null }],
    });
  });

  it('is closed without the secret, also for an API key', async () => {
    for (const headers of [{}, { 'x-patchbay-devops-secret': 'wrong' }]) {
      expect((await ask(headers as Record<string, string>)).status).toBe(403);
    }
    expect((await served.call('GET', '/api/v1/health/cluster')).status).toBe(403);
  });
});
