// Calls that go out over a PBX: from the dial to the completed run, in whatever order the PBX tells of
// them. Source: contract §4.2, §6.1, §7.5, §7.6.

import { describe, expect, it } from 'vitest';
import { CrashRecovery } from '../../../src/call/control/crash-recovery.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { CallStatus } from '../../../src/model/provider.ts';
import { deferred } from '../../fakes/deferred.ts';
import { CALLER, chat, GOODBYE, GREETING, withCallRoom } from '../call-harness.ts';
import { configurePbx, mediaOf, withPbx } from './pbx-harness.ts';

const held = withCallRoom();

describe('an outbound call over a PBX', () => {
  it('is dialled, answered, led to its end, kept whole and hung up once', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId, runName } = await room.start();
    expect(runName).toMatch(/^WR-API-\d{4}$/);
    expect(room.pbx.dials).toMatchObject([{ runId, from: '8000', to: CALLER.slice(1), ringS: 60 }]);
    const callId = `o${runId}`;
    pbx.status(callId, 'ringing', { runId });
    pbx.answer(runId);
    pbx.status(callId, 'in-progress', { runId });
    const stream = await mediaOf(room, callId);
    await room.heardOut(stream);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    const done = await room.ended({ id: runId });
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
    expect(await room.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    const steps = await room.bodies(done, 'call.status');
    expect(steps.map(({ status }) => status)).toEqual(['ringing', 'in-progress']);
    expect(room.pbx.hangUps).toEqual([callId]);
    expect(room.errors).toEqual([]);
  });

  it('is planned and its first words are rendered while it rings', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    expect(room.tts.asked).toEqual([]);
    pbx.status(`o${runId}`, 'initiated', { runId });
    pbx.status(`o${runId}`, 'ringing', { runId });
    await room.until(() => room.tts.asked.length > 0);
    expect(GREETING).toContain(room.tts.asked[0]);
    expect(pbx.opened).toEqual([]);
    const { workflows } = room.deps.store;
    const version = () => Promise.reject(new Error('planned again'));
    Object.assign(room.deps.store, { workflows: { ...workflows, version } });
    pbx.answer(runId);
    await mediaOf(room, `o${runId}`);
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
      const room = await held.room.prepare();
      const pbx = await withPbx(room);
      const { runId } = await room.start();
      pbx.status(`o${runId}`, 'ringing', { runId });
      pbx.status(`o${runId}`, status, { runId });
      const done = await room.ended({ id: runId });
      expect(done).toMatchObject({ disposition, durationS: 0 });
      expect(await room.at.store.runs.countOpen()).toBe(0);
      expect(room.pbx.hangUps).toEqual([]);
      await room.switchboard.drain(1_000); // Nothing waits any more.
      expect(room.errors).toEqual([]);
    },
  );

  it('whose end is told twice, or before the answer to the dial, is closed once', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    room.pbx.onDial = async ({ runId }, callId) => {
      pbx.status(callId, 'ringing', { runId });
      pbx.status(callId, 'busy', { runId, dedupeKey: 'end' });
      pbx.status(callId, 'busy', { runId, dedupeKey: 'end' });
      await room.completed({ id: runId });
    };
    const { runId } = await room.start();
    const done = await room.ended({ id: runId });
    expect(done).toMatchObject({ disposition: 'busy', providerCallId: `o${runId}` });
    expect(done.logs['telephony_status_callbacks']).toHaveLength(2);
    expect(await room.bodies(done, 'call.ended')).toHaveLength(1);
  });

  it('is connected though it is answered before the answer to the dial', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const dialled = deferred();
    room.pbx.onDial = async ({ runId }) => {
      pbx.answer(runId);
      await dialled.promise;
    };
    const starting = room.start();
    await room.until(() => pbx.admitted.length === 1);
    dialled.resolve();
    const { runId } = await starting;
    const stream = await mediaOf(room, `o${runId}`);
    await room.heardOut(stream);
    expect(await room.run(runId)).toMatchObject({
      state: 'running',
      providerCallId: `o${runId}`,
      gatheredContext: { channel_name: `PJSIP/o${runId}` },
    });
    expect(room.pbx.hangUps).toEqual([]);
  });

  it('goes on though the answer to the dial is lost', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    room.pbx.onDial = async ({ runId }) => {
      pbx.answer(runId);
      await room.until(() => pbx.admitted.length === 1);
      throw new GatewayError('PROVIDER_UNCERTAIN', { provider: 'ari', reason: 'reset' });
    };
    const { runId } = await room.start();
    expect((await room.run(runId)).state).toBe('running');
    expect(room.pbx.hangUps).toEqual([]);
  });

  it('that the PBX refuses to dial leaves a completed run', async () => {
    const room = await held.room.prepare();
    await withPbx(room);
    const reason = 'no such endpoint';
    room.pbx.onDial = () =>
      Promise.reject(new GatewayError('PROVIDER_DESTINATION', { provider: 'ari', reason }));
    await expect(room.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    const [run] = await room.runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(run?.gatheredContext['error']).toContain(reason);
  });

  it('whose callee hangs up while media is opened is closed by its last status', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.onOpen = () => new Promise(() => undefined);
    const { runId } = await room.start();
    pbx.answer(runId);
    await room.until(() => pbx.opened.length === 1);
    pbx.status(`o${runId}`, 'completed', { runId, durationS: 1 });
    expect(await room.ended({ id: runId })).toMatchObject({ disposition: 'system_connect_error' });
    expect(room.pbx.hangUps).toEqual([]);
    expect(room.errors).toEqual([]);
  });

  it('whose media is closed but whose end is told later is ended by its media', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    const stream = await mediaOf(room, `o${runId}`);
    await room.heardOut(stream);
    pbx.end(`o${runId}`);
    expect(await room.ended({ id: runId })).toMatchObject({ disposition: 'user_hangup' });
  });

  it('whose end is told but whose media stays is ended a moment later', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    const stream = await mediaOf(room, `o${runId}`);
    await room.heardOut(stream);
    pbx.status(`o${runId}`, 'completed', { runId });
    await room.passThrough(async () => (await room.run(runId)).state === 'completed');
    expect(await room.ended({ id: runId })).toMatchObject({ disposition: 'user_hangup' });
  });

  it('that was hung up by a client is not connected when it is answered all the same', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    const { organizationId } = room.at.owner;
    await room.switchboard.hangUp({ organizationId, runId });
    pbx.answer(runId);
    await room.until(() => room.pbx.hangUps.length === 2 && room.switchboard.pbxLines.busy === 0);
    expect(pbx.opened).toEqual([]);
    expect(await room.run(runId)).toMatchObject({ disposition: 'system_cancelled' });
  });

  it('that is told of twice as answered is connected once', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    await mediaOf(room, `o${runId}`);
    pbx.answer(runId);
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect(pbx.opened).toEqual([`o${runId}`]);
    expect(room.pbx.hangUps).toEqual([]);
  });

  it('of a run that is another configuration’s, or none, is hung up', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const other = await configurePbx(room, { name: 'Other' });
    await room.switchboard.pbxLines.wake();
    const { runId } = await room.start({ configurationId: other.id });
    pbx.answer(runId, 'strange');
    pbx.answer('999999', 'unknown');
    await room.until(() => room.pbx.hangUps.length === 2);
    expect(room.pbx.hangUps.toSorted()).toEqual(['strange', 'unknown']);
    pbx.status('strange', 'busy', { runId });
    await room.until(() => room.switchboard.pbxLines.busy === 0);
    expect((await room.run(runId)).state).toBe('initialized');
  });

  it('goes out without a caller id where the configuration has no number', async () => {
    const room = await held.room.prepare();
    room.configuration = await configurePbx(room);
    await room.switchboard.pbxLines.start();
    const { runId } = await room.start();
    expect(room.pbx.dials).toMatchObject([{ runId, from: null }]);
    room.pbx.connection.answer(runId);
    await mediaOf(room, `o${runId}`);
  });

  it('that was dialled by another node is run by the one with the connection', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    await room.at.sql("update runs set owner_node = 'another'");
    pbx.answer(runId);
    await mediaOf(room, `o${runId}`);
    const [row] = await room.at.sql('select owner_node from runs');
    expect(row?.['owner_node']).toBe(room.at.store.node);
  });

  it('that talked when its gateway was killed is hung up over the PBX at the next start', async () => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    const stream = await mediaOf(room, `o${runId}`);
    await room.heardOut(stream);
    await room.deps.events.flush();
    await room.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(room.deps);
    expect(await recovery.start()).toBe(1);
    recovery.stop();
    await room.until(() => room.pbx.hangUps.length > 0);
    expect(await room.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'unexpected_error',
    });
  });
});

