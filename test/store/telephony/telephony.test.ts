// Telephony configurations and phone numbers on both engines. Source: contract §4.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { ConfigurationSummary } from '../../../src/store/telephony/configurations.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';

const CREDENTIALS = {
  account_sid: 'AC-public-1',
  auth_token: 'token-very-secret-4711',
  external_pbx: { agent: { username: 'u', password: 'pbx-very-secret-4712' } },
};
const SECRETS = ['auth_token', 'external_pbx.*.password', 'absent'];

function configure(
  at: TestStore,
  name = 'Main',
  more: { organizationId?: string; accountId?: string | null; isDefaultOutbound?: boolean } = {},
): Promise<ConfigurationSummary> {
  const { organizationId = at.owner.organizationId, accountId = 'AC-public-1' } = more;
  return at.store.telephony.createConfiguration(organizationId, {
    name,
    provider: 'twilio',
    isDefaultOutbound: more.isDefaultOutbound ?? false,
    credentials: CREDENTIALS,
    accountId,
    secretFields: SECRETS,
  });
}

function number(address = '+14155550100', more: { isDefaultCallerId?: boolean } = {}) {
  return {
    address,
    addressNormalized: address,
    addressType: 'pstn' as const,
    countryCode: 'US',
    label: null,
    inboundWorkflowId: null as string | null,
    isActive: true,
    isDefaultCallerId: more.isDefaultCallerId ?? false,
    extraMetadata: { order: [1, 'two', null] },
  };
}

async function otherOrganization(at: TestStore): Promise<string> {
  const [row] = await at.sql(
    "insert into organizations (name, created_at) values ('Other', now()) returning id",
  );
  return String(row?.['id']);
}

async function codeFrom(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => codeOf(error) ?? String(error),
  );
}

describe.each(engines())('telephony on %s', (engine) => {
  const at = withStore(engine);
  describe('configurations', () => configurationTests(at));
  describe('phone numbers', () => phoneNumberTests(at));
});

