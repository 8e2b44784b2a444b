// Calls that come in over a PBX: from the ring to the completed run, and every way to be turned away.
// Source: contract §7.5, §8.9.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { pbxCalls } from '../../../src/metrics/metrics.ts';
import { deferred } from '../../fakes/deferred.ts';
import { settle } from '../../fakes/fake-clock.ts';
import { CALLER, type CallRoom, GOODBYE, GREETING, withCallRoom } from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from './pbx-harness.ts';

const held = withCallRoom();
const PHONE = 'phone-42';

const onlyRun = async (room: CallRoom) => {
  await room.until(async () => (await room.runs()).length === 1);
  const [run] = await room.runs();
  if (run === undefined) throw new Error('no run');
  return run;
};
const results = async () =>
  Object.fromEntries(
    (await pbxCalls.get()).values.map(({ labels, value }) => [labels.result, value]),
  );

describe('an inbound call over a PBX', () => {
  it('rings, is answered, led to its end, kept whole and hung up once', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(room, PHONE);
    expect(pbx.rung).toEqual([PHONE]);
    expect(pbx.opened).toEqual([PHONE]);
    const run = await onlyRun(room);
    expect(run).toMatchObject({
      name: `ARI Inbound ${CALLER}`,
      state: 'running',
      mode: 'ari',
      callType: 'inbound',
      configurationId: room.configuration.id,
      providerCallId: PHONE,
    });
    await room.heardOut(stream);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(done).toMatchObject({
      state: 'completed',
      disposition: 'user_qualified',
      recordingKey: `recordings/${run.id}.wav`,
    });
    expect(done.initialContext).toMatchObject({
      caller_number: CALLER,
      called_number: EXTENSION,
      direction: 'inbound',
      provider: 'ari',
      telephony_configuration_id: room.configuration.id,
      call_id: PHONE,
    });
    expect(done.gatheredContext).toMatchObject({ provider: 'ari', call_id: PHONE, drink: 'tea' });
    expect(done.logs['inbound_webhook']).toEqual({
      account_id: null,
      raw_webhook_data: { exten: EXTENSION },
    });
    expect(await room.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    expect(room.pbx.hangUps).toEqual([PHONE]);
    expect(room.errors).toEqual([]);
  });

  it('whose caller hangs up is not hung up again, and keeps its last status', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(room, PHONE);
    await room.heardOut(stream);
    pbx.end(PHONE);
    pbx.status(PHONE, 'completed', { durationS: 4 });
    const done = await room.ended(await onlyRun(room));
    expect(done.disposition).toBe('user_hangup');
    expect(room.pbx.hangUps).toEqual([]);
    await room.pass(5_000);
    expect(await room.bodies(done, 'call.ended')).toHaveLength(1);
    const [callback] = (await room.run(done.id)).logs['telephony_status_callbacks'] as object[];
    expect(callback).toMatchObject({ status: 'completed', call_id: PHONE, duration: 4 });
  });

  it('reaches the number however the dialplan writes it', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const inboundWorkflowId = room.workflow.id;
    await room.addNumber('+442071838750', { inboundWorkflowId });
    await room.addNumber('(415) 555-0102', { countryCode: 'US', inboundWorkflowId });
    await room.addNumber('Reception', { inboundWorkflowId });
    const spellings = ['442071838750', '00442071838750', '4155550102', '14155550102', 'reception'];
    for (const [index, to] of spellings.entries()) {
      pbx.inbound(`call-${index}`, to);
      await mediaOf(room, `call-${index}`);
    }
    expect(pbx.refused).toEqual([]);
  });

  it('that is told of twice is taken once', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(room, PHONE);
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect(await room.runs()).toHaveLength(1);
    expect(pbx.opened).toEqual([PHONE]);
    expect(pbx.refused).toEqual([]);
    expect(stream.open).toBe(true);
  });

  it('that the dialplan hands back once it is over is turned away, not left in silence', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    await room.heardOut(await mediaOf(room, PHONE));
    pbx.end(PHONE);
    pbx.status(PHONE, 'completed', { durationS: 4 });
    await room.ended(await onlyRun(room));
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => pbx.refused.length > 0);
    expect(pbx.refused).toEqual([{ callId: PHONE, reason: 'busy' }]);
    expect(await room.runs()).toHaveLength(1);
  });

  it('whose caller gives up while it rings leaves a completed run that says so', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    let isStopped = false;
    pbx.onOpen = (_callId, signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          isStopped = true;
        });
      });
    const before = await results();
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => pbx.opened.length === 1);
    pbx.status(PHONE, 'canceled');
    const done = await room.ended(await onlyRun(room));
    expect(done).toMatchObject({ disposition: 'canceled' });
    expect(done.gatheredContext).toMatchObject({
      call_tags: ['not_connected', 'telephony_canceled'],
    });
    expect(isStopped).toBe(true);
    expect(room.pbx.hangUps).toEqual([]);
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect((await results())['gone']).toBe((before['gone'] ?? 0) + 1);
    expect(room.errors).toEqual([]);
    await room.pass(200_000); // Nothing of it is left that counts as a call.
    expect(await room.bodies(done, 'call.ended')).toHaveLength(1);
  });

  it('whose caller gives up before its run is stored leaves one too', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    pbx.status(PHONE, 'canceled');
    const done = await room.ended(await onlyRun(room));
    expect(done.disposition).toBe('canceled');
    expect(pbx.opened).toEqual([]);
    await room.switchboard.drain(1_000); // Nothing waits any more.
    expect(room.errors).toEqual([]);
  });

  it('whose caller gives up while media is opened is no error, whatever comes first', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const opening = deferred();
    pbx.onOpen = () => opening.promise;
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => pbx.opened.length === 1);
    opening.reject(new GatewayError('PROVIDER_FAILED', { provider: 'ari', reason: 'gone' }));
    await settle();
    pbx.status(PHONE, 'canceled');
    const done = await room.ended(await onlyRun(room));
    expect(done.disposition).toBe('canceled');
    expect(room.errors).toEqual([]);
  });

  it('that cannot be connected is closed as a failure, and its slot is free', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const error = new GatewayError('PROVIDER_FAILED', { provider: 'ari', reason: 'no bridge' });
    pbx.onOpen = () => Promise.reject(error);
    pbx.inbound(PHONE, EXTENSION);
    const run = await onlyRun(room);
    await room.passThrough(async () => (await room.run(run.id)).state === 'completed');
    const done = await room.ended(run);
    expect(done.disposition).toBe('error');
    expect(done.gatheredContext['error']).toContain('no bridge');
    expect(room.pbx.hangUps).toEqual([PHONE]);
    expect(await room.at.store.runs.countOpen()).toBe(0);
  });

  it('whose media does not come in time is hung up and closed', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.onOpen = () => new Promise(() => undefined);
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => pbx.opened.length === 1);
    await room.pass(15_000);
    const run = await onlyRun(room);
    await room.passThrough(async () => (await room.run(run.id)).state === 'completed');
    expect((await room.ended(run)).gatheredContext['error']).toContain('Not finished in 15000 ms');
    expect(room.pbx.hangUps).toEqual([PHONE]);
  });

  it('that a client hangs up while it is connected is not answered any more', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const opening = deferred();
    pbx.onOpen = () => opening.promise;
    pbx.inbound(PHONE, EXTENSION);
    await room.until(() => pbx.opened.length === 1);
    const run = await onlyRun(room);
    const { organizationId } = room.at.owner;
    const hungUp = await room.switchboard.hangUp({ organizationId, runId: run.id });
    expect(hungUp).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    opening.resolve();
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect(room.switchboard.activeCalls).toBe(0);
    expect(new Set(room.pbx.hangUps)).toEqual(new Set([PHONE]));
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
    expect(room.errors).toEqual([]);
  });

  it('talks on when its connection is lost, and when its configuration is changed', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(room, PHONE);
    pbx.down();
    const { telephony } = room.at.store;
    const { id, credentials } = room.configuration;
    await telephony.updateConfiguration(room.at.owner.organizationId, id, {
      credentials: { ...credentials, app_password: 'rotated' },
    });
    await room.switchboard.pbxLines.wake();
    expect(pbx.renewals).toBe(1);
    pbx.up();
    await room.heardOut(stream);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    expect(await room.ended(await onlyRun(room))).toMatchObject({ disposition: 'user_qualified' });
    expect(room.pbx.hangUps).toEqual([PHONE]);
  });
});

