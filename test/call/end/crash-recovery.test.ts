// Calls whose end is not reported: callbacks that are lost, processes that are killed or drained.

import { describe, expect, it } from 'vitest';
import { withClosing } from '../../../src/app/call-parts.ts';
import { CrashRecovery, type RecoveryDeps } from '../../../src/call/end/crash-recovery.ts';
import { EventLog } from '../../../src/call/events/event-log.ts';
import { callSeconds } from '../../../src/metrics/metrics.ts';
import type { Look } from '../../../src/store/db/death-watch.ts';
import type { Answer, Asked } from '../../telephony/provider/rest-server.ts';
import {
  CALL,
  type CallHarness,
  GREETING,
  twilioAnswers,
  withCallHarness,
} from '../call-harness.ts';

const held = withCallHarness();
/** Seconds of a recording that a killed process has not written yet. */
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
function says(harness: CallHarness, answer: Answer): void {
  harness.rest.answer = (asked: Asked) => (asked.method === 'GET' ? answer : twilioAnswers(asked));
}

const questions = (harness: CallHarness) =>
  harness.rest.asked.filter(({ method }) => method === 'GET');

/** Lets time pass until the provider has been asked so often. */
async function look(harness: CallHarness, looks: number): Promise<void> {
  if (looks === 1) await harness.pass(90_000);
  await harness.passThrough(() => questions(harness).length >= looks);
}

describe('a call that is dialled and of which no event follows', () => {
  it('is closed as the provider says it ended', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'no-answer' } });
    const { runId } = await harness.start();
    await harness.pass(89_900);
    expect(questions(harness)).toEqual([]);
    await harness.passThrough(() => questions(harness).length === 1);
    expect(await harness.ended({ id: runId })).toMatchObject({ disposition: 'no-answer' });
    expect(harness.hangUps).toEqual([]);
  });

  it('is hung up and closed when it stays up without media', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'in-progress' } });
    const { runId } = await harness.start();
    await look(harness, 1);
    const done = await harness.ended({ id: runId });
    expect(done.disposition).toBe('system_connect_error');
    expect(harness.hangUps).toHaveLength(1);
  });

  it('keeps its place while the provider reports ringing, for three look-ups', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'ringing' } });
    const { runId } = await harness.start();
    await look(harness, 1);
    await look(harness, 2);
    expect((await harness.run(runId)).state).toBe('initialized');
    await look(harness, 3);
    expect((await harness.ended({ id: runId })).disposition).toBe('system_connect_error');
  });

  it('gives its place back 30 s after it was answered, if no media come', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'in-progress' } });
    const { runId } = await harness.start();
    await harness.pickUp(runId);
    await harness.pass(29_000);
    expect((await harness.run(runId)).state).toBe('initialized');
    await harness.passThrough(() => questions(harness).length === 1);
    expect((await harness.ended({ id: runId })).disposition).toBe('system_connect_error');
    expect(harness.hangUps).toHaveLength(1);
  });

  it.each(['in-progress', 'queued', 'ringing'])(
    'ends 30 s after the report of its answer, if nothing else comes and the provider says %s',
    async (status) => {
      const harness = await held.harness.prepare();
      says(harness, { status: 200, body: { sid: CALL, status } });
      const { runId } = await harness.start();
      await harness.status(runId, 'CallStatus=ringing&SequenceNumber=1');
      await harness.pass(10_000);
      await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
      await harness.pass(29_000);
      expect((await harness.run(runId)).state).toBe('initialized');
      await harness.passThrough(() => questions(harness).length === 1);
      expect((await harness.ended({ id: runId })).disposition).toBe('system_connect_error');
      expect(harness.hangUps).toHaveLength(1);
    },
  );

  it('and was inbound gives its place back 30 s after its webhook, if no media come', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'in-progress' } });
    await harness.ring();
    const [run] = await harness.runs();
    if (run === undefined) throw new Error('no run');
    await harness.pass(29_000);
    expect((await harness.run(run.id)).state).toBe('initialized');
    await harness.passThrough(() => questions(harness).length === 1);
    expect((await harness.ended(run)).disposition).toBe('system_connect_error');
    expect(harness.hangUps).toHaveLength(1);
    expect(harness.callControl.activeCalls).toBe(0);
  });

  it('is hung up and closed when the provider says nothing either', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 500, body: {} });
    const { runId } = await harness.start();
    await look(harness, 1);
    expect((await harness.ended({ id: runId })).disposition).toBe('system_connect_error');
    expect(harness.hangUps).toHaveLength(1);
  });

  it('is closed even if the store was away when it was looked up', async () => {
    const harness = await held.harness.prepare();
    says(harness, { status: 200, body: { sid: CALL, status: 'completed' } });
    const { runId } = await harness.start();
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    for (let n = 1; n <= 5; n++) {
      await look(harness, n);
      await harness.until(() => harness.errors.length >= n);
    }
    harness.deps.store.runs.patch = patch;
    await look(harness, 6);
    expect((await harness.ended({ id: runId })).disposition).toBe('system_connect_error');
    expect(await harness.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
  });

  it('is left alone when its media comes while the provider is asked', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    says(harness, 'hang');
    await harness.pass(89_000);
    const reply = await harness.pickUp(runId);
    await harness.passThrough(() => questions(harness).length === 1);
    const stream = await harness.connect(reply);
    stream.start();
    await harness.pass(10_000);
    expect((await harness.run(runId)).state).toBe('running');
    expect(stream.open).toBe(true);
  });

  it('is not asked about once it has been closed', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.status(runId, 'CallStatus=busy&SequenceNumber=2');
    await harness.pass(160_000);
    expect(questions(harness)).toEqual([]);
    expect(harness.clock.timers).toBe(0);
  });
});