function configurationTests(at: TestStore): void {
  it('gives back what was stored, secrets in clear', async () => {
    const made = await configure(at);
    expect(made).toMatchObject({ name: 'Main', provider: 'twilio', activePhoneNumbers: 0 });
    expect(made.credentials).toEqual(CREDENTIALS);
    const read = await at.store.telephony.getConfiguration(at.owner.organizationId, made.id);
    expect(read).toEqual(made);
  });

  it('are out of use since when they failed first, with the last reason', async () => {
    const { telephony } = at.store;
    const { organizationId } = at.owner;
    const { id } = await configure(at);
    const inactiveSince = new Date(at.clock.now());
    await telephony.deactivate(organizationId, id, 'No answer.');
    at.clock.advance(60_000);
    await telephony.deactivate(organizationId, id, 'Wrong password.');
    const failed = await telephony.getConfiguration(organizationId, id);
    expect(failed).toMatchObject({ inactiveSince, inactiveReason: 'Wrong password.' });
    const back = await telephony.reactivate(organizationId, id);
    expect(back).toMatchObject({ inactiveSince: null, inactiveReason: null });
  });

  it('keeps how fast it dials, changes it and lifts it, and takes no other number', async () => {
    const { telephony } = at.store;
    const { organizationId } = at.owner;
    const { id, callsPerSecond } = await configure(at);
    expect(callsPerSecond).toBeNull();
    const set = (value: number | null) =>
      telephony.updateConfiguration(organizationId, id, { callsPerSecond: value });
    expect((await set(1_000))?.callsPerSecond).toBe(1_000);
    expect((await telephony.updateConfiguration(organizationId, id, {}))?.callsPerSecond).toBe(
      1_000,
    );
    expect((await set(null))?.callsPerSecond).toBeNull();
    await expect(set(0)).rejects.toThrow();
    await expect(set(1_001)).rejects.toThrow();
  });

  it('has no secret in any table', async () => {
    await configure(at);
    await at.store.accounts.createApiKey(at.owner, 'ci');
    const tables = await at.sql("select tablename as t from pg_tables where schemaname = 'public'");
    expect(tables.length).toBeGreaterThan(10);
    for (const { t } of tables) {
      const rows = await at.sql(`select each::text as text from "${t}" as each`);
      const text = JSON.stringify(rows);
      expect(text).not.toContain('very-secret');
      expect(text).not.toContain(at.apiKey);
    }
    expect(JSON.stringify(at.lines())).not.toContain('very-secret');
  });

  it('does not take text of a client for sealed text', async () => {
    const credentials = { note: 'sealed:00000000:AAAA', '*': 'x', 'a.b': 'y', a: { b: 'z' } };
    const made = await at.store.telephony.createConfiguration(at.owner.organizationId, {
      name: 'Odd',
      provider: 'ari',
      isDefaultOutbound: false,
      credentials,
      accountId: null,
      secretFields: ['*', 'a.b'],
    });
    expect(made.credentials).toEqual(credentials);
  });

  it("does not open a secret that was moved to another organization's row", async () => {
    const made = await configure(at);
    const other = await otherOrganization(at);
    await at.sql('update telephony_configurations set organization_id = $1', [other]);
    const read = at.store.telephony.getConfiguration(other, made.id);
    expect(await codeFrom(read)).toBe('SECRET_UNREADABLE');
  });

  it('replaces credentials as a whole and leaves what is not sent', async () => {
    const { id } = await configure(at);
    const org = at.owner.organizationId;
    at.clock.advance(1_000);
    const renamed = await at.store.telephony.updateConfiguration(org, id, { name: 'New' });
    expect(renamed).toMatchObject({ name: 'New', credentials: CREDENTIALS });
    expect(renamed?.updatedAt.getTime()).toBe(at.clock.now());
    const changed = await at.store.telephony.updateConfiguration(org, id, {
      credentials: { auth_token: 'another-very-secret' },
    });
    expect(changed?.credentials).toEqual({ auth_token: 'another-very-secret' });
    const [row] = await at.sql('select credentials::text as text from telephony_configurations');
    expect(row?.['text']).not.toContain('very-secret');
  });

  it('has each name once in an organization', async () => {
    const { id } = await configure(at, 'One');
    await configure(at, 'Two', { accountId: 'AC2' });
    expect(await codeFrom(configure(at, 'One'))).toBe('CONFIGURATION_NAME_TAKEN');
    const rename = at.store.telephony.updateConfiguration(at.owner.organizationId, id, {
      name: 'Two',
    });
    expect(await codeFrom(rename)).toBe('CONFIGURATION_NAME_TAKEN');
    await configure(at, 'One', { organizationId: await otherOrganization(at) });
  });

  it('has at most one default, with any number of concurrent requests', async () => {
    const org = at.owner.organizationId;
    const { telephony } = at.store;
    const made = await Promise.all(
      ['A', 'B', 'C'].map((name) => configure(at, name, { isDefaultOutbound: true })),
    );
    const defaults = async (): Promise<string[]> =>
      (await telephony.listConfigurations(org))
        .filter(({ isDefaultOutbound }) => isDefaultOutbound)
        .map(({ id }) => id);
    expect(await defaults()).toHaveLength(1);
    await Promise.all(made.map(({ id }) => telephony.setDefaultOutbound(org, id)));
    expect(await defaults()).toHaveLength(1);
    await telephony.setDefaultOutbound(org, made[1]?.id ?? '');
    expect(await defaults()).toEqual([made[1]?.id]);
    expect(await telephony.setDefaultOutbound(org, '999999')).toBeUndefined();
    expect(await defaults()).toEqual([made[1]?.id]);
  });

  it('lists the oldest first and counts active numbers only', async () => {
    const first = await configure(at, 'Z');
    at.clock.advance(10);
    await configure(at, 'A');
    const org = at.owner.organizationId;
    await at.store.telephony.createNumber(org, first.id, number('+1'));
    await at.store.telephony.createNumber(org, first.id, { ...number('+2'), isActive: false });
    const list = await at.store.telephony.listConfigurations(org);
    expect(list.map(({ name, activePhoneNumbers }) => [name, activePhoneNumbers])).toEqual([
      ['Z', 1],
      ['A', 0],
    ]);
  });

  it('finds nothing for ids of other organizations and impossible ids', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const other = await otherOrganization(at);
    for (const [org, wanted] of [
      [other, id],
      [at.owner.organizationId, '999999'],
      [at.owner.organizationId, 'abc'],
      [at.owner.organizationId, '99999999999999999999'],
      ['', id],
    ] as const) {
      expect(await telephony.getConfiguration(org, wanted)).toBeUndefined();
      expect(await telephony.updateConfiguration(org, wanted, { name: 'x' })).toBeUndefined();
      expect(await telephony.setDefaultOutbound(org, wanted)).toBeUndefined();
      expect(await telephony.deleteConfiguration(org, wanted)).toBe(false);
    }
    const create = telephony.createNumber(other, id, number());
    expect(await codeFrom(create)).toBe('CONFIGURATION_NOT_FOUND');
    expect(await telephony.getConfiguration(at.owner.organizationId, id)).toBeDefined();
  });

  it('takes its numbers along when deleted, and keeps the runs', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    await telephony.createNumber(at.owner.organizationId, id, number());
    expect(await telephony.deleteConfiguration(at.owner.organizationId, id)).toBe(true);
    expect(await at.sql('select count(*)::int as n from phone_numbers')).toEqual([{ n: 0 }]);
  });
}

