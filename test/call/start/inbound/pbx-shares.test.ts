// Calls of a PBX whose connection another process holds.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeShare } from '../../../fakes/call/fake-pbx.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { configurePbx, EXTENSION, mediaOf } from './pbx-harness.ts';

const held = withCallHarness();

const sharesOf = ({ callControl }: CallHarness) => callControl.pbxShares;

function ofPbx(harness: CallHarness, holder = '1') {
  const { id: configurationId, organizationId } = harness.configuration;
  return { holder, organizationId, configurationId };
}

/** A PBX whose holder has asked this process for its calls. */
async function withShare(harness: CallHarness): Promise<FakeShare> {
  harness.configuration = await configurePbx(harness);
  harness.number = await harness.addNumber(EXTENSION, {
    inboundWorkflowId: harness.workflow.id,
  });
  await sharesOf(harness).answer(ofPbx(harness), 'calls?');
  const [share] = harness.pbx.shares;
  if (share === undefined) throw new Error('there is no share');
  return share;
}

describe('a share of the calls of a PBX', () => {
  it('begins when its holder asks, and has calls like a connection', async () => {
    const harness = await held.harness.prepare();
    const { connection } = await withShare(harness);
    expect(sharesOf(harness).configurations).toEqual([harness.configuration.id]);
    connection.inbound('phone-42', EXTENSION);
    const stream = await mediaOf(harness, 'phone-42');
    await harness.heardOut(stream);
    const [run] = await harness.runs();
    expect(run).toMatchObject({ providerCallId: 'phone-42', state: 'running' });
    connection.end('phone-42');
    connection.status('phone-42', 'completed', { durationS: 4 });
    if (run === undefined) throw new Error('no run');
    expect(await harness.ended(run)).toMatchObject({ disposition: 'user_hangup' });
  });

  it('answers each question, and keeps its calls', async () => {
    const harness = await held.harness.prepare();
    await withShare(harness);
    expect(await sharesOf(harness).answer(ofPbx(harness), 'again?')).toEqual({ asked: 'again?' });
    expect(harness.pbx.shares).toHaveLength(1);
  });

  it('takes the events of its last holder alone', async () => {
    const harness = await held.harness.prepare();
    const share = await withShare(harness);
    const shares = sharesOf(harness);
    shares.take(ofPbx(harness), 'first');
    await shares.answer(ofPbx(harness, '4'), 'calls?');
    shares.take(ofPbx(harness), 'late');
    shares.processGone('1');
    shares.take(ofPbx(harness, '4'), 'second');
    shares.take({ holder: '4', configurationId: '999' }, 'of another PBX');
    expect(share.taken).toEqual(['first', 'second']);
    shares.processGone('4');
    expect(share.taken.at(-1)).toBe('gone');
  });

  it('reads credentials that have changed, and keeps its calls with them', async () => {
    const harness = await held.harness.prepare();
    const share = await withShare(harness);
    const { organizationId, id } = harness.configuration;
    const credentials = { ...share.connection.account.credentials, app_password: 'another-4714' };
    await harness.at.store.telephony.updateConfiguration(organizationId, id, {
      credentials,
      secretFields: ['app_password'],
    });
    await sharesOf(harness).answer(ofPbx(harness), 'calls?');
    expect(harness.pbx.shares).toHaveLength(1);
    expect(share.connection.renewals).toBe(1);
    expect(share.connection.account.credentials['app_password']).toBe('another-4714');
    share.connection.isRenewable = false;
    await harness.at.store.telephony.updateConfiguration(organizationId, id, {
      credentials: { ...credentials, app_password: 'one-more-4715' },
      secretFields: ['app_password'],
    });
    await sharesOf(harness).answer(ofPbx(harness), 'calls?');
    expect(share.connection.isClosed).toBe(true);
    expect(harness.pbx.shares).toHaveLength(2);
  });

  it('begins anew in a process that has had the connection itself meanwhile', async () => {
    const harness = await held.harness.prepare();
    const share = await withShare(harness);
    share.isOver = true;
    await sharesOf(harness).answer(ofPbx(harness, 'other#1'), 'calls?');
    expect(harness.pbx.shares).toHaveLength(2);
  });

  it('hears that its holder can be reached again', async () => {
    const harness = await held.harness.prepare();
    const share = await withShare(harness);
    await sharesOf(harness).answer(ofPbx(harness, 'other#1'), 'calls?');
    sharesOf(harness).processBack('1');
    sharesOf(harness).processBack('other#1');
    expect(share.taken).toEqual(['back']);
  });

  it('names its calls also while the store is away', async () => {
    const harness = await held.harness.prepare();
    await withShare(harness);
    const away = vi.spyOn(harness.at.store.telephony, 'getConfiguration');
    onTestFinished(() => away.mockRestore());
    away.mockRejectedValue(new Error('the store is away'));
    expect(await sharesOf(harness).answer(ofPbx(harness), 'calls?')).toEqual({ asked: 'calls?' });
  });

  it('of a PBX without a connection makes room for another, one that is in use does not', async () => {
    const harness = await held.harness.prepare();
    const first = await withShare(harness);
    const { telephony } = harness.at.store;
    const { organizationId } = harness.configuration;
    const known = await telephony.getConfiguration(organizationId, harness.configuration.id);
    if (known === undefined) throw new Error('there is no configuration');
    const stored = vi.spyOn(telephony, 'getConfiguration');
    onTestFinished(() => stored.mockRestore());
    const begin = (id: string) => {
      stored.mockResolvedValue({ ...known, id });
      return sharesOf(harness).answer({ ...ofPbx(harness), configurationId: id }, 'calls?');
    };
    for (let nth = 1; nth < 1_000; nth++) await begin(`x${nth}`);
    await expect(begin('one more')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    first.connection.down();
    await begin('one more');
    expect(first.connection.isClosed).toBe(true);
    expect(harness.pbx.shares.filter(({ connection }) => connection.isClosed)).toEqual([first]);
  });

  it('does not begin for a configuration that was deleted', async () => {
    const harness = await held.harness.prepare();
    const of = { holder: '1', organizationId: harness.at.owner.organizationId };
    const asked = sharesOf(harness).answer({ ...of, configurationId: '999' }, 'calls?');
    await expect(asked).rejects.toMatchObject({ code: 'CONFIGURATION_NOT_FOUND' });
  });
});