describe('a process that was killed', () => {
  /** The same store under another process, which does not hold the calls. */
  function restarted(harness: CallHarness) {
    const { clock, log, store } = harness.deps;
    return withClosing({ ...harness.deps, events: new EventLog({ sink: store.runs, clock, log }) });
  }

  /** A thread writes the recording, in its own time. */
  async function recordedBytes(harness: CallHarness, runId: string): Promise<number> {
    return (await harness.deps.files.stat(`recordings/${runId}.wav`))?.size ?? 0;
  }

  /** What it does when it is started again, with another epoch than that of the runs. */
  async function recover(after: CallHarness['deps'], harness: CallHarness): Promise<number> {
    await harness.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(after);
    const closed = await recovery.start();
    recovery.stop();
    return closed;
  }

  it('leaves runs that are closed with what was stored', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.pass(1_000);
    await harness.deps.events.flush();
    await harness.until(async () => (await recordedBytes(harness, run.id)) > 0);
    const after = restarted(harness);
    expect(await recover(after, harness)).toBe(1);
    const done = await harness.run(run.id);
    expect(done).toMatchObject({
      state: 'completed',
      disposition: 'unexpected_error',
      recordingKey: `recordings/${run.id}.wav`,
    });
    expect(done.gatheredContext).toMatchObject({
      error: expect.any(String),
      nodes_visited: ['Ask'],
    });
    expect(await harness.transcript(done)).toEqual([`assistant: ${GREETING}`]);
    expect(done.durationS).toBeGreaterThan(0.5);
    await harness.until(() => harness.hangUps.length === 1);
    expect(await recover(after, harness)).toBe(0);
    expect(harness.hangUps).toHaveLength(1);
  });

  it('leaves runs that last as long as their recording, and end when it ends', async () => {
    const harness = await held.harness.prepare();
    const begunAt = harness.clock.now();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.pass(7_000); // Nothing happens that would be an event.
    await harness.deps.events.flush();
    const talkedS = (harness.clock.now() - begunAt) / 1_000;
    const least = (talkedS - LOST_S_MAX) * RECORDED_BYTES_S;
    await harness.until(async () => (await recordedBytes(harness, run.id)) > least);
    harness.clock.stall(3_600_000);
    const before = await lengths('twilio');
    await recover(restarted(harness), harness);
    const done = await harness.run(run.id);
    const durationS = done.durationS ?? 0;
    expect(durationS).toBeGreaterThan(talkedS - LOST_S_MAX);
    expect(durationS).toBeLessThanOrEqual(talkedS);
    expect((done.endedAt?.getTime() ?? 0) - begunAt).toBeCloseTo(1_000 * durationS, -2);
    const heard = await harness.bodies(run, 'agent.said');
    expect(done.usageInfo).toMatchObject({
      call_duration_seconds: Math.round(durationS),
      stt: { [`${harness.stt.name}|||${harness.stt.model}`]: durationS },
      tts: { [`${harness.tts.name}|||${harness.tts.model}`]: heard[0]?.text.length },
    });
    const after = await lengths('twilio');
    expect(after.count - before.count).toBe(1);
    expect(after.sum - before.sum).toBeCloseTo(durationS, 3);
  });

  it('leaves runs without a recording that last as long as the provider reports', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.deps.events.flush();
    const entry = { status: 'completed', timestamp: '2026-01-15T09:00:42+00:00', duration: 42 };
    await harness.at.store.runs.appendCallback(run.id, 'ended', entry);
    const after = restarted(harness);
    after.files = { ...after.files, stat: () => Promise.resolve(undefined) };
    await recover(after, harness);
    expect((await harness.run(run.id)).durationS).toBeCloseTo(42, 0);
  });

  it('leaves calls that never talked: they end when the last was known of them', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.deps.events.flush();
    const dialledAt = harness.clock.now();
    harness.clock.stall(3_600_000);
    await recover(restarted(harness), harness);
    const done = await harness.run(runId);
    expect(done).toMatchObject({ disposition: 'system_connect_error', durationS: 0 });
    expect(done.endedAt?.getTime()).toBe(dialledAt);
  });

  it('leaves dialled calls that are hung up', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await recover(restarted(harness), harness);
    expect(await harness.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_connect_error',
    });
    await harness.until(() => harness.hangUps.length === 1);
  });

  it('does not keep the next one from starting while providers are slow', async () => {
    const harness = await held.harness.prepare();
    for (let n = 1; n <= 10; n++) await harness.ring(`CallSid=CA${n}`);
    harness.rest.answer = () => 'hang';
    expect(await recover(restarted(harness), harness)).toBe(10);
    await harness.until(() => harness.hangUps.length === 8);
    await harness.pass(5_100);
    await harness.until(() => harness.hangUps.length === 10);
    await harness.pass(5_100);
  });

  it('has one run that cannot be closed not block the others', async () => {
    const harness = await held.harness.prepare();
    await harness.ring('CallSid=CA1');
    await harness.ring('CallSid=CA2');
    const [first, second] = await harness.runs();
    const after = restarted(harness);
    const { patch } = after.store.runs;
    after.store.runs.patch = (id, change) =>
      id === first?.id ? Promise.reject(new Error('poison')) : patch(id, change);
    expect(await recover(after, harness)).toBe(1);
    expect((await harness.run(second?.id ?? '')).state).toBe('completed');
    after.store.runs.patch = patch;
  });

  it('has a call that had ended keep its own end', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    stream.hangUp();
    await harness.until(() => harness.callControl.activeCalls === 0);
    harness.deps.store.runs.patch = patch;
    await recover(restarted(harness), harness);
    const done = await harness.run(run.id);
    expect(done).toMatchObject({ state: 'completed', disposition: 'user_hangup' });
    expect(done.gatheredContext).not.toHaveProperty('error');
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
    expect(harness.hangUps).toEqual([]);
  });
});

