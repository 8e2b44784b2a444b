// The examination of a PBX over the API: whose, of what, one at a time.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Finding, Pbx } from '../../../src/telephony/provider/pbx.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { FakePbx } from '../../fakes/call/fake-pbx.ts';
import { deferred } from '../../fakes/deferred.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { PUBLIC_URL, twilioConfig, withApi } from '../served.ts';

const ROOT = '/api/v1/organizations/telephony-configs';
const ari = new FakePbx(new FakeClock(), () => {
  throw new Error('nobody calls');
});
const served = withApi(() => ({
  providerByName: (name) => {
    if (name === 'ari') return ari;
    return name === 'twilio' ? twilioProvider.create({ clock: served.test.clock }) : undefined;
  },
}));

const { call, ok, stranger, test } = served;

const passed: Finding = {
  key: 'http',
  title: 'HTTP',
  verdict: 'pass',
  message: 'there',
  advice: null,
};
const pbxConfig = {
  provider: 'ari',
  ari_endpoint: 'http://pbx:8088',
  app_name: 'gw',
  app_password: 'gw-secret-4711',
};
let asked: Parameters<Pbx['examine']>[];
let findings: () => Promise<Finding[]>;

beforeEach(() => {
  asked = [];
  findings = async () => [passed];
  Object.assign(ari.pbx, {
    examine: (...args: Parameters<Pbx['examine']>) => {
      asked.push(args);
      return findings();
    },
  });
});

async function create(config: object, name: string): Promise<string> {
  return (await ok('POST', '/organizations/telephony-configs', { name, config })).id;
}