describe('an inbound call over a PBX is turned away', () => {
  const refused = async (room: CallRoom, to: string) => {
    const pbx = room.pbx.connection;
    pbx.inbound(PHONE, to);
    await room.until(() => pbx.refused.length === 1);
    pbx.status(PHONE, 'canceled');
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect(pbx.opened).toEqual([]);
    expect(room.switchboard.activeCalls).toBe(0);
    return pbx.refused[0];
  };

  it('as not configured where no active number of this configuration is called', async () => {
    const room = await held.room.prepare();
    await room.addNumber('4155550177', { inboundWorkflowId: room.workflow.id }); // Of another one.
    await withPbx(room);
    const before = (await results())['not-configured'] ?? 0;
    expect(await refused(room, '4155550177')).toEqual({ callId: PHONE, reason: 'not-configured' });
    expect((await results())['not-configured']).toBe(before + 1);
    expect(await room.runs()).toEqual([]);
  });

  it('as not configured where the number is not active', async () => {
    const room = await held.room.prepare();
    await withPbx(room);
    const { id } = room.number;
    await room.at.store.telephony.updateNumber(room.configuration.id, id, { isActive: false });
    expect((await refused(room, EXTENSION))?.reason).toBe('not-configured');
  });

  it('where no agent answers, or one that is archived', async () => {
    const room = await held.room.prepare();
    await withPbx(room);
    await room.addNumber('8001');
    expect((await refused(room, '8001'))?.reason).toBe('no-workflow');
    const { organizationId } = room.at.owner;
    await room.at.store.workflows.setStatus(organizationId, room.workflow.id, 'archived');
    room.pbx.connection.inbound('another', EXTENSION);
    await room.until(() => room.pbx.connection.refused.length === 2);
    expect(room.pbx.connection.refused[1]?.reason).toBe('no-workflow');
    expect(await room.runs()).toEqual([]);
  });

  it('as busy where the organization has as many calls as it may', async () => {
    const room = await held.room.prepare();
    await withPbx(room);
    await room.at.sql('update organizations set concurrent_call_limit = 0');
    expect((await refused(room, EXTENSION))?.reason).toBe('busy');
    expect(await room.runs()).toEqual([]);
  });

  it('while the gateway drains, which waits for the calls that talk and then lets go', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.inbound('first', EXTENSION);
    const stream = await mediaOf(room, 'first');
    const drained = room.switchboard.drain(60_000);
    pbx.inbound(PHONE, EXTENSION);
    expect(pbx.refused).toEqual([{ callId: PHONE, reason: 'draining' }]);
    await room.heardOut(stream);
    expect(pbx.isClosed).toBe(false);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    await room.ended(await onlyRun(room));
    await room.pass(200);
    await drained;
    expect(pbx.isClosed).toBe(true);
    expect(room.pbx.hangUps).toEqual(['first']);
  });

  it('as an error where the store is away, which is logged', async () => {
    const room = await held.room.prepare();
    await withPbx(room);
    room.deps.store.runs.create = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    expect((await refused(room, EXTENSION))?.reason).toBe('error');
    expect(room.errors).toHaveLength(1);
  });

  it('and the run says why where the agent cannot run', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const broken = { nodes: [], edges: [] };
    await room.at.store.workflows.saveDraft(room.workflow.id, { definition: broken });
    await room.at.store.workflows.publish(room.workflow.id);
    pbx.inbound(PHONE, EXTENSION);
    const done = await room.ended(await onlyRun(room));
    expect(done).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(room.pbx.hangUps).toEqual([PHONE]);
    expect(pbx.opened).toEqual([]);
  });
});