describe('runs of other processes', () => {
  /** The database has answered for long enough. */
  const calm: Look = { hasDied: false, isCalm: true, nextMs: 30_000 };

  const disown = (harness: CallHarness, runId: string, node = 'gone') =>
    harness.at.sql('update runs set owner_node = $1 where id = $2', [node, runId]);

  /** Started before there was anything to close. */
  async function recovering(
    harness: CallHarness,
    look: () => Promise<Look> = () => Promise.resolve(calm),
    more: Partial<RecoveryDeps> = {},
  ): Promise<CrashRecovery> {
    const store = { ...harness.deps.store, nodes: { look, diallers: [] } };
    const recovery = new CrashRecovery({ ...harness.deps, ...more, store });
    await recovery.start();
    return recovery;
  }

  it('are closed when their process dies later, and our own continue', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness);
    await harness.pass(25_000);
    const { run: own, stream } = await harness.inboundCall({ callId: 'CA2' });
    const { runId } = await harness.start();
    await disown(harness, runId);
    await harness.pass(5_100);
    await harness.completed({ id: runId });
    await harness.until(() => harness.hangUps.length === 1);
    expect((await harness.run(own.id)).state).toBe('running');
    expect(stream.open).toBe(true);
    recovery.stop();
  });

  it('are closed at once when a death is known, and then looked for as ever', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness);
    const { runId } = await harness.start();
    await disown(harness, runId);
    recovery.wake();
    recovery.wake(); // One look is under way: another follows.
    await harness.completed({ id: runId });
    const { runId: later } = await harness.start();
    await disown(harness, later);
    await harness.pass(30_100);
    await harness.completed({ id: later });
    recovery.stop();
    recovery.wake();
  });

  it('are looked for no more once it stops', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness);
    const { runId } = await harness.start();
    await disown(harness, runId);
    recovery.stop();
    await harness.pass(60_100);
    expect((await harness.run(runId)).state).toBe('initialized');
    await harness.status(runId, 'CallStatus=busy');
  });

  it('are closed at once when a process was declared dead', async () => {
    const harness = await held.harness.prepare();
    let hasDied = false;
    const recovery = await recovering(harness, () =>
      Promise.resolve({ ...calm, hasDied, nextMs: 2_000 }),
    );
    const { runId } = await harness.start();
    await disown(harness, runId);
    await harness.pass(2_100);
    expect((await harness.run(runId)).state).toBe('initialized');
    hasDied = true;
    await harness.pass(2_100);
    await harness.completed({ id: runId });
    recovery.stop();
  });

  it('are left alone right after the store was away: the living could not report', async () => {
    const harness = await held.harness.prepare();
    let looks = 0;
    const recovery = await recovering(harness, () => {
      looks += 1;
      if (looks === 2) return Promise.reject(new Error('store away'));
      return Promise.resolve({ ...calm, isCalm: looks !== 3 });
    });
    const { runId } = await harness.start();
    await disown(harness, runId);
    await harness.pass(30_000);
    await harness.until(() => harness.errors.length === 1);
    recovery.wake();
    await harness.pass(30_000);
    await harness.until(() => looks === 3);
    recovery.wake();
    expect((await harness.run(runId)).state).toBe('initialized');
    await harness.pass(60_000);
    await harness.completed({ id: runId });
    recovery.stop();
  });

  it('wait for the question of a provider that asks, and are closed without one', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness);
    const resume = () => Promise.reject(new Error('Twilio asks'));
    recovery.serve({ answerAgain: () => Promise.resolve(false), resume });
    const { runId } = await harness.start();
    await disown(harness, runId);
    await harness.at.sql("update runs set state = 'running' where id = $1", [runId]);
    recovery.wake();
    await harness.until(async () => (await harness.deps.store.runs.owner(runId))?.isOwn === true);
    await harness.pass(5_000);
    expect((await harness.run(runId)).state).toBe('running');
    await harness.pass(2_000);
    await harness.completed({ id: runId });
    recovery.stop();
  });

  it('go on where their provider keeps the call', async () => {
    const harness = await held.harness.prepare();
    const twilio = harness.deps.providers.byName('twilio');
    if (twilio === undefined) throw new Error('no provider');
    const capabilities = { ...twilio.capabilities, afterMedia: 'stays' as const };
    const provider = { ...twilio, capabilities } as typeof twilio;
    const providers = { ...harness.deps.providers, byName: () => provider };
    const recovery = await recovering(harness, undefined, { providers });
    const asked: string[] = [];
    recovery.serve({
      answerAgain: () => Promise.resolve(false),
      resume: (id) => Promise.resolve(asked.push(id) === 1),
    });
    const runs = [await harness.start(), await harness.start()].map(({ runId }) => runId);
    for (const runId of runs) {
      await disown(harness, runId);
      await harness.at.sql("update runs set state = 'running' where id = $1", [runId]);
    }
    recovery.wake();
    await harness.completed({ id: runs[1] ?? '' });
    expect(asked).toEqual(runs);
    expect((await harness.run(runs[0] ?? '')).state).toBe('running');
    recovery.stop();
    await harness.at.sql("update runs set state = 'completed' where id = $1", [runs[0]]);
  });

  it('over a PBX wait for its connection, and are closed if it does not find them', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness, undefined, {
      providers: { ...harness.deps.providers, byName: () => harness.pbx },
    });
    const found: string[] = [];
    recovery.serve({
      answerAgain: () => Promise.resolve(false),
      resume: (id) => Promise.resolve(found.includes(id)),
    });
    const runs = [await harness.start(), await harness.start()].map(({ runId }) => runId);
    for (const runId of runs) {
      await disown(harness, runId);
      await harness.at.sql("update runs set state = 'running' where id = $1", [runId]);
    }
    recovery.wake();
    for (const runId of runs) {
      await harness.until(async () => (await harness.deps.store.runs.owner(runId))?.isOwn === true);
    }
    await harness.pass(14_000);
    expect((await harness.run(runs[1] ?? '')).state).toBe('running');
    found.push(runs[0] ?? '');
    await harness.pass(2_000);
    await harness.completed({ id: runs[1] ?? '' });
    expect((await harness.run(runs[0] ?? '')).state).toBe('running');
    recovery.stop();
    await harness.at.sql("update runs set state = 'completed' where id = $1", [runs[0]]);
  });

  it('that could not be closed are tried again, and hung up once', async () => {
    const harness = await held.harness.prepare();
    const recovery = await recovering(harness);
    const { runId } = await harness.start();
    await disown(harness, runId);
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await harness.pass(30_100);
    await harness.until(() => harness.errors.length === 1 && harness.hangUps.length === 1);
    harness.deps.store.runs.patch = patch;
    await harness.pass(30_100);
    await harness.completed({ id: runId });
    expect(harness.hangUps).toHaveLength(1);
    recovery.stop();
  });
});