describe('the examination of a PBX', () => {
  it('returns the findings, and passes credentials and the active numbers', async () => {
    const id = await create(pbxConfig, 'one');
    const numbers = `/organizations/telephony-configs/${id}/phone-numbers`;
    await ok('POST', numbers, { address: '8000' });
    await ok('POST', numbers, { address: '8001', is_active: false });
    const { status, body } = await call('POST', `${ROOT}/${id}/examine`);
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, findings: [passed] } });
    expect(asked[0]?.[0]).toMatchObject({
      configurationId: id,
      credentials: { app_password: 'gw-secret-4711' },
    });
    expect(asked[0]?.[1]).toMatchObject({ numbers: ['8000'], publicUrl: PUBLIC_URL });
  });

  it.each([
    ['warn', true],
    ['skip', true],
    ['fail', false],
  ] as const)('a verdict of %s leaves ok %s', async (verdict, isOk) => {
    findings = async () => [passed, { ...passed, verdict, advice: 'do this' }];
    const id = await create(pbxConfig, `verdict ${verdict}`);
    expect((await call('POST', `${ROOT}/${id}/examine`)).body.ok).toBe(isOk);
  });

  it('has numbers called only if asked to, in the context that is given', async () => {
    const id = await create(pbxConfig, 'calls');
    const path = `${ROOT}/${id}/examine`;
    await call('POST', path, { body: { call_numbers: false, context: 'from-trunk' } });
    await call('POST', path, { body: { call_numbers: true, context: 'from-trunk' } });
    await call('POST', path, { body: { call_numbers: true } });
    expect(asked.map(([, facts]) => facts.calls)).toEqual([
      undefined,
      { context: 'from-trunk' },
      { context: null },
    ]);
    const body = { call_numbers: true, context: 'a,b)' };
    expect((await call('POST', path, { body })).status).toBe(422);
    expect(asked).toHaveLength(3);
  });

  it('calls no numbers of a hosted provider, and says so', async () => {
    const id = await create(twilioConfig('http://127.0.0.1:9'), 'twilio-calls');
    const { body } = await call('POST', `${ROOT}/${id}/examine`, { body: { call_numbers: true } });
    expect(body.findings.at(-1)).toMatchObject({ key: 'calls', verdict: 'skip' });
  });

  it('of a hosted provider says what the provider answers', async () => {
    const id = await create(twilioConfig('http://127.0.0.1:9'), 'twilio');
    const { status, body } = await call('POST', `${ROOT}/${id}/examine`);
    expect([status, body.ok]).toEqual([200, false]);
    expect(body.findings[0]).toMatchObject({ key: 'credentials', verdict: 'fail' });
    expect(body.findings.map(({ key }: Finding) => key)).toContain('websocket');
    expect(asked).toEqual([]);
  });

  it('400 for a provider that is not built', async () => {
    const config = { provider: 'cloudonix', bearer_token: 'token-of-it', domain_id: 'd' };
    const id = await create(config, 'cloudonix');
    const { status, body } = await call('POST', `${ROOT}/${id}/examine`);
    const words = 'Calls over cloudonix are not supported';
    expect([status, body.detail]).toEqual([400, expect.stringContaining(words)]);
  });

  it("404 for another organization's and for none", async () => {
    const id = await create(pbxConfig, 'foreign');
    const { apiKey } = await stranger();
    for (const [config, key] of [
      [id, apiKey],
      ['999999', test.apiKey],
    ]) {
      const { status, body } = await call('POST', `${ROOT}/${config}/examine`, {
        key: key ?? null,
      });
      expect([status, body.detail]).toEqual([404, 'Telephony configuration not found']);
    }
    expect(asked).toEqual([]);
  });

  it('409 while it is being examined; another configuration is not kept waiting', async () => {
    const { promise, resolve } = deferred();
    findings = () => promise.then(() => [passed]);
    const [id, other] = [await create(pbxConfig, 'busy'), await create(pbxConfig, 'other')];
    const first = call('POST', `${ROOT}/${id}/examine`);
    await expect.poll(() => asked.length).toBe(1);
    const second = await call('POST', `${ROOT}/${id}/examine`);
    expect([second.status, second.body.detail]).toEqual([
      409,
      'This configuration is being examined already',
    ]);
    findings = async () => [passed];
    expect((await call('POST', `${ROOT}/${other}/examine`)).status).toBe(200);
    resolve();
    expect((await first).status).toBe(200);
    expect((await call('POST', `${ROOT}/${id}/examine`)).status).toBe(200);
  });

  it('503 when too many are examined at a time', async () => {
    const { promise, resolve } = deferred();
    findings = () => promise.then(() => [passed]);
    const ids: string[] = [];
    for (let nth = 0; nth <= 10; nth++) ids.push(await create(pbxConfig, `many ${nth}`));
    const answers = ids.slice(0, 10).map((id) => call('POST', `${ROOT}/${id}/examine`));
    await expect.poll(() => asked.length).toBe(10);
    expect((await call('POST', `${ROOT}/${ids[10]}/examine`)).status).toBe(503);
    resolve();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  });

  it('does not name what answers instead of an Asterisk while anyone may sign up', async () => {
    const outcomes = ['Nothing listens there.', 'It does not answer.', 'No HTTP is spoken there.'];
    const id = await create(pbxConfig, 'scanned');
    const address = { ...passed, key: 'address' };
    const seen = new Set<string>();
    Object.assign(served.deps.access, { isSignUpOpen: true });
    for (const message of outcomes) {
      findings = async () => [
        address,
        { ...passed, verdict: 'fail', message, advice: null },
        { ...passed, key: 'tls', verdict: 'skip', message: 'Not checked: correct HTTP first.' },
        {
          ...passed,
          key: 'modules',
          verdict: 'skip',
          message: 'Not checked: correct the user first.',
        },
      ];
      seen.add(JSON.stringify((await call('POST', `${ROOT}/${id}/examine`)).body));
    }
    findings = async () => [passed, { ...passed, key: 'media', verdict: 'fail', message: 'mute' }];
    const { body } = await call('POST', `${ROOT}/${id}/examine`);
    Object.assign(served.deps.access, { isSignUpOpen: false });
    expect([...seen].map((text) => JSON.parse(text))).toEqual([
      { ok: false, findings: [address, expect.objectContaining({ key: 'connection' })] },
    ]);
    expect(body.findings).toHaveLength(2);
  });

  it('429 after 30 in ten minutes by one organization; another is not kept waiting', async () => {
    const id = await create(pbxConfig, 'often');
    const { apiKey } = await stranger();
    let status = 200;
    let examinations = 0;
    for (; status === 200 && examinations < 40; examinations++) {
      ({ status } = await call('POST', `${ROOT}/${id}/examine`));
    }
    expect(status).toBe(429);
    expect(asked.length).toBeLessThanOrEqual(30);
    const theirs = { name: 'theirs', config: { ...pbxConfig, app_name: 'other' } };
    const made = await call('POST', ROOT, { key: apiKey, body: theirs });
    const other = await call('POST', `${ROOT}/${made.body.id}/examine`, { key: apiKey });
    expect(other.status).toBe(200);
  });
});
