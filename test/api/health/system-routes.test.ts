import { describe, expect, it } from 'vitest';
import type { UsedService } from '../../../src/api/health/system-watch.ts';
import type { AlertState } from '../../../src/metrics/alert-states.ts';
import { DEVOPS_SECRET, testAccess, withApi } from '../served.ts';

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
    expect(body).toMatchObject({
      alerts: [],
      services: [{ job: 'tts', service: 'flite', state: 'untried' }],
    });
    expect(await store.organizations.isFirst(owner.organizationId)).toBe(true);
  });

  it('is the first organization’s alone where everybody may sign up', async () => {
    const { apiKey } = await served.stranger();
    const { status, body } = await served.call('GET', '/api/v1/system', { key: apiKey });
    expect([status, body.code]).toEqual([403, 'SYSTEM_FORBIDDEN']);
  });
});

describe('GET /system of a gateway that watches itself', () => {
  const condition = {
    version: '1.2.3',
    not_ready: [] as string[],
    workers: 2,
    workers_wanted: 2,
    clock_skew_seconds: null,
    redis: 'unused' as const,
    s3: 'unused' as const,
    spool_bytes: null,
    spool_oldest_seconds: null,
  };
  const faulty = { job: 'stt', service: 'deepgram', openCircuits: 1, openSinceMs: 1_000 } as const;
  const used: UsedService[] = [
    { ...faulty, lastFault: { kind: 'auth', atMs: 2_000 }, lastSuccessMs: null, ...counts(0, 0) },
    { job: 'tts', service: 'flite', ...silent(), ...counts(4, 1) },
  ];
  const alert: AlertState = {
    name: 'FallbackInUse',
    severity: 'warn',
    state: 'firing',
    text: 'Calls use the next service',
    remedy: 'Run "npx patchbay services check" and correct what it names.',
    sinceMs: 1_000,
    detail: 'deepgram: 1',
  };
  const served = withApi((test) => ({
    gatewayName: test.store.node,
    system: { condition: async () => condition, services: async () => used, alerts: [alert] },
  }));

  function silent() {
    return { openCircuits: 0, openSinceMs: null, lastFault: null, lastSuccessMs: null };
  }
  function counts(requests: number, failedRequests: number) {
    return { requests, failedRequests };
  }

  it('has its condition also with a database of its own', async () => {
    const { gateways, problems } = await served.ok('GET', '/system');
    expect(gateways).toMatchObject([{ condition, condition_seconds: 0 }]);
    expect(problems).toEqual([]);
    const headers = { 'x-patchbay-devops-secret': DEVOPS_SECRET };
    const { body } = await served.call('GET', '/api/v1/health/cluster', { headers, key: null });
    expect(body.gateways).toMatchObject([{ condition }]);
  });

  it('has the services of the configuration first, then others that were used', async () => {
    const { services } = await served.ok('GET', '/system');
    expect(services).toEqual([
      {
        job: 'tts',
        service: 'flite',
        is_configured: true,
        state: 'healthy',
        open_circuits: 0,
        open_since: null,
        last_fault: null,
        last_success_at: null,
        requests: 4,
        failed_requests: 1,
      },
      {
        job: 'stt',
        service: 'deepgram',
        is_configured: false,
        state: 'open',
        open_circuits: 1,
        open_since: '1970-01-01T00:00:01.000Z',
        last_fault: { kind: 'auth', at: '1970-01-01T00:00:02.000Z' },
        last_success_at: null,
        requests: 0,
        failed_requests: 0,
      },
    ]);
    await served.ok('PUT', '/organizations/model-configurations/v2', {
      mode: 'byok',
      byok: {
        mode: 'pipeline',
        pipeline: { stt: { provider: 'deepgram', api_key: 'a-key', model: 'nova-3' } },
      },
    });
    const after = (await served.ok('GET', '/system')).services as {
      service: string;
      is_configured: boolean;
    }[];
    expect(after.map((each) => [each.service, each.is_configured])).toEqual([
      ['flite', true],
      ['deepgram', true],
    ]);
  });

  it('has every alert with the section that says what to do', async () => {
    const { sinceMs: _, ...shown } = alert;
    expect((await served.ok('GET', '/system')).alerts).toEqual([
      {
        ...shown,
        since: '1970-01-01T00:00:01.000Z',
        runbook: 'docs/operations.md#fallbackinuse',
      },
    ]);
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
