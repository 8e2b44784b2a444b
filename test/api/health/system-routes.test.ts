import { describe, expect, it } from 'vitest';
import { testAccess, withApi } from '../served.ts';

describe('GET /system', () => {
  const served = withApi(() => ({ notReady: () => ['no call worker'] }));

  it('has the gateways, what is wrong, and the faults of services', async () => {
    const { owner, store } = served.test;
    const body = await served.ok('GET', '/system');
    expect(body).toMatchObject({
      answered_by: 'gw1',
      version: '1.2.3',
      policy: 'scripted',
      not_ready: ['no call worker'],
      database: 'ok',
      calls: 0,
      pbx_leases: [],
      service_faults: [],
    });
    expect(body.gateways).toHaveLength(1);
    // Not the data folder, which is in the node's name.
    expect(JSON.stringify(body)).not.toContain(served.test.dataFolder);
    expect(body.gateways[0].name).toMatch(/^[^/]+$/);
    expect(body.problems).toEqual([]);
    expect(await store.organizations.isFirst(owner.organizationId)).toBe(true);
  });

  it('is the first organization’s alone where everybody may sign up', async () => {
    const { apiKey } = await served.stranger();
    const { status, body } = await served.call('GET', '/api/v1/system', { key: apiKey });
    expect([status, body.code]).toEqual([403, 'SYSTEM_FORBIDDEN']);
  });
});

describe('GET /system where sign-up is closed', () => {
  const served = withApi((test) => ({
    access: testAccess(test.clock, test.store.tokenKeys, { isSignUpOpen: false }),
  }));

  it('has for each organization its own PBXs', async () => {
    const config = {
      provider: 'ari',
      ari_endpoint: 'http://pbx:8088',
      app_name: 'a',
      app_password: 'long-enough',
    };
    await served.ok('POST', '/organizations/telephony-configs', { name: 'pbx', config });
    expect((await served.ok('GET', '/system')).pbx_leases).toMatchObject([{ name: 'pbx' }]);
    const { apiKey } = await served.stranger();
    const { status, body } = await served.call('GET', '/api/v1/system', { key: apiKey });
    expect([status, body.pbx_leases]).toEqual([200, []]);
  });
});
