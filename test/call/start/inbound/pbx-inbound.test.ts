// Calls that come in over a PBX: from the ring to the completed run, and every way to be turned away.
// Source: contract §7.5, §8.9.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { pbxCalls } from '../../../../src/metrics/metrics.ts';
import { deferred } from '../../../fakes/deferred.ts';
import { settle } from '../../../fakes/fake-clock.ts';
import {
  CALLER,
  type CallHarness,
  GOODBYE,
  GREETING,
  withCallHarness,
} from '../../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from './pbx-harness.ts';

const held = withCallHarness();
const PHONE = 'phone-42';

const onlyRun = async (harness: CallHarness) => {
  await harness.until(async () => (await harness.runs()).length === 1);
  const [run] = await harness.runs();
  if (run === undefined) throw new Error('no run');
  return run;
};
const results = async () =>
  Object.fromEntries(
    (await pbxCalls.get()).values.map(({ labels, value }) => [labels.result, value]),
  );

describe('an inbound call over a PBX', () => {
  it('rings, is answered, led to its end, kept whole and hung up once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(harness, PHONE);
    expect(pbx.rung).toEqual([PHONE]);
    expect(pbx.opened).toEqual([PHONE]);
    const run = await onlyRun(harness);
    expect(run).toMatchObject({
      name: `ARI Inbound ${CALLER}`,
      state: 'running',
      mode: 'ari',
      callType: 'inbound',
      configurationId: harness.configuration.id,
      providerCallId: PHONE,
    });
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
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
      telephony_configuration_id: harness.configuration.id,
      call_id: PHONE,
    });
    expect(done.gatheredContext).toMatchObject({ provider: 'ari', call_id: PHONE, drink: 'tea' });
    expect(done.logs['inbound_webhook']).toEqual({
      account_id: null,
      raw_webhook_data: { exten: EXTENSION },
    });
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    expect(harness.pbx.hangUps).toEqual([PHONE]);
    expect(harness.errors).toEqual([]);
  });

  it('whose caller hangs up is not hung up again, and keeps its last status', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(harness, PHONE);
    await harness.heardOut(stream);
    pbx.end(PHONE);
    pbx.status(PHONE, 'completed', { durationS: 4 });
    const done = await harness.ended(await onlyRun(harness));
    expect(done.disposition).toBe('user_hangup');
    expect(harness.pbx.hangUps).toEqual([]);
    await harness.pass(5_000);
    expect(await harness.bodies(done, 'call.ended')).toHaveLength(1);
    const [callback] = (await harness.run(done.id)).logs['telephony_status_callbacks'] as object[];
    expect(callback).toMatchObject({ status: 'completed', call_id: PHONE, duration: 4 });
  });

  it('reaches the number however the dialplan writes it', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const inboundWorkflowId = harness.workflow.id;
    await harness.addNumber('+442071838750', { inboundWorkflowId });
    await harness.addNumber('(415) 555-0102', { countryCode: 'US', inboundWorkflowId });
    await harness.addNumber('Reception', { inboundWorkflowId });
    const spellings = ['442071838750', '00442071838750', '4155550102', '14155550102', 'reception'];
    for (const [index, to] of spellings.entries()) {
      pbx.inbound(`call-${index}`, to);
      await mediaOf(harness, `call-${index}`);
    }
    expect(pbx.refused).toEqual([]);
  });

  it('that is reported twice is taken once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(harness, PHONE);
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect(await harness.runs()).toHaveLength(1);
    expect(pbx.opened).toEqual([PHONE]);
    expect(pbx.refused).toEqual([]);
    expect(stream.open).toBe(true);
  });

  it('that the dialplan returns once it is over is rejected, not left in silence', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    await harness.heardOut(await mediaOf(harness, PHONE));
    pbx.end(PHONE);
    pbx.status(PHONE, 'completed', { durationS: 4 });
    await harness.ended(await onlyRun(harness));
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.refused.length > 0);
    expect(pbx.refused).toEqual([{ callId: PHONE, reason: 'busy' }]);
    expect(await harness.runs()).toHaveLength(1);
  });

  it('that the dialplan returns after twenty legs is rejected: it would go on for ever', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { run } = await harness.at.store.runs.create({
      organizationId: harness.at.owner.organizationId,
      workflowId: harness.workflow.id,
      definitionId: harness.version.id,
      name: 'The twentieth leg',
      mode: 'ari',
      callType: 'inbound',
      configurationId: harness.configuration.id,
      providerCallId: PHONE,
      initialContext: {},
      gatheredContext: { call_leg: 20, call_status: 'transfer_call' },
      logs: {},
    });
    await harness.at.store.runs.patch(run.id, { state: 'completed', disposition: 'transfer_call' });
    pbx.back(PHONE, EXTENSION);
    await harness.until(() => pbx.refused.length > 0);
    expect(pbx.refused).toEqual([{ callId: PHONE, reason: 'busy' }]);
    expect(await harness.runs()).toHaveLength(1);
  });

  it('whose caller gives up while it rings leaves a completed run that says so', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    let isStopped = false;
    pbx.onOpen = (_callId, signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          isStopped = true;
        });
      });
    const before = await results();
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.opened.length === 1);
    pbx.status(PHONE, 'canceled');
    const done = await harness.ended(await onlyRun(harness));
    expect(done).toMatchObject({ disposition: 'canceled' });
    expect(done.gatheredContext).toMatchObject({
      call_tags: ['not_connected', 'telephony_canceled'],
    });
    expect(isStopped).toBe(true);
    expect(harness.pbx.hangUps).toEqual([]);
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect((await results())['gone']).toBe((before['gone'] ?? 0) + 1);
    expect(harness.errors).toEqual([]);
    await harness.pass(200_000); // Nothing of it is left that counts as a call.
    expect(await harness.bodies(done, 'call.ended')).toHaveLength(1);
  });

  it('whose caller gives up before its run is stored leaves one too', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    pbx.status(PHONE, 'canceled');
    const done = await harness.ended(await onlyRun(harness));
    expect(done.disposition).toBe('canceled');
    expect(pbx.opened).toEqual([]);
    await harness.callControl.drain(1_000); // Nothing waits any more.
    expect(harness.errors).toEqual([]);
  });

  it('whose caller gives up while media is opened is no error, whatever comes first', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const opening = deferred();
    pbx.onOpen = () => opening.promise;
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.opened.length === 1);
    opening.reject(new GatewayError('PROVIDER_FAILED', { provider: 'ari', reason: 'gone' }));
    await settle();
    pbx.status(PHONE, 'canceled');
    const done = await harness.ended(await onlyRun(harness));
    expect(done.disposition).toBe('canceled');
    expect(harness.errors).toEqual([]);
  });

  it('whose media fail, and that the PBX then reports as over, says why', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const before = (await results())['failed'] ?? 0;
    pbx.onOpen = () => {
      pbx.status(PHONE, 'in-progress');
      return Promise.reject(new GatewayError('PBX_MEDIA', { reason: 'no chan_websocket.so' }));
    };
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.opened.length === 1);
    await settle();
    pbx.status(PHONE, 'completed', { durationS: 0 });
    const done = await harness.ended(await onlyRun(harness));
    expect(done.disposition).toBe('system_connect_error');
    expect(done.gatheredContext['error']).toContain('no chan_websocket.so');
    expect(harness.pbx.hangUps).toEqual([]);
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    const line = harness.lines.find(({ msg }) => msg === 'media of a call not opened');
    expect(line).toMatchObject({ runId: done.id, err: { code: 'PBX_MEDIA' } });
    expect((await results())['failed']).toBe(before + 1);
  });

  it('that cannot be connected is closed as a failure, and its slot is free', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const error = new GatewayError('PROVIDER_FAILED', { provider: 'ari', reason: 'no bridge' });
    pbx.onOpen = () => Promise.reject(error);
    pbx.inbound(PHONE, EXTENSION);
    const run = await onlyRun(harness);
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    const done = await harness.ended(run);
    expect(done.disposition).toBe('error');
    expect(done.gatheredContext['error']).toContain('no bridge');
    expect(harness.pbx.hangUps).toEqual([PHONE]);
    expect(await harness.at.store.runs.countOpen()).toBe(0);
  });

  it('whose media does not come in time is hung up and closed', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.onOpen = () => new Promise(() => undefined);
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.opened.length === 1);
    await harness.pass(15_000);
    const run = await onlyRun(harness);
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    expect((await harness.ended(run)).gatheredContext['error']).toContain(
      'Not finished in 15000 ms',
    );
    expect(harness.pbx.hangUps).toEqual([PHONE]);
  });

  it('that a client hangs up while it is connected is not answered any more', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const opening = deferred();
    pbx.onOpen = () => opening.promise;
    pbx.inbound(PHONE, EXTENSION);
    await harness.until(() => pbx.opened.length === 1);
    const run = await onlyRun(harness);
    const { organizationId } = harness.at.owner;
    const hungUp = await harness.callControl.hangUp({ organizationId, runId: run.id });
    expect(hungUp).toMatchObject({ state: 'completed', disposition: 'system_cancelled' });
    opening.resolve();
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect(harness.callControl.activeCalls).toBe(0);
    expect(new Set(harness.pbx.hangUps)).toEqual(new Set([PHONE]));
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
    expect(harness.errors).toEqual([]);
  });

  it('talks on when its connection is lost, and when its configuration is changed', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(harness, PHONE);
    pbx.down();
    const { telephony } = harness.at.store;
    const { id, credentials } = harness.configuration;
    await telephony.updateConfiguration(harness.at.owner.organizationId, id, {
      credentials: { ...credentials, app_password: 'rotated' },
    });
    await harness.callControl.pbxLines.wake();
    expect(pbx.renewals).toBe(1);
    pbx.up();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    expect(await harness.ended(await onlyRun(harness))).toMatchObject({
      disposition: 'user_qualified',
    });
    expect(harness.pbx.hangUps).toEqual([PHONE]);
  });
});

