// Calls that providers tell of, on both engines: the run of an inbound call, and the run and configuration of a report.

import { describe, expect, it } from 'vitest';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { type Ground, ground, openRun, otherOrganization } from './completed-runs.ts';

const inbound = (on: Ground, providerCallId: string): NewRun => ({
  ...on,
  name: 'WR-TEL-IN-1',
  mode: 'twilio',
  callType: 'inbound',
  providerCallId,
  initialContext: {},
  gatheredContext: { provider_status: 'ringing' },
  logs: {},
});

describe.each(engines())('a call of a provider on %s', (engine) => {
  const at = withStore(engine);
  const runs = () => at.store.runs;

  it('is one of its configuration: another account may use the same id', async () => {
    const [own, other] = [await ground(at), await ground(at, await otherOrganization(at))];
    const first = await runs().create(inbound(own, 'CA1'));
    const second = await runs().create(inbound(other, 'CA1'));
    expect([first.isNew, second.isNew]).toEqual([true, true]);
    expect(await runs().create(inbound(own, 'CA1'))).toEqual({ ...first, isNew: false });
  });

  it('is the newest where its id was used twice', async () => {
    const on = await ground(at);
    for (let nth = 0; nth < 3; nth++) {
      const { id } = await openRun(at, on);
      await runs().patch(id, { providerCallId: 'CA1' });
    }
    const [newest] = await at.sql('select max(id)::text as id from runs');
    const { run, isNew } = await runs().create(inbound(on, 'CA1'));
    expect([run.id, isNew]).toEqual([newest?.['id'], false]);
  });

  it('is found with its configuration, that of its own organization alone', async () => {
    const on = await ground(at);
    at.clock.advance(60_000);
    const { run } = await runs().create(inbound(on, 'CA1'));
    const { organizationId, configurationId } = on;
    const configuration = await at.store.telephony.getConfiguration(
      organizationId,
      configurationId,
    );
    const found = await at.store.reportedCalls.find(run.id);
    expect(found?.run).toEqual(run);
    expect(configuration).toMatchObject(found?.configuration ?? { id: '0' });
    await at.sql('update telephony_configurations set organization_id = $1', [
      await otherOrganization(at),
    ]);
    expect(await at.store.reportedCalls.find(run.id)).toEqual({ run, configuration: undefined });
    for (const id of ['999999', 'x']) expect(await at.store.reportedCalls.find(id)).toBeUndefined();
  });

  it('is found without its configuration where that is deleted', async () => {
    const on = await ground(at);
    const { run } = await runs().create(inbound(on, 'CA1'));
    await at.store.telephony.deleteConfiguration(on.organizationId, on.configurationId);
    expect(await at.store.reportedCalls.find(run.id)).toEqual({ run, configuration: undefined });
  });

  it('has each report once, and its status also where the report is a repeated one', async () => {
    const { run } = await runs().create(inbound(await ground(at), 'CA1'));
    const report = (status?: string) =>
      runs().appendCallback(
        run.id,
        'SM1',
        { status: 'x' },
        status === undefined ? undefined : { status, notAfter: [] },
      );
    expect(await report()).toBe(true);
    expect(await report('in-progress')).toBe(false);
    expect(await report()).toBe(false);
    const after = await runs().find(run.id);
    expect(after?.gatheredContext).toEqual({ provider_status: 'in-progress' });
    expect(after?.logs['telephony_status_callbacks']).toEqual([{ status: 'x' }]);
  });

  it('keeps a status that is further than that of a report at the same moment', async () => {
    const { run } = await runs().create(inbound(await ground(at), 'CA1'));
    const report = (status: string, notAfter: string[]) =>
      runs().appendCallback(run.id, status, { status }, { status, notAfter });
    await report('in-progress', ['in-progress', 'completed']);
    await report('ringing', ['ringing', 'in-progress', 'completed']);
    const after = await runs().find(run.id);
    expect(after?.gatheredContext).toEqual({ provider_status: 'in-progress' });
    expect(after?.logs['telephony_status_callbacks']).toHaveLength(2);
  });

  it('that was taken from this process has the report, and not its status', async () => {
    const { run } = await runs().create(inbound(await ground(at), 'CA1'));
    await at.sql('update runs set fenced_epochs = array[owner_epoch], owner_epoch = 0');
    const status = { status: 'in-progress', notAfter: [] };
    expect(await runs().appendCallback(run.id, 'SM1', { status: 'x' }, status)).toBe(true);
    const after = await runs().find(run.id);
    expect(after?.gatheredContext).toEqual({ provider_status: 'ringing' });
    expect(after?.logs['telephony_status_callbacks']).toEqual([{ status: 'x' }]);
  });
});
