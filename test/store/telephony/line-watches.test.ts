// Watched lines on both engines: their settings, claims by one of several gateways, verdicts, and what is kept.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import {
  CALLS_PER_HOUR_MAX,
  LINES_PER_ORGANIZATION_MAX,
  type LineSettings,
  type LineTest,
  RESULTS_KEPT_MAX,
} from '../../../src/model/line-watch.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const MINUTE_MS = 60_000;
const RETEST_MS = MINUTE_MS;
const sound: LineTest = {
  fault: null,
  message: 'sound',
  delayMs: 40,
  lossShare: 0.25,
  codec: 'PCMU',
};
const silent: LineTest = { ...sound, fault: 'no_audio', message: 'silence' };
const claim = { pbxProviders: [], factor: 1, except: [] };

function line(more: Partial<LineSettings> = {}): LineSettings {
  return {
    name: 'main',
    kind: 'number',
    number: '8000',
    context: null,
    isEnabled: true,
    intervalMinutes: 30,
    places: null,
    testsKeys: true,
    ...more,
  };
}

describe.each(engines())('watched lines on %s', (engine) => {
  const at = withStore(engine);

  async function configuration(name = 'pbx'): Promise<string> {
    const { id } = await at.store.telephony.createConfiguration(at.owner.organizationId, {
      name,
      provider: 'ari',
      isDefaultOutbound: false,
      credentials: {},
      accountId: name,
      secretFields: [],
    });
    return id;
  }
  async function added(more: Partial<LineSettings> = {}) {
    const configurationId = await configuration();
    const of = { organizationId: at.owner.organizationId, configurationId };
    return await at.store.lines.create(of, line(more), 0);
  }

  it('give back what was stored, and keep what they were found to be unless what is called changes', async () => {
    const { lines } = at.store;
    const made = await added();
    expect(made).toMatchObject({ ...line(), state: 'untested', fault: null, lastTest: null });
    const { configurationId, id } = made;
    await lines.record(id, silent, RETEST_MS);
    const renamed = await lines.update(configurationId, id, line({ name: 'other' }), 0);
    expect(renamed).toMatchObject({ name: 'other', state: 'doubtful', failures: 1 });
    const moved = await lines.update(configurationId, id, line({ number: '8001' }), 0);
    expect(moved).toMatchObject({ number: '8001', state: 'untested', fault: null, failures: 0 });
    expect(await lines.update('999', id, line(), 0)).toBeUndefined();
    expect(await lines.delete('999', id)).toBe(false);
    expect(await lines.delete(configurationId, id)).toBe(true);
    expect(await lines.list(configurationId)).toEqual([]);
    expect(await lines.results(configurationId, id)).toEqual([]);
  });

  it('are at most twenty of an organization, over all its configurations', async () => {
    const { organizationId } = at.owner;
    const { lines } = at.store;
    for (const name of ['a', 'b']) {
      const configurationId = await configuration(name);
      for (let nth = 0; nth < LINES_PER_ORGANIZATION_MAX / 2; nth++) {
        await lines.create({ organizationId, configurationId }, line(), 0);
      }
    }
    const configurationId = await configuration('c');
    const more = lines.create({ organizationId, configurationId }, line(), 0);
    expect(await more.then(() => undefined, codeOf)).toBe('LINES_FULL');
  });

  it('are claimed once when they are due, by one of those who ask at once', async () => {
    const { lines } = at.store;
    const made = await added();
    const claims = await Promise.all(Array.from({ length: 8 }, () => lines.claimDue(claim)));
    expect(claims.flatMap((each) => each?.id ?? [])).toEqual([made.id]);
    at.clock.advance(30 * MINUTE_MS - 1);
    expect(await lines.claimDue(claim)).toBeUndefined();
    at.clock.advance(1);
    expect(await lines.claimDue({ ...claim, except: [made.configurationId] })).toBeUndefined();
    expect(await lines.claimDue({ ...claim, factor: 0.5 })).toMatchObject({ id: made.id });
    at.clock.advance(15 * MINUTE_MS);
    expect(await lines.claimDue(claim)).toMatchObject({ id: made.id });
    await lines.update(made.configurationId, made.id, line({ isEnabled: false }), 0);
    expect(await lines.claimDue(claim)).toBeUndefined();
  });

  it('of a PBX are claimed by the gateway that holds its connection', async () => {
    const { lines, leases } = at.store;
    const made = await added();
    const ofPbx = { ...claim, pbxProviders: ['ari'] as const };
    expect(await lines.claimDue(ofPbx)).toBeUndefined();
    await leases.claim({ providers: ['ari'], leaseMs: MINUTE_MS, takesExpired: true, max: 10 });
    expect(await lines.claimDue(ofPbx)).toMatchObject({ id: made.id });
    await lines.postpone(made.id, 0);
    await at.sql('update configuration_leases set node = $1', ['other#1']);
    expect(await lines.claimDue(ofPbx)).toBeUndefined();
  });

  it('fail after two faulty test calls in a row, or a certain fault, until one finds none', async () => {
    const { lines } = at.store;
    const { id, configurationId } = await added();
    await lines.claimDue(claim);
    const first = await lines.record(id, silent, RETEST_MS);
    expect(first).toMatchObject({ state: 'doubtful', fault: 'no_audio', failures: 1 });
    const { since } = first ?? {};
    expect(first?.nextAt.getTime()).toBe(at.clock.now() + RETEST_MS);
    at.clock.advance(RETEST_MS);
    await lines.claimDue(claim);
    const second = await lines.record(id, { ...silent, fault: 'late_audio' }, RETEST_MS);
    expect(second).toMatchObject({ state: 'failing', fault: 'late_audio', failures: 2 });
    expect(second?.since).not.toEqual(since);
    expect(second?.nextAt.getTime()).toBe(at.clock.now() + 30 * MINUTE_MS);
    expect(await lines.record(id, sound, RETEST_MS)).toMatchObject({ state: 'ok', fault: null });
    const certain = { ...silent, fault: 'number_unrouted' } as const;
    expect(await lines.record(id, certain, RETEST_MS)).toMatchObject({ state: 'failing' });
    const [newest, ...older] = await lines.results(configurationId, id);
    expect(newest).toEqual({ ...certain, at: new Date(at.clock.now()) });
    expect(older.map(({ fault }) => fault)).toEqual([null, 'late_audio', 'no_audio']);
  });

  it('are exported by the gateway that tested them last, as long as they are watched', async () => {
    const { lines } = at.store;
    const { id, configurationId } = await added();
    expect(await lines.exported()).toEqual([]);
    await lines.record(id, sound, RETEST_MS);
    expect(await lines.exported()).toMatchObject([{ id, state: 'ok', lastTest: { delayMs: 40 } }]);
    await at.sql('update line_watches set tested_by = $1', ['other']);
    expect(await lines.exported()).toEqual([]);
    await lines.record(id, sound, RETEST_MS);
    await lines.update(configurationId, id, line({ isEnabled: false }), 0);
    expect(await lines.exported()).toEqual([]);
    expect(await lines.record(id, sound, RETEST_MS)).toBeUndefined();
  });

  it('keep a bounded number of results, and make a bounded number of calls in an hour', async () => {
    const { lines } = at.store;
    const { id, configurationId } = await added();
    for (let nth = 0; nth < RESULTS_KEPT_MAX + 5; nth++) {
      await lines.record(id, { ...sound, message: String(nth) }, RETEST_MS);
    }
    const kept = await lines.results(configurationId, id);
    expect(kept).toHaveLength(RESULTS_KEPT_MAX);
    expect(kept[0]?.message).toBe(String(RESULTS_KEPT_MAX + 4));
    expect(RESULTS_KEPT_MAX).toBeGreaterThan(CALLS_PER_HOUR_MAX);
    expect(await lines.claimDue(claim)).toBeUndefined();
    at.clock.advance(60 * MINUTE_MS);
    expect(await lines.claimDue(claim)).toMatchObject({ id });
  });

  it('count the calls of customers over their configuration', async () => {
    const { configurationId } = await added();
    expect(await at.store.lines.placesTaken(configurationId)).toBe(0);
  });
});