describe('an inbound call over a PBX is turned away', () => {
  const refused = async (harness: CallHarness, to: string) => {
    const pbx = harness.pbx.connection;
    pbx.inbound(PHONE, to);
    await harness.until(() => pbx.refused.length === 1);
    pbx.status(PHONE, 'canceled');
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect(pbx.opened).toEqual([]);
    expect(harness.callControl.activeCalls).toBe(0);
    return pbx.refused[0];
  };

  it('as not configured where no active number of this configuration is called', async () => {
    const harness = await held.harness.prepare();
    await harness.addNumber('4155550177', { inboundWorkflowId: harness.workflow.id }); // Of another one.
    await withPbx(harness);
    const before = (await results())['not-configured'] ?? 0;
    expect(await refused(harness, '4155550177')).toEqual({
      callId: PHONE,
      reason: 'not-configured',
    });
    expect((await results())['not-configured']).toBe(before + 1);
    expect(await harness.runs()).toEqual([]);
  });

  it('as not configured where the number is not active', async () => {
    const harness = await held.harness.prepare();
    await withPbx(harness);
    const { id } = harness.number;
    await harness.at.store.telephony.updateNumber(harness.configuration.id, id, {
      isActive: false,
    });
    expect((await refused(harness, EXTENSION))?.reason).toBe('not-configured');
  });

  it('where no agent answers, or one that is archived', async () => {
    const harness = await held.harness.prepare();
    await withPbx(harness);
    await harness.addNumber('8001');
    expect((await refused(harness, '8001'))?.reason).toBe('no-workflow');
    const { organizationId } = harness.at.owner;
    await harness.at.store.workflows.setStatus(organizationId, harness.workflow.id, 'archived');
    harness.pbx.connection.inbound('another', EXTENSION);
    await harness.until(() => harness.pbx.connection.refused.length === 2);
    expect(harness.pbx.connection.refused[1]?.reason).toBe('no-workflow');
    expect(await harness.runs()).toEqual([]);
  });

  it('as busy where the organization has as many calls as it may', async () => {
    const harness = await held.harness.prepare();
    await withPbx(harness);
    await harness.at.sql('update organizations set concurrent_call_limit = 0');
    expect((await refused(harness, EXTENSION))?.reason).toBe('busy');
    expect(await harness.runs()).toEqual([]);
  });

  it('while the gateway drains, which waits for connected calls and then releases the PBX', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound('first', EXTENSION);
    const stream = await mediaOf(harness, 'first');
    const drained = harness.callControl.drain(60_000);
    pbx.inbound(PHONE, EXTENSION);
    expect(pbx.refused).toEqual([{ callId: PHONE, reason: 'draining' }]);
    await harness.heardOut(stream);
    expect(pbx.isClosed).toBe(false);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    await harness.ended(await onlyRun(harness));
    await harness.pass(200);
    await drained;
    expect(pbx.isClosed).toBe(true);
    expect(harness.pbx.hangUps).toEqual(['first']);
  });

  it('as an error where the store is away for longer than it rings, which is logged', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { clock } = harness;
    const sinceMs = clock.monotonicMs();
    harness.deps.store.runs.create = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    pbx.inbound(PHONE, EXTENSION);
    await harness.passThrough(() => pbx.refused.length > 0);
    expect(pbx.refused[0]?.reason).toBe('error');
    expect(clock.monotonicMs() - sinceMs).toBeGreaterThanOrEqual(9_500);
    expect(harness.errors).toHaveLength(1);
  });

  it('and the run says why where the agent cannot run', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const broken = { nodes: [], edges: [] };
    await harness.at.store.workflows.saveDraft(harness.workflow.id, { definition: broken });
    await harness.at.store.workflows.publish(harness.workflow.id);
    pbx.inbound(PHONE, EXTENSION);
    const done = await harness.ended(await onlyRun(harness));
    expect(done).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(harness.pbx.hangUps).toEqual([PHONE]);
    expect(pbx.opened).toEqual([]);
  });
});
