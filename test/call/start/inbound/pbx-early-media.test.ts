// Calls that are heard before anybody answers: what sounds there is recorded, the call rings all the same,
// and its agent begins when somebody answers.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { CallStatus } from '../../../../src/model/provider.ts';
import type { FakeConnection } from '../../../fakes/call/fake-pbx.ts';
import { type CallHarness, chat, GOODBYE, GREETING, withCallHarness } from '../../call-harness.ts';
import type { Stream } from '../../stream.ts';
import { readWav } from '../../wav-reader.ts';
import { mediaOf, withPbx } from './pbx-harness.ts';

const held = withCallHarness();

interface Heard {
  harness: CallHarness;
  pbx: FakeConnection;
  runId: string;
  callId: string;
  stream: Stream;
}

/** It rings, and an announcement is heard. */
async function heard(harness: CallHarness): Promise<Heard> {
  const pbx = await withPbx(harness);
  const { runId } = await harness.start();
  const callId = `o${runId}`;
  pbx.status(callId, 'ringing', { runId });
  pbx.earlyMedia(runId);
  const stream = await mediaOf(harness, callId);
  stream.line = 'voice';
  return { harness, pbx, runId, callId, stream };
}

async function answer({ harness, pbx, runId, callId, stream }: Heard): Promise<void> {
  stream.line = 'silence';
  pbx.status(callId, 'in-progress', { runId });
  pbx.answer(runId);
  await harness.until(async () => (await harness.run(runId)).state === 'running');
}

describe('a call that is heard while it rings', () => {
  it('rings: its agent neither listens nor speaks during any early media', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, pbx, runId, callId, stream } = at;
    await harness.pass(20_000);
    expect(await harness.run(runId)).toMatchObject({ state: 'initialized', startedAt: null });
    expect(stream.frames).toBe(0);
    expect(harness.stt.expectation).toBeUndefined();
    const steps = await harness.bodies({ id: runId }, 'call.status');
    expect(steps.map(({ status }) => status)).toEqual(['ringing']);
    pbx.status(callId, 'no-answer', { runId });
    await harness.ended({ id: runId });
  });

  it('begins when it is answered, and its talk is counted from there', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, stream } = at;
    await harness.pass(5_000);
    await answer(at);
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    const [recording] = await harness.bodies(done, 'recording.finished');
    const recordedS = recording?.seconds ?? 0;
    expect(recordedS - (done.durationS ?? 0)).toBeCloseTo(5, 0);
    const [recognition] = await harness.bodies(done, 'recognition.usage');
    expect(recognition?.seconds).toBe(done.durationS);
    expect(at.pbx.opened).toEqual([at.callId]);
    expect(harness.errors).toEqual([]);
  });

  it('leaves what was heard in its recording', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, stream, callId } = at;
    await harness.pass(2_000);
    stream.line = 'silence';
    await harness.pass(1_000);
    at.pbx.status(callId, 'no-answer', { runId });
    const done = await harness.ended({ id: runId });
    const recording = readWav(await harness.deps.files.readAll(done.recordingKey ?? ''));
    expect(recording.seconds).toBeCloseTo(3, 1);
    expect(recording.loud('left', 1_000)).toBe(true);
    expect(recording.loud('left', 2_500)).toBe(false);
    expect(recording.loud('right', 1_000)).toBe(false);
  });

  it.each<[CallStatus, string]>([
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ])('and ends as %s is closed as %s, without a talk', async (status, disposition) => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, callId, pbx } = at;
    await harness.pass(2_000);
    pbx.status(callId, status, { runId });
    pbx.end(callId);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ disposition, durationS: 0, startedAt: null });
    expect(done.gatheredContext).toMatchObject({
      call_tags: ['not_connected', `telephony_${disposition}`],
    });
    expect(await harness.at.store.runs.countOpen()).toBe(0);
    expect(harness.pbx.hangUps).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('and whose media are gone first is closed as the PBX says a moment later', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, callId, pbx } = at;
    pbx.end(callId);
    await harness.pass(500);
    pbx.status(callId, 'busy', { runId });
    expect(await harness.ended({ id: runId })).toMatchObject({ disposition: 'busy' });
  });

  it('and without an event for its end was not answered', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, callId, pbx } = at;
    pbx.end(callId);
    await harness.passThrough(async () => (await harness.run(runId)).state === 'completed');
    expect(await harness.ended({ id: runId })).toMatchObject({ disposition: 'no-answer' });
  });

  it('is hung up by a client', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, runId, callId } = at;
    await harness.callControl.hangUp({ organizationId: harness.at.owner.organizationId, runId });
    expect(await harness.ended({ id: runId })).toMatchObject({
      disposition: 'system_cancelled',
      durationS: 0,
    });
    expect(harness.pbx.hangUps).toEqual([callId]);
  });

  it('may ring for longer than its agent waits for a word, or talks', async () => {
    const settings = { max_user_idle_timeout: 10, max_call_duration: 30 };
    const at = await heard(await held.harness.prepare(chat, settings));
    const { harness, runId, stream } = at;
    await harness.pass(50_000);
    expect((await harness.run(runId)).state).toBe('initialized');
    await answer(at);
    await harness.heardOut(stream);
    await harness.pass(5_000);
    expect((await harness.run(runId)).state).toBe('running');
  });

  it('is answered while its media are being opened: they are opened once', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    let open = (): void => undefined;
    pbx.onOpen = () => new Promise((resolve) => (open = resolve));
    const { runId } = await harness.start();
    pbx.earlyMedia(runId);
    await harness.until(() => pbx.opened.length === 1);
    pbx.answer(runId);
    open();
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    expect(pbx.opened).toHaveLength(1);
    expect((await harness.run(runId)).state).toBe('running');
  });

  // Its media were waited for as long as any, 15 s, in silence.
  it('and whose media are not opened by the answer gets others a second later', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.onOpen = () => new Promise(() => undefined);
    const { runId } = await harness.start();
    pbx.earlyMedia(runId);
    await harness.until(() => pbx.opened.length === 1);
    await harness.pass(3_000);
    pbx.onOpen = () => Promise.resolve();
    pbx.answer(runId);
    await harness.pass(1_500);
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    expect(pbx.opened).toHaveLength(2);
    expect((await harness.run(runId)).state).toBe('running');
    expect(harness.pbx.hangUps).toEqual([]);
  });

  it('that cannot be heard rings on, and talks when it is answered', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.onOpen = () => Promise.reject(new GatewayError('PBX_MEDIA', { reason: 'refused' }));
    const { runId } = await harness.start();
    pbx.earlyMedia(runId);
    await harness.until(() => pbx.opened.length === 1 && harness.callControl.pbxLines.busy === 0);
    expect(harness.pbx.hangUps).toEqual([]);
    pbx.onOpen = () => Promise.resolve();
    pbx.answer(runId);
    const stream = await mediaOf(harness, `o${runId}`);
    await harness.heardOut(stream);
    expect(harness.errors).toEqual([]);
  });

  it('whose answer cannot be stored is ended', async () => {
    const at = await heard(await held.harness.prepare());
    const { harness, pbx, runId } = at;
    const { patch } = harness.deps.store.runs;
    let isAway = true;
    Object.assign(harness.deps.store.runs, {
      patch: (...args: Parameters<typeof patch>) => {
        if (!isAway) return patch(...args);
        isAway = false;
        return Promise.reject(new Error('away'));
      },
    });
    pbx.answer(runId);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ disposition: 'system_connect_error', durationS: 0 });
    expect(harness.pbx.hangUps).toEqual([at.callId]);
  });
});
