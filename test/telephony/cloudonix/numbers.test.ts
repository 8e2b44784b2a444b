// Applications and numbers against the fake domain: what is made, reused, refused, and never changed.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { cloudonixProvider } from '../../../src/telephony/cloudonix/provider.ts';
import { type FakeCloudonix, startFakeCloudonix } from '../../fakes/cloudonix/fake-cloudonix.ts';
import { APPLICATION, BEARER_TOKEN, DOMAIN } from '../../fakes/cloudonix/row.ts';

const GATEWAY = 'https://gw.example.com';
const URL_IN = `${GATEWAY}/api/v1/telephony/inbound/run`;
const OURS = '+14155550100';
const { signal } = new AbortController();
const wish = { installationId: 'abc123', inboundUrl: URL_IN };

let fake: FakeCloudonix;
const { control } = cloudonixProvider.create({ clock: systemClock, requestsMax: 1_000 });
const account = (more: Record<string, unknown> = {}) => ({
  bearer_token: BEARER_TOKEN,
  domain_id: DOMAIN,
  api_base_url: fake.baseUrl,
  ...more,
});
const ensured = async (more: Record<string, unknown> = {}) => {
  const credentials = account(more);
  const made = await control.ensureApplication?.(credentials, wish, signal);
  return { ...credentials, ...made } as Record<string, unknown>;
};
const named = { application_name: APPLICATION.name, application_key: APPLICATION.apiKey };

beforeEach(async () => {
  const numbers = [OURS];
  const options = { gatewayUrl: GATEWAY, numbers, domain: DOMAIN, bearerToken: BEARER_TOKEN };
  fake = await startFakeCloudonix({ ...options, application: APPLICATION });
});
afterEach(() => fake.close());

describe('the voice application of a configuration', () => {
  it('is made with the id of the installation, once, and its key is kept', async () => {
    const stored = await ensured();
    const made = fake.domain.applications.at(-1);
    expect(made).toMatchObject({ name: 'patchbay-abc123', url: URL_IN });
    expect(stored).toMatchObject({
      application_name: 'patchbay-abc123',
      application_id: made?.uuid,
      application_key: made?.apiKey,
    });
    const requests = fake.asked.length;
    expect(await control.ensureApplication?.(stored, wish, signal)).toBeUndefined();
    expect(fake.asked).toHaveLength(requests);
  });

  it('is found again by another configuration of the same domain', async () => {
    const first = await ensured();
    const second = await ensured();
    expect(second['application_id']).toBe(first['application_id']);
    expect(fake.domain.applications).toHaveLength(2);
  });

  it('is another one for another installation', async () => {
    await ensured();
    const other = { ...wish, installationId: 'def456' };
    await control.ensureApplication?.(account(), other, signal);
    const names = fake.domain.applications.map(({ name }) => name);
    expect(names).toEqual([APPLICATION.name, 'patchbay-abc123', 'patchbay-def456']);
  });

  it('with a name given by its user is read and not changed', async () => {
    const before = structuredClone(fake.domain.applications);
    const stored = await ensured({ application_name: APPLICATION.name });
    expect(stored['application_key']).toBe(APPLICATION.apiKey);
    expect(fake.domain.applications).toEqual(before);
    await expect(ensured({ application_name: 'nobody' })).rejects.toMatchObject({
      code: 'PROVIDER_REFUSED',
    });
    await expect(ensured({ application_name: '..' })).rejects.toMatchObject({
      code: 'PROVIDER_REFUSED',
    });
  });

  it('has another id and key when its name or the domain changes', async () => {
    const stored = await ensured();
    const moved = await ensured({ ...stored, application_name: APPLICATION.name });
    expect(moved['application_key']).toBe(APPLICATION.apiKey);
    expect(moved['application_id']).not.toBe(stored['application_id']);
  });

  it('keeps its address when this gateway has another one', async () => {
    const stored = await ensured();
    const elsewhere = 'https://other.example.com/api/v1/telephony/inbound/run';
    const fresh = { ...wish, inboundUrl: elsewhere };
    await control.ensureApplication?.(account(), fresh, signal);
    const attached = await control.configureInbound(stored, OURS, elsewhere, signal);
    expect(attached).toMatchObject({ ok: false, message: expect.stringContaining(elsewhere) });
    expect(fake.domain.applications.at(-1)?.url).toBe(URL_IN);
    expect(fake.domain.dnids).toEqual([]);
  });
});

describe('a number over Cloudonix', () => {
  it('is attached in both forms that trunks deliver, once', async () => {
    const stored = account(named);
    for (let i = 0; i < 2; i++) {
      const attached = await control.configureInbound(stored, OURS, URL_IN, signal);
      expect(attached).toEqual({ ok: true, message: null });
    }
    expect(fake.domain.dnids.map(({ source }) => source)).toEqual(['+14155550100', '14155550100']);
    expect(await control.ownsNumber(stored, OURS, signal)).toBe(true);
    expect(await control.ownsNumber(stored, '+14155550199', signal)).toBeUndefined();
  });

  it('of two that share an application is detached alone: the URL stays', async () => {
    const stored = account(named);
    await control.configureInbound(stored, OURS, URL_IN, signal);
    await control.configureInbound(stored, '+14155550101', URL_IN, signal);
    const applications = structuredClone(fake.domain.applications);
    expect(await control.detachInbound(stored, OURS, URL_IN, signal)).toEqual({
      ok: true,
      message: null,
    });
    expect(fake.domain.applications).toEqual(applications);
    expect(fake.domain.dnids.map(({ source }) => source)).toEqual(['+14155550101', '14155550101']);
    expect((await control.detachInbound(stored, OURS, URL_IN, signal)).ok).toBe(true);
  });

  it('stays with an application that another system has pointed at itself', async () => {
    const stored = account(named);
    await control.configureInbound(stored, OURS, URL_IN, signal);
    const before = structuredClone(fake.domain.dnids);
    const ours = 'https://other.example.com/api/v1/telephony/inbound/run';
    expect((await control.detachInbound(stored, OURS, ours, signal)).ok).toBe(true);
    expect(fake.domain.dnids).toEqual(before);
  });

  it('of another application is neither taken nor detached', async () => {
    const dnid = { id: 9, source: '14155550100', applicationId: 77 };
    fake.domain.dnids.push(dnid);
    const attached = await control.configureInbound(account(named), OURS, URL_IN, signal);
    expect(attached).toMatchObject({ ok: false, message: expect.stringContaining('Another') });
    await control.detachInbound(account(named), OURS, URL_IN, signal);
    expect(fake.domain.dnids).toEqual([dnid]);
  });

  it('is not attached where its calls would be refused', async () => {
    const cases = [{}, { application_name: APPLICATION.name }, { ...named, application_name: 'x' }];
    for (const more of cases) {
      const attached = await control.configureInbound(account(more), OURS, URL_IN, signal);
      expect([attached.ok, attached.message === null]).toEqual([false, false]);
    }
    expect(fake.domain.dnids).toEqual([]);
  });
});
