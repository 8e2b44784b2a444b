// Trunks on both engines. Source: contract §4.1 and §4.3.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const trunk = (name = 'main') => ({ name, enabled: true, settings: { region: 'eu' } });
const codeFrom = (work: Promise<unknown>) => work.then(() => undefined, codeOf);

describe.each(engines())('trunks on %s', (engine) => {
  const at = withStore(engine);

  const configuration = async (name = 'c') => {
    const { id } = await at.store.telephony.createConfiguration(at.owner.organizationId, {
      name,
      provider: 'cloudonix',
      isDefaultOutbound: false,
      credentials: {},
      accountId: name,
      secretFields: [],
    });
    return id;
  };
  const summary = (id: string) => at.store.telephony.getConfiguration(at.owner.organizationId, id);
  const number = (configurationId: string, trunkId: string | null, address = '+14155550100') =>
    at.store.telephony.createNumber(at.owner.organizationId, configurationId, {
      address,
      addressNormalized: address,
      addressType: 'pstn',
      countryCode: null,
      label: null,
      inboundWorkflowId: null,
      trunkId,
      isActive: true,
      isDefaultCallerId: false,
      extraMetadata: {},
    });

  it('give back what was stored, oldest first, and count for their configuration', async () => {
    const { trunks } = at.store;
    const id = await configuration();
    expect(await trunks.list(id)).toEqual([]);
    expect((await summary(id))?.enabledTrunks).toBe(0);
    const first = await trunks.create(id, trunk('z'));
    expect(first).toMatchObject({ ...trunk('z'), configurationId: id, phoneNumbers: 0 });
    const second = await trunks.create(id, { ...trunk('a'), enabled: false });
    expect(await trunks.list(id)).toEqual([first, second]);
    expect((await summary(id))?.enabledTrunks).toBe(1);
  });

  it('keep what a change leaves out', async () => {
    const { trunks } = at.store;
    const id = await configuration();
    const made = await trunks.create(id, trunk());
    at.clock.advance(1_000);
    const changed = await trunks.update(id, made.id, { enabled: false });
    const updatedAt = new Date(at.clock.now());
    expect(changed).toEqual({ ...made, enabled: false, updatedAt });
    const more = await trunks.update(id, made.id, { name: 'other', settings: {} });
    expect(more).toEqual({ ...made, name: 'other', enabled: false, settings: {}, updatedAt });
  });

  it('have a name of their own in their configuration', async () => {
    const { trunks } = at.store;
    const id = await configuration();
    await trunks.create(id, trunk());
    const other = await trunks.create(id, trunk('other'));
    expect(await codeFrom(trunks.create(id, trunk()))).toBe('TRUNK_NAME_TAKEN');
    expect(await codeFrom(trunks.update(id, other.id, { name: 'main' }))).toBe('TRUNK_NAME_TAKEN');
    await trunks.create(await configuration('d'), trunk());
  });

  it('are a hundred at most', async () => {
    const { trunks } = at.store;
    const id = await configuration();
    for (let i = 0; i < 100; i++) await trunks.create(id, trunk(`t${i}`));
    expect(await codeFrom(trunks.create(id, trunk()))).toBe('TRUNKS_FULL');
    expect(await trunks.list(id)).toHaveLength(100);
  });

  it('are not there for another configuration or for an id that is none', async () => {
    const { trunks } = at.store;
    const { id: trunkId } = await trunks.create(await configuration(), trunk());
    const other = await configuration('d');
    for (const id of [trunkId, '999999', 'abc', '']) {
      expect(await trunks.update(other, id, { name: 'x' })).toBeUndefined();
      expect(await trunks.delete(other, id)).toBe(false);
    }
    expect(await codeFrom(trunks.create('999999', trunk()))).toBe('CONFIGURATION_NOT_FOUND');
    expect(await codeFrom(trunks.create('abc', trunk()))).toBe('CONFIGURATION_NOT_FOUND');
  });

  it('with numbers stay; without, they go', async () => {
    const { trunks, telephony } = at.store;
    const id = await configuration();
    const { id: trunkId } = await trunks.create(id, trunk());
    const { id: numberId } = await number(id, trunkId);
    expect(await telephony.getNumber(id, numberId)).toMatchObject({ trunkId });
    expect((await trunks.list(id))[0]?.phoneNumbers).toBe(1);
    expect(await codeFrom(trunks.delete(id, trunkId))).toBe('TRUNK_IN_USE');
    expect(await telephony.updateNumber(id, numberId, { label: 'x' })).toMatchObject({ trunkId });
    const freed = await telephony.updateNumber(id, numberId, { trunkId: null });
    expect(freed).toMatchObject({ trunkId: null });
    expect(await trunks.delete(id, trunkId)).toBe(true);
    expect(await trunks.delete(id, trunkId)).toBe(false);
  });

  it('of another configuration take no number', async () => {
    const { trunks, telephony } = at.store;
    const theirs = await trunks.create(await configuration('d'), trunk());
    const id = await configuration();
    const own = await number(id, null);
    for (const trunkId of [theirs.id, '999999', 'abc']) {
      expect(await codeFrom(number(id, trunkId, '+14155550101'))).toBe('TRUNK_NOT_FOUND');
      expect(await codeFrom(telephony.updateNumber(id, own.id, { trunkId }))).toBe(
        'TRUNK_NOT_FOUND',
      );
    }
    expect(await telephony.listNumbers(id)).toHaveLength(1);
  });

  it('go with their configuration, numbers and all', async () => {
    const { trunks, telephony } = at.store;
    const id = await configuration();
    const { id: trunkId } = await trunks.create(id, trunk());
    await number(id, trunkId);
    expect(await telephony.deleteConfiguration(at.owner.organizationId, id)).toBe(true);
    expect(await at.sql('select id from telephony_trunks')).toEqual([]);
    expect(await at.sql('select id from phone_numbers')).toEqual([]);
  });
});
