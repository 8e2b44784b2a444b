// Calls that go out over a PBX: from the dial to the completed run, in whatever order the PBX tells of
// them. Source: contract §4.2, §6.1, §7.5, §7.6.

import { describe, expect, it } from 'vitest';
import { CrashRecovery } from '../../../../src/call/end/crash-recovery.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { CallStatus } from '../../../../src/model/provider.ts';
import { deferred } from '../../../fakes/deferred.ts';
import { CALLER, chat, GOODBYE, GREETING, withCallHarness } from '../../call-harness.ts';
import { configurePbx, mediaOf, withPbx } from './pbx-harness.ts';

const held = withCallHarness();

describe('an outbound call over a PBX', () => {
  it('is dialled, answered, led to its end, kept whole and hung up once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId, runName } = await harness.start();
    expect(runName).toMatch(/^WR-API-\d{4}$/);
    expect(harness.pbx.dials).toMatchObject([
      { runId, from: '8000', to: CALLER.slice(1), ringS: 60 },
    ]);
    const callId = `o${runId}`;
    pbx.status(callId, 'ringing', { runId });
    pbx.answer(runId);
    pbx.status(callId, 'in-progress', { runId });
    const stream = await mediaOf(harness, callId);
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({
      state: 'completed',
      mode: 'ari',
      providerCallId: callId,
      disposition: 'user_qualified',
    });
    expect(done.gatheredContext).toMatchObject({
      call_id: callId,
      channel_name: `PJSIP/${callId}`,
      provider: 'ari',
    });
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    const steps = await harness.bodies(done, 'call.status');
    expect(steps.map(({ status }) => status)).toEqual(['ringing', 'in-progress']);
    expect(harness.pbx.hangUps).toEqual([callId]);
    expect(harness.errors).toEqual([]);
  });

  it('is planned and its first words are rendered while it rings', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    expect(harness.tts.rendered).toEqual([]);
    pbx.status(`o${runId}`, 'initiated', { runId });
    pbx.status(`o${runId}`, 'ringing', { runId });
    await harness.until(() => harness.tts.rendered.length === 2);
    expect(harness.tts.rendered.join(' ')).toBe(GREETING);
    expect(pbx.opened).toEqual([]);
    const { workflows } = harness.deps.store;
    const version = () => Promise.reject(new Error('planned again'));
    Object.assign(harness.deps.store, { workflows: { ...workflows, version } });
    pbx.answer(runId);
    await mediaOf(harness, `o${runId}`);
  });

  it.each<[CallStatus, string]>([
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
    ['completed', 'system_connect_error'],
  ])(
    'that ends unanswered as %s is closed as %s, and its slot is free',
    async (status, disposition) => {
      const harness = await held.harness.prepare();
      const pbx = await withPbx(harness);
      const { runId } = await harness.start();
      pbx.status(`o${runId}`, 'ringing', { runId });
      pbx.status(`o${runId}`, status, { runId });
      const done = await harness.ended({ id: runId });
      expect(done).toMatchObject({ disposition, durationS: 0 });
      expect(await harness.at.store.runs.countOpen()).toBe(0);
      expect(harness.pbx.hangUps).toEqual([]);
      await harness.callControl.drain(1_000); // Nothing waits any more.
      expect(harness.errors).toEqual([]);
    },
  );

  it('whose end is reported twice, or before the answer to the dial, is closed once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    harness.pbx.onDial = async ({ runId }, callId) => {
      pbx.status(callId, 'ringing', { runId });
      pbx.status(callId, 'busy', { runId, dedupeKey: 'end' });
      pbx.status(callId, 'busy', { runId, dedupeKey: 'end' });
      await harness.completed({ id: runId });
    };
    const { runId } = await harness.start();
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ disposition: 'busy', providerCallId: `o${runId}` });
    expect(done.logs['telephony_status_callbacks']).toHaveLength(2);
    expect(await harness.bodies(done, 'call.ended')).toHaveLength(1);
  });

  it('is connected though it is answered before the answer to the dial', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const dialled = deferred();
    harness.pbx.onDial = async ({ runId }) => {
      pbx.answer(runId);
      await dialled.promise;
    };
    const starting = harness.start();
    await harness.until(() => pbx.admitted.length === 1);
    dialled.resolve();
    const { runId } = await starting;
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    expect(await harness.run(runId)).toMatchObject({
      state: 'running',
      providerCallId: `o${runId}`,
      gatheredContext: { channel_name: `PJSIP/o${runId}` },
    });
    expect(harness.pbx.hangUps).toEqual([]);
  });

  it('goes on though the answer to the dial is lost', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    harness.pbx.onDial = async ({ runId }) => {
      pbx.answer(runId);
      await harness.until(() => pbx.admitted.length === 1);
      throw new GatewayError('PROVIDER_UNCERTAIN', { provider: 'ari', reason: 'reset' });
    };
    const { runId } = await harness.start();
    expect((await harness.run(runId)).state).toBe('running');
    expect(harness.pbx.hangUps).toEqual([]);
  });

  it('that the PBX refuses to dial leaves a completed run', async () => {
    const harness = await held.harness.prepare();
    await withPbx(harness);
    const reason = 'no such endpoint';
    harness.pbx.onDial = () =>
      Promise.reject(new GatewayError('PROVIDER_DESTINATION', { provider: 'ari', reason }));
    await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    const [run] = await harness.runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(run?.gatheredContext['error']).toContain(reason);
  });

  it('whose callee hangs up while media is opened is closed by its last status', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.onOpen = () => new Promise(() => undefined);
    const { runId } = await harness.start();
    pbx.answer(runId);
    await harness.until(() => pbx.opened.length === 1);
    pbx.status(`o${runId}`, 'completed', { runId, durationS: 1 });
    expect(await harness.ended({ id: runId })).toMatchObject({
      disposition: 'system_connect_error',
    });
    expect(harness.pbx.hangUps).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('whose media is closed but whose end is reported later is ended by its media', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    pbx.end(`o${runId}`);
    expect(await harness.ended({ id: runId })).toMatchObject({ disposition: 'user_hangup' });
  });

  it('whose end is reported but whose media stays is ended a moment later', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    pbx.status(`o${runId}`, 'completed', { runId });
    await harness.passThrough(async () => (await harness.run(runId)).state === 'completed');
    expect(await harness.ended({ id: runId })).toMatchObject({ disposition: 'user_hangup' });
  });

  // Nobody is told of the answer again: who had answered heard nothing until the call was given up for lack of media.
  it('that is answered while its run cannot be read is hung up', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    const callId = `o${runId}`;
    pbx.status(callId, 'ringing', { runId });
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    const { runs } = harness.deps.store;
    const find = runs.find.bind(runs);
    Object.assign(runs, { find: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) });
    pbx.answer(runId);
    await harness.until(() => harness.pbx.hangUps.length > 0);
    expect(harness.pbx.hangUps).toEqual([callId]);
    Object.assign(runs, { find });
    pbx.status(callId, 'completed', { runId });
    expect(await harness.ended({ id: runId })).toMatchObject({
      disposition: 'system_connect_error',
    });
  });

  // Nobody is told of it again: the run was closed as one that could not be connected, and a campaign did not call again.
  it('whose line is busy while its run cannot be read is closed as busy once it can', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    const { runs } = harness.deps.store;
    const find = runs.find.bind(runs);
    Object.assign(runs, { find: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) });
    pbx.status(`o${runId}`, 'busy', { runId });
    await harness.pass(12_000);
    Object.assign(runs, { find });
    await harness.passThrough(async () => (await harness.run(runId)).state === 'completed');
    expect(await harness.run(runId)).toMatchObject({ disposition: 'busy' });
  });

  it('that was hung up by a client is not connected when it is answered all the same', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    const { organizationId } = harness.at.owner;
    await harness.callControl.hangUp({ organizationId, runId });
    pbx.answer(runId);
    await harness.until(
      () => harness.pbx.hangUps.length === 2 && harness.callControl.pbxLines.busy === 0,
    );
    expect(pbx.opened).toEqual([]);
    expect(await harness.run(runId)).toMatchObject({ disposition: 'system_cancelled' });
  });

  it('that is reported twice as answered is connected once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    await mediaOf(harness, `o${runId}`);
    pbx.answer(runId);
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect(pbx.opened).toEqual([`o${runId}`]);
    expect(harness.pbx.hangUps).toEqual([]);
  });

  it('of a run that is another configuration’s, or none, is hung up', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const other = await configurePbx(harness, { name: 'Other' });
    await harness.callControl.pbxLines.wake();
    const { runId } = await harness.start({ configurationId: other.id });
    pbx.answer(runId, 'strange');
    pbx.answer('999999', 'unknown');
    await harness.until(() => harness.pbx.hangUps.length === 2);
    expect(harness.pbx.hangUps.toSorted()).toEqual(['strange', 'unknown']);
    pbx.status('strange', 'busy', { runId });
    await harness.until(() => harness.callControl.pbxLines.busy === 0);
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  it('goes out without a caller id where the configuration has no number', async () => {
    const harness = await held.harness.prepare();
    harness.configuration = await configurePbx(harness);
    await harness.callControl.pbxLines.start();
    const { runId } = await harness.start();
    expect(harness.pbx.dials).toMatchObject([{ runId, from: null }]);
    harness.pbx.connection.answer(runId);
    await mediaOf(harness, `o${runId}`);
  });

  it('that was dialled by another node is run by the one with the connection', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    await harness.at.sql("update runs set owner_node = 'another'");
    pbx.answer(runId);
    await mediaOf(harness, `o${runId}`);
    const [row] = await harness.at.sql('select owner_node from runs');
    expect(row?.['owner_node']).toBe(harness.at.store.node);
  });

  it('that talked when its gateway was killed, and that the PBX does not report at the next start, is hung up', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    await harness.deps.events.flush();
    await harness.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(harness.deps);
    expect(await recovery.start()).toBe(0);
    const not = () => Promise.resolve(false);
    recovery.serve({ answerAgain: not, resume: not });
    await harness.pass(14_000);
    expect(harness.pbx.hangUps).toEqual([]);
    await harness.pass(2_000);
    await harness.until(() => harness.pbx.hangUps.length > 0);
    recovery.stop();
    expect(await harness.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'unexpected_error',
    });
  });
});

describe('an answering machine, which a PBX does not report', () => {
  const settings = { voicemail_detection: { enabled: true, long_speech_timeout: 2 } };

  it('is heard, and is not talked to where the agent is not to', async () => {
    const harness = await held.harness.prepare(chat, settings);
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    stream.line = 'voice';
    await harness.pass(3_000);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ disposition: 'voicemail_detected' });
    expect(done.gatheredContext).toMatchObject({ answered_by: 'machine_start' });
    expect(harness.pbx.hangUps).toEqual([`o${runId}`]);
  });

  it('is only noted where the agent talks to machines', async () => {
    const harness = await held.harness.prepare(chat, {
      voicemail_detection: { long_speech_timeout: 2 },
    });
    const pbx = await withPbx(harness);
    const { runId } = await harness.start();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    stream.line = 'voice';
    await harness.pass(3_000);
    stream.line = 'silence';
    await harness.pass(1_000);
    expect(harness.pbx.hangUps).toEqual([]);
    await harness.callControl.hangUp({ organizationId: harness.at.owner.organizationId, runId });
    const done = await harness.ended({ id: runId });
    expect(done.gatheredContext).toMatchObject({ answered_by: 'machine_start' });
    expect(done.disposition).toBe('system_cancelled');
  });
});