describe('draining', () => {
  it('waits for a ringing phone until it is not answered', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    let drained = false;
    const draining = harness.callControl.drain(60_000).then(() => {
      drained = true;
    });
    await harness.pass(2_000);
    expect(drained).toBe(false);
    await harness.status(runId, 'CallStatus=no-answer&SequenceNumber=2');
    await harness.pass(200);
    await draining;
    expect(await harness.run(runId)).toMatchObject({ disposition: 'no-answer' });
    expect(harness.hangUps).toEqual([]);
  });

  it.each(['rings', 'was answered'])('hangs up what %s when the time is over', async (what) => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    if (what === 'was answered') await harness.pickUp(runId);
    const draining = harness.callControl.drain(2_000);
    await harness.pass(2_100);
    await draining;
    expect(await harness.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_cancelled',
    });
    expect(harness.hangUps).toHaveLength(1);
    await harness.pass(160_000);
  });

  it('does not wait for calls that could not be placed', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = () => ({ status: 400, body: { code: 21211, message: 'no number' } });
    await expect(harness.start()).rejects.toThrow();
    await harness.callControl.drain(60_000);
  });

  it('waits for the calls under way and takes no new one', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    let drained = false;
    const draining = harness.callControl.drain(60_000).then(() => {
      drained = true;
    });
    await harness.heardOut(stream);
    expect(drained).toBe(false);
    expect((await harness.ring('CallSid=CA2')).body).toContain('busy');
    stream.hangUp();
    await harness.ended(run);
    await harness.pass(200);
    await draining;
    expect((await harness.run(run.id)).disposition).toBe('user_hangup');
  });

  it('allows a ringing phone to be answered', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const draining = harness.callControl.drain(60_000);
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    stream.hangUp();
    expect((await harness.ended({ id: runId })).disposition).toBe('user_hangup');
    await harness.pass(200);
    await draining;
  });

  it('ends and hangs up what is left when the time is over', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    const draining = harness.callControl.drain(2_000);
    await harness.pass(2_100);
    await draining;
    const done = await harness.ended(run);
    expect(done.disposition).toBe('system_cancelled');
    expect(harness.hangUps).toHaveLength(1);
    expect(stream.closed?.code).toBe(1000);
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
  });
});
