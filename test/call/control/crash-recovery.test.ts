// Calls that nobody tells the end of: callbacks that are lost, processes that are killed or drained.

import { describe, expect, it } from 'vitest';
import { withClosing } from '../../../src/app/call-parts.ts';
import { CrashRecovery } from '../../../src/call/control/crash-recovery.ts';
import { EventLog } from '../../../src/call/log/event-log.ts';
import { callSeconds } from '../../../src/metrics/metrics.ts';
import type { Answer, Asked } from '../../telephony/provider/rest-server.ts';
import { CALL, type CallRoom, GREETING, twilioAnswers, withCallRoom } from '../call-harness.ts';

const held = withCallRoom();
/** Of a recording, what a killed process has not written yet. */
const LOST_S_MAX = 1.5;
const RECORDED_BYTES_S = 32_000;

/** Calls of that provider, and how long they were together, by the metric. */
async function lengths(provider: string): Promise<{ count: number; sum: number }> {
  const { values } = await callSeconds.get();
  const of = (end: string): number =>
    values.find(
      ({ metricName, labels }) => metricName?.endsWith(end) && labels.provider === provider,
    )?.value ?? 0;
  return { count: of('_count'), sum: of('_sum') };
}

/** What Twilio says when it is asked about the call. */
function says(room: CallRoom, answer: Answer): void {
  room.rest.answer = (asked: Asked) => (asked.method === 'GET' ? answer : twilioAnswers(asked));
}

const questions = (room: CallRoom) => room.rest.asked.filter(({ method }) => method === 'GET');

/** Lets time pass until the provider has been asked so often. */
async function look(room: CallRoom, looks: number): Promise<void> {
  if (looks === 1) await room.pass(90_000);
  await room.passThrough(() => questions(room).length >= looks);
}

describe('a call that is dialled and of which nothing more is heard', () => {
  it('is closed as the provider says it ended', async () => {
    const room = await held.room.prepare();
    says(room, { status: 200, body: { sid: CALL, status: 'no-answer' } });
    const { runId } = await room.start();
    await room.pass(89_900);
    expect(questions(room)).toEqual([]);
    await room.passThrough(() => questions(room).length === 1);
    expect(await room.ended({ id: runId })).toMatchObject({ disposition: 'no-answer' });
    expect(room.hangUps).toEqual([]);
  });

  it('is hung up and closed when it stays up without media', async () => {
    const room = await held.room.prepare();
    says(room, { status: 200, body: { sid: CALL, status: 'in-progress' } });
    const { runId } = await room.start();
    await look(room, 1);
    await look(room, 2);
    expect((await room.run(runId)).state).toBe('initialized');
    await look(room, 3);
    const done = await room.ended({ id: runId });
    expect(done.disposition).toBe('system_connect_error');
    expect(room.hangUps).toHaveLength(1);
  });

  it('is hung up and closed when the provider says nothing either', async () => {
    const room = await held.room.prepare();
    says(room, { status: 500, body: {} });
    const { runId } = await room.start();
    await look(room, 1);
    await look(room, 2);
    await look(room, 3);
    expect((await room.ended({ id: runId })).disposition).toBe('system_connect_error');
    expect(room.hangUps).toHaveLength(1);
  });

  it('is closed even if the store was away when it was looked up', async () => {
    const room = await held.room.prepare();
    says(room, { status: 200, body: { sid: CALL, status: 'completed' } });
    const { runId } = await room.start();
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    for (let n = 1; n <= 5; n++) {
      await look(room, n);
      await room.until(() => room.errors.length >= n);
    }
    room.deps.store.runs.patch = patch;
    await look(room, 6);
    expect((await room.ended({ id: runId })).disposition).toBe('system_connect_error');
    expect(await room.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
  });

  it('is left alone when its media comes while the provider is asked', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    says(room, 'hang');
    await room.pass(89_000);
    const reply = await room.pickUp(runId);
    await room.passThrough(() => questions(room).length === 1);
    const stream = await room.connect(reply);
    stream.start();
    await room.pass(10_000);
    expect((await room.run(runId)).state).toBe('running');
    expect(stream.open).toBe(true);
  });

  it('is not asked about once it has been closed', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.status(runId, 'CallStatus=busy&SequenceNumber=2');
    await room.pass(160_000);
    expect(questions(room)).toEqual([]);
    expect(room.clock.timers).toBe(0);
  });
});