function phoneNumberTests(at: TestStore): void {
  it('gives back what was stored', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const made = await telephony.createNumber(at.owner.organizationId, id, number());
    expect(made).toMatchObject({ ...number(), configurationId: id });
    expect(await telephony.getNumber(id, made.id)).toEqual({ ...made, workflowName: null });
    expect(await telephony.listNumbers(id)).toEqual([{ ...made, workflowName: null }]);
  });

  it('has each address once in an organization', async () => {
    const one = await configure(at, 'One');
    const two = await configure(at, 'Two', { accountId: 'AC2' });
    const org = at.owner.organizationId;
    await at.store.telephony.createNumber(org, one.id, number());
    for (const { id } of [one, two]) {
      const again = at.store.telephony.createNumber(org, id, number());
      expect(await codeFrom(again)).toBe('PHONE_NUMBER_TAKEN');
    }
  });

  it("leads a provider account's number to one configuration, across organizations", async () => {
    const mine = await configure(at);
    const other = await otherOrganization(at);
    const theirs = await configure(at, 'Theirs', { organizationId: other });
    const { telephony } = at.store;
    await telephony.createNumber(at.owner.organizationId, mine.id, number());
    const create = telephony.createNumber(other, theirs.id, number());
    expect(await codeFrom(create)).toBe('PHONE_NUMBER_ROUTED_ELSEWHERE');
  });

  it('does not take over a routed number by a changed account id', async () => {
    const mine = await configure(at);
    const other = await otherOrganization(at);
    const theirs = await configure(at, 'Theirs', { organizationId: other, accountId: 'AC2' });
    const { telephony } = at.store;
    await telephony.createNumber(at.owner.organizationId, mine.id, number());
    await telephony.createNumber(other, theirs.id, number());
    const move = telephony.updateConfiguration(other, theirs.id, { accountId: 'AC-public-1' });
    expect(await codeFrom(move)).toBe('PHONE_NUMBER_ROUTED_ELSEWHERE');
    await telephony.updateConfiguration(other, theirs.id, { accountId: 'AC3' });
    const [found] = await telephony.findInbound('twilio', 'AC3', '+14155550100');
    expect(found?.configuration.id).toBe(theirs.id);
    const all = await telephony.findInbound('twilio', null, '+14155550100');
    expect(all.map(({ configuration }) => configuration.id)).toEqual([mine.id, theirs.id]);
  });

  it('allows numbers without an account id in many organizations', async () => {
    const mine = await configure(at, 'PBX', { accountId: null });
    const other = await otherOrganization(at);
    const theirs = await configure(at, 'PBX', { organizationId: other, accountId: null });
    await at.store.telephony.createNumber(at.owner.organizationId, mine.id, number('100'));
    await at.store.telephony.createNumber(other, theirs.id, number('100'));
  });

  it('finds with a number of a known account the version in service of its agent', async () => {
    const { telephony, workflows } = at.store;
    const { organizationId } = at.owner;
    const { id } = await configure(at);
    const { workflow, version } = await workflows.create(at.owner, {
      name: 'Desk',
      triggerPaths: [],
      definition: { nodes: [], edges: [] },
      configurations: { api_key: 'a secret of the agent' },
      templateContextVariables: { company: 'Acme' },
    });
    const asked = { ...number(), inboundWorkflowId: workflow.id };
    const made = await telephony.createNumber(organizationId, id, asked);
    const found = async (account: string | null = 'AC-public-1') =>
      (await telephony.findInbound('twilio', account, '+14155550100'))[0]?.version;
    expect(await found()).toEqual(version);
    expect(await found(null)).toBeUndefined();
    await workflows.saveDraft(workflow.id, { configurations: { max_call_duration: 60 } });
    expect(await found()).toEqual(version);
    const published = await workflows.publish(workflow.id);
    expect(await found()).toEqual(published);
    await workflows.setStatus(organizationId, workflow.id, 'archived');
    expect(await found()).toBeUndefined();
    await workflows.setStatus(organizationId, workflow.id, 'active');
    expect(await found()).toEqual(published);
    await telephony.updateNumber(id, made.id, { inboundWorkflowId: null });
    expect(await found()).toBeUndefined();
  });

  it('finds what an inbound call reaches, if number and configuration are active', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const made = await telephony.createNumber(at.owner.organizationId, id, number());
    const find = async () =>
      (await telephony.findInbound('twilio', 'AC-public-1', '+14155550100'))[0];
    expect((await find())?.number.id).toBe(made.id);
    expect((await find())?.number).toEqual(made);
    const { activePhoneNumbers, enabledTrunks, ...configuration } =
      (await telephony.getConfiguration(at.owner.organizationId, id)) ?? {};
    expect((await find())?.configuration).toEqual(configuration);
    expect(configuration).toMatchObject({ credentials: CREDENTIALS });
    expect([activePhoneNumbers, enabledTrunks]).toEqual([1, 0]);
    expect(await telephony.findInbound('plivo', 'AC-public-1', '+14155550100')).toEqual([]);
    await telephony.updateNumber(id, made.id, { isActive: false });
    expect(await find()).toBeUndefined();
    await telephony.updateNumber(id, made.id, { isActive: true });
    await at.sql('update telephony_configurations set inactive_since = now()');
    expect(await find()).toBeUndefined();
  });

  it('has one default caller per configuration, with any number of concurrent requests', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const made = await Promise.all(
      ['+1', '+2', '+3'].map((address) =>
        telephony.createNumber(
          at.owner.organizationId,
          id,
          number(address, { isDefaultCallerId: true }),
        ),
      ),
    );
    await Promise.all(made.map((each) => telephony.setDefaultCaller(id, each.id)));
    const chosen = await telephony.setDefaultCaller(id, made[2]?.id ?? '');
    expect(chosen?.isDefaultCallerId).toBe(true);
    const list = await telephony.listNumbers(id);
    expect(list.filter((each) => each.isDefaultCallerId).map((each) => each.id)).toEqual([
      chosen?.id,
    ]);
    expect(await telephony.setDefaultCaller(id, '999999')).toBeUndefined();
  });

  it('changes what is sent and clears what is sent as null', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const { workflow } = await at.store.workflows.create(at.owner, {
      name: 'Desk',
      triggerPaths: [],
      definition: { nodes: [], edges: [] },
      configurations: {},
      templateContextVariables: {},
    });
    const made = await telephony.createNumber(at.owner.organizationId, id, number());
    await telephony.updateNumber(id, made.id, { label: 'Desk', inboundWorkflowId: workflow.id });
    expect(await telephony.getNumber(id, made.id)).toMatchObject({
      label: 'Desk',
      workflowName: 'Desk',
      countryCode: 'US',
    });
    await telephony.updateNumber(id, made.id, { inboundWorkflowId: null, extraMetadata: {} });
    expect(await telephony.getNumber(id, made.id)).toMatchObject({
      label: 'Desk',
      workflowName: null,
      extraMetadata: {},
    });
  });

  it("refuses another organization's workflow", async () => {
    const { id } = await configure(at);
    const other = await otherOrganization(at);
    const [row] = await at.sql(
      `insert into workflows (organization_id, user_id, uuid, name, status, version_number_last, created_at)
       values ($1, $2, 'u', 'Foreign', 'active', 1, now()) returning id`,
      [other, at.owner.userId],
    );
    const input = { ...number(), inboundWorkflowId: String(row?.['id']) };
    const { telephony } = at.store;
    const create = telephony.createNumber(at.owner.organizationId, id, input);
    expect(await codeFrom(create)).toBe('WORKFLOW_NOT_FOUND');
    const made = await telephony.createNumber(at.owner.organizationId, id, number());
    const change = telephony.updateNumber(id, made.id, { inboundWorkflowId: String(row?.['id']) });
    expect(await codeFrom(change)).toBe('WORKFLOW_NOT_FOUND');
  });

  it('deletes a number once', async () => {
    const { id } = await configure(at);
    const { telephony } = at.store;
    const made = await telephony.createNumber(at.owner.organizationId, id, number());
    expect(await telephony.deleteNumber('999999', made.id)).toBe(false);
    expect(await telephony.deleteNumber(id, made.id)).toBe(true);
    expect(await telephony.deleteNumber(id, made.id)).toBe(false);
  });
}