describe('an answering machine, which a PBX does not tell of', () => {
  const settings = { voicemail_detection: { enabled: true, long_speech_timeout: 2 } };

  it('is heard, and is not talked to where the agent is not to', async () => {
    const room = await held.room.prepare(chat, settings);
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    const stream = await mediaOf(room, `o${runId}`);
    stream.line = 'voice';
    await room.pass(3_000);
    const done = await room.ended({ id: runId });
    expect(done).toMatchObject({ disposition: 'voicemail_detected' });
    expect(done.gatheredContext).toMatchObject({ answered_by: 'machine_start' });
    expect(room.pbx.hangUps).toEqual([`o${runId}`]);
  });

  it('is only noted where the agent talks to machines', async () => {
    const room = await held.room.prepare(chat, { voicemail_detection: { long_speech_timeout: 2 } });
    const pbx = await withPbx(room);
    const { runId } = await room.start();
    pbx.answer(runId);
    const stream = await mediaOf(room, `o${runId}`);
    stream.line = 'voice';
    await room.pass(3_000);
    stream.line = 'silence';
    await room.pass(1_000);
    expect(room.pbx.hangUps).toEqual([]);
    await room.switchboard.hangUp({ organizationId: room.at.owner.organizationId, runId });
    const done = await room.ended({ id: runId });
    expect(done.gatheredContext).toMatchObject({ answered_by: 'machine_start' });
    expect(done.disposition).toBe('system_cancelled');
  });
});