describe('a process that was killed', () => {
  /** The same store under another process, which knows nothing of the calls. */
  function restarted(room: CallRoom) {
    const { clock, log, store } = room.deps;
    return withClosing({ ...room.deps, events: new EventLog({ sink: store.runs, clock, log }) });
  }

  /** What it does when it is started again, with another epoch than that of the runs. */
  async function recover(after: CallRoom['deps'], room: CallRoom): Promise<number> {
    await room.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(after);
    const closed = await recovery.start();
    recovery.stop();
    return closed;
  }

  it('leaves runs that are closed with what was stored', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.pass(1_000);
    await room.deps.events.flush();
    const after = restarted(room);
    expect(await recover(after, room)).toBe(1);
    const done = await room.run(run.id);
    expect(done).toMatchObject({
      state: 'completed',
      disposition: 'unexpected_error',
      recordingKey: `recordings/${run.id}.wav`,
    });
    expect(done.gatheredContext).toMatchObject({
      error: expect.any(String),
      nodes_visited: ['Ask'],
    });
    expect(await room.transcript(done)).toEqual([`assistant: ${GREETING}`]);
    expect(done.durationS).toBeGreaterThan(0.5);
    await room.until(() => room.hangUps.length === 1);
    expect(await recover(after, room)).toBe(0);
    expect(room.hangUps).toHaveLength(1);
  });

  it('leaves runs that last as long as their recording, and end when it ends', async () => {
    const room = await held.room.prepare();
    const begunAt = room.clock.now();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.pass(7_000); // Nothing happens that would be an event.
    await room.deps.events.flush();
    const talkedS = (room.clock.now() - begunAt) / 1_000;
    const isRecorded = async (): Promise<boolean> =>
      ((await room.deps.files.stat(`recordings/${run.id}.wav`))?.size ?? 0) >
      (talkedS - LOST_S_MAX) * RECORDED_BYTES_S;
    await room.until(isRecorded);
    room.clock.stall(3_600_000);
    const before = await lengths('twilio');
    await recover(restarted(room), room);
    const done = await room.run(run.id);
    const durationS = done.durationS ?? 0;
    expect(durationS).toBeGreaterThan(talkedS - LOST_S_MAX);
    expect(durationS).toBeLessThanOrEqual(talkedS);
    expect((done.endedAt?.getTime() ?? 0) - begunAt).toBeCloseTo(1_000 * durationS, -2);
    const heard = await room.bodies(run, 'agent.said');
    expect(done.usageInfo).toMatchObject({
      call_duration_seconds: Math.round(durationS),
      stt: { [`${room.stt.name}|||${room.stt.model}`]: durationS },
      tts: { [`${room.tts.name}|||${room.tts.model}`]: heard[0]?.text.length },
    });
    const after = await lengths('twilio');
    expect(after.count - before.count).toBe(1);
    expect(after.sum - before.sum).toBeCloseTo(durationS, 3);
  });

  it('leaves runs without a recording that last as long as the provider reports', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    await room.deps.events.flush();
    const entry = { status: 'completed', timestamp: '2026-01-15T09:00:42+00:00', duration: 42 };
    await room.at.store.runs.appendCallback(run.id, 'ended', entry);
    const after = restarted(room);
    after.files = { ...after.files, stat: () => Promise.resolve(undefined) };
    await recover(after, room);
    expect((await room.run(run.id)).durationS).toBeCloseTo(42, 0);
  });

  it('leaves calls that never talked: they end when the last was known of them', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.deps.events.flush();
    const dialledAt = room.clock.now();
    room.clock.stall(3_600_000);
    await recover(restarted(room), room);
    const done = await room.run(runId);
    expect(done).toMatchObject({ disposition: 'system_connect_error', durationS: 0 });
    expect(done.endedAt?.getTime()).toBe(dialledAt);
  });

  it('leaves dialled calls that are hung up', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await recover(restarted(room), room);
    expect(await room.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_connect_error',
    });
    await room.until(() => room.hangUps.length === 1);
  });

  it('does not keep the next one from starting while providers are slow', async () => {
    const room = await held.room.prepare();
    for (let n = 1; n <= 10; n++) await room.ring(`CallSid=CA${n}`);
    room.rest.answer = () => 'hang';
    expect(await recover(restarted(room), room)).toBe(10);
    await room.until(() => room.hangUps.length === 8);
    await room.pass(5_100);
    await room.until(() => room.hangUps.length === 10);
    await room.pass(5_100);
  });

  it('has one run that cannot be closed not stand in the way of the others', async () => {
    const room = await held.room.prepare();
    await room.ring('CallSid=CA1');
    await room.ring('CallSid=CA2');
    const [first, second] = await room.runs();
    const after = restarted(room);
    const { patch } = after.store.runs;
    after.store.runs.patch = (id, change) =>
      id === first?.id ? Promise.reject(new Error('poison')) : patch(id, change);
    expect(await recover(after, room)).toBe(1);
    expect((await room.run(second?.id ?? '')).state).toBe('completed');
    after.store.runs.patch = patch;
  });

  it('has a call that had ended keep its own end', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    stream.hangUp();
    await room.until(() => room.switchboard.activeCalls === 0);
    room.deps.store.runs.patch = patch;
    await recover(restarted(room), room);
    const done = await room.run(run.id);
    expect(done).toMatchObject({ state: 'completed', disposition: 'user_hangup' });
    expect(done.gatheredContext).not.toHaveProperty('error');
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
    expect(room.hangUps).toEqual([]);
  });
});

describe('runs of other processes', () => {
  const disown = (room: CallRoom, runId: string, node = 'gone') =>
    room.at.sql('update runs set owner_node = $1 where id = $2', [node, runId]);

  /** Started before there was anything to close. */
  async function recovering(room: CallRoom): Promise<CrashRecovery> {
    const recovery = new CrashRecovery(room.deps);
    await recovery.start();
    return recovery;
  }

  it('are closed when their process dies later, and our own go on', async () => {
    const room = await held.room.prepare();
    const recovery = await recovering(room);
    await room.pass(25_000);
    const { run: own, stream } = await room.inboundCall({ callId: 'CA2' });
    const { runId } = await room.start();
    await disown(room, runId);
    await room.pass(5_100);
    await room.completed({ id: runId });
    await room.until(() => room.hangUps.length === 1);
    expect((await room.run(own.id)).state).toBe('running');
    expect(stream.open).toBe(true);
    recovery.stop();
  });

  it('are closed at once when a death is known, and then looked for as ever', async () => {
    const room = await held.room.prepare();
    const recovery = await recovering(room);
    const { runId } = await room.start();
    await disown(room, runId);
    recovery.wake();
    recovery.wake(); // One look is under way: another follows.
    await room.completed({ id: runId });
    const { runId: later } = await room.start();
    await disown(room, later);
    await room.pass(30_100);
    await room.completed({ id: later });
    recovery.stop();
    recovery.wake();
  });

  it('are looked for no more once it stops', async () => {
    const room = await held.room.prepare();
    const recovery = await recovering(room);
    const { runId } = await room.start();
    await disown(room, runId);
    recovery.stop();
    await room.pass(60_100);
    expect((await room.run(runId)).state).toBe('initialized');
    await room.status(runId, 'CallStatus=busy');
  });

  it('are left alone right after the store was away: the living could not report', async () => {
    const room = await held.room.prepare();
    const recovery = await recovering(room);
    const { runId } = await room.start();
    await disown(room, runId);
    const { openRuns } = room.deps.store.runs;
    let looks = 0;
    room.deps.store.runs.openRuns = () => {
      looks += 1;
      return looks === 1 ? Promise.reject(new Error('store away')) : openRuns();
    };
    await room.pass(30_100);
    await room.until(() => looks === 1 && room.errors.length === 1);
    await room.pass(30_000);
    await room.until(() => room.clock.timers > 0);
    expect(looks).toBe(1);
    await disown(room, runId);
    expect((await room.run(runId)).state).toBe('initialized');
    await room.pass(30_100);
    await room.completed({ id: runId });
    recovery.stop();
  });

  it('that could not be closed are tried again, and hung up once', async () => {
    const room = await held.room.prepare();
    const recovery = await recovering(room);
    const { runId } = await room.start();
    await disown(room, runId);
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await room.pass(30_100);
    await room.until(() => room.errors.length === 1 && room.hangUps.length === 1);
    room.deps.store.runs.patch = patch;
    await room.pass(30_100);
    await room.completed({ id: runId });
    expect(room.hangUps).toHaveLength(1);
    recovery.stop();
  });
});

describe('draining', () => {
  it('waits for a phone that rings until nobody answers', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    let drained = false;
    const draining = room.switchboard.drain(60_000).then(() => {
      drained = true;
    });
    await room.pass(2_000);
    expect(drained).toBe(false);
    await room.status(runId, 'CallStatus=no-answer&SequenceNumber=2');
    await room.pass(200);
    await draining;
    expect(await room.run(runId)).toMatchObject({ disposition: 'no-answer' });
    expect(room.hangUps).toEqual([]);
  });

  it.each(['rings', 'was answered'])('hangs up what %s when the time is over', async (what) => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    if (what === 'was answered') await room.pickUp(runId);
    const draining = room.switchboard.drain(2_000);
    await room.pass(2_100);
    await draining;
    expect(await room.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_cancelled',
    });
    expect(room.hangUps).toHaveLength(1);
    await room.pass(160_000);
  });

  it('does not wait for calls that could not be placed', async () => {
    const room = await held.room.prepare();
    room.rest.answer = () => ({ status: 400, body: { code: 21211, message: 'no number' } });
    await expect(room.start()).rejects.toThrow();
    await room.switchboard.drain(60_000);
  });

  it('waits for the calls under way and takes no new one', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    let drained = false;
    const draining = room.switchboard.drain(60_000).then(() => {
      drained = true;
    });
    await room.heardOut(stream);
    expect(drained).toBe(false);
    expect((await room.ring('CallSid=CA2')).body).toContain('busy');
    stream.hangUp();
    await room.ended(run);
    await room.pass(200);
    await draining;
    expect((await room.run(run.id)).disposition).toBe('user_hangup');
  });

  it('lets a phone that rings be picked up', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const draining = room.switchboard.drain(60_000);
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    stream.hangUp();
    expect((await room.ended({ id: runId })).disposition).toBe('user_hangup');
    await room.pass(200);
    await draining;
  });

  it('ends and hangs up what is left when the time is over', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    const draining = room.switchboard.drain(2_000);
    await room.pass(2_100);
    await draining;
    const done = await room.ended(run);
    expect(done.disposition).toBe('system_cancelled');
    expect(room.hangUps).toHaveLength(1);
    expect(stream.closed?.code).toBe(1000);
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
  });
});
