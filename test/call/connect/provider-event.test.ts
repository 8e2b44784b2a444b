// Status callbacks: whatever is delivered, in whatever order and however often, a run moves forward
// once. Source: contract §7.6; providers §10 item 36.

import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  CALL,
  type CallRoom,
  drinks,
  PUBLIC_URL,
  signed,
  withCallRoom,
} from '../call-harness.ts';

const held = withCallRoom();

const callbacks = async (room: CallRoom, runId: string) => {
  const { logs } = await room.run(runId);
  return (logs['telephony_status_callbacks'] ?? []) as Record<string, unknown>[];
};

describe('a status callback', () => {
  it('is kept once, however often it is delivered', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    for (let n = 0; n < 3; n++) await room.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    const reply = await room.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    expect(reply).toMatchObject({ status: 200, body: '{"status":"success"}' });
    expect((await callbacks(room, runId)).map(({ status }) => status)).toEqual([
      'ringing',
      'in-progress',
    ]);
    expect((await room.run(runId)).state).toBe('initialized');
  });

  it('is a fact of its call when it is a step forward, and only then', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await room.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    await room.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await room.status(runId, 'CallStatus=busy&SequenceNumber=3');
    await room.status(runId, 'CallStatus=failed&SequenceNumber=4');
    const facts = await room.bodies({ id: runId }, 'call.status');
    expect(facts.map(({ status, callId }) => [status, callId])).toEqual([
      ['in-progress', CALL],
      ['busy', CALL],
    ]);
    expect((await callbacks(room, runId)).map(({ status }) => status)).toHaveLength(4);
  });

  it('is no fact of a call that another process runs', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const { createCallControl } = await import('../../../src/app/call-parts.ts');
    const other = createCallControl(room.deps);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=ringing&SequenceNumber=1`;
    await other.event('twilio', runId, signed(url, form));
    expect(await callbacks(room, runId)).toHaveLength(1);
    expect(await room.bodies({ id: runId }, 'call.status')).toEqual([]);
  });

  it('is ignored for a run that does not exist', async () => {
    const room = await held.room.prepare();
    const reply = await room.status('999999', 'CallStatus=completed');
    expect(JSON.parse(reply.body)).toEqual({ status: 'ignored', reason: 'unknown_run' });
  });

  it('that is forged is refused and leaves no trace', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=completed`;
    const forged = [
      signed(url, form, 'another token'),
      { ...signed(url, form), ...{ formAll: { ...signed(url, form).formAll, extra: ['1'] } } },
      signed(url.replace(/\d+$/, '1'), form, 'another token'),
    ];
    for (const request of forged) {
      await expect(room.switchboard.event('twilio', runId, request)).rejects.toMatchObject({
        code: 'WEBHOOK_SIGNATURE',
      });
    }
    expect(await callbacks(room, runId)).toEqual([]);
    expect((await room.run(runId)).state).toBe('initialized');
  });

  it.each(['busy', 'no-answer', 'failed', 'canceled'])(
    '%s before any media closes the run with its tags',
    async (status) => {
      const room = await held.room.prepare();
      const { runId } = await room.start();
      await room.status(runId, `CallStatus=${status}&SequenceNumber=2&CallDuration=0`);
      const run = await room.run(runId);
      expect(run).toMatchObject({
        state: 'completed',
        disposition: status,
        durationS: 0,
        recordingKey: null,
        transcriptKey: null,
        usageInfo: { call_duration_seconds: 0 },
      });
      expect(run.gatheredContext).toMatchObject({
        call_disposition: status,
        mapped_call_disposition: status,
        call_tags: ['not_connected', `telephony_${status}`],
        call_id: CALL,
        provider: 'twilio',
      });
      expect(room.hangUps).toEqual([]);
    },
  );

  it('that is terminal and comes first, late or twice ends the run once', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await Promise.all([
      room.status(runId, 'CallStatus=busy&SequenceNumber=3'),
      room.status(runId, 'CallStatus=busy&SequenceNumber=3'),
      room.status(runId, 'CallStatus=failed&SequenceNumber=4'),
    ]);
    await room.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await room.status(runId, 'CallStatus=completed&SequenceNumber=5');
    const run = await room.run(runId);
    const ends = await room.bodies(run, 'call.ended');
    expect(ends).toHaveLength(1);
    expect(run).toMatchObject({ state: 'completed', disposition: ends[0]?.reason });
    expect(await callbacks(room, runId)).toHaveLength(4);
    expect((await room.pickUp(runId)).body).not.toContain('<Stream');
  });

  it('completed without any media means that the call did not reach us', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.pickUp(runId);
    await room.status(runId, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    expect(await room.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_connect_error',
    });
    expect(room.hangUps).toEqual([]);
  });

  it('completed makes up for a lost close of the socket', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    stream.line = 'nothing';
    await room.status(run.id, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    await room.pass(1_000);
    expect((await room.run(run.id)).state).toBe('running');
    await room.pass(2_100);
    const done = await room.ended(run);
    expect(done.disposition).toBe('user_hangup');
    expect(stream.closed?.code).toBe(1000);
    expect(room.hangUps).toEqual([]);
  });

  it('completed after the socket closed changes nothing', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    stream.hangUp();
    const done = await room.ended(run);
    await room.status(run.id, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    await room.pass(4_000);
    const after = await room.run(run.id);
    expect({ ...after, logs: null }).toEqual({ ...done, logs: null });
    expect(await callbacks(room, run.id)).toHaveLength(1);
    expect(await room.bodies(run, 'call.ended')).toHaveLength(1);
  });

  it('of another leg does not end the run', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.status(runId, 'CallStatus=busy&SequenceNumber=1', 'CA-other-leg');
    expect((await room.run(runId)).state).toBe('initialized');
  });

  it('is not lost when the store fails half-way: its repetition closes the run', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const { patch } = room.deps.store.runs;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await expect(room.status(runId, 'CallStatus=busy&SequenceNumber=2')).rejects.toThrow();
    room.deps.store.runs.patch = patch;
    await room.status(runId, 'CallStatus=busy&SequenceNumber=2');
    expect(await room.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
    expect(await room.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
  });
});

describe('who answered', () => {
  const verdict = (room: CallRoom, runId: string) => {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answered-by/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&AnsweredBy=machine_start`;
    return room.switchboard.event('twilio', runId, signed(url, form));
  };

  it('is kept with a call under way', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await room.inboundCall();
    await verdict(room, run.id);
    await verdict(room, run.id);
    stream.hangUp();
    const done = await room.ended(run);
    expect(done.gatheredContext['answered_by']).toBe('machine_start');
    expect(await room.bodies(run, 'call.answered-by')).toHaveLength(1);
  });

  it('ends the call of an agent that does not talk to machines, also if it comes before the media', async () => {
    const room = await held.room.prepare(drinks, { voicemail_detection: { enabled: true } });
    const { runId } = await room.start();
    const reply = await room.pickUp(runId);
    await verdict(room, runId);
    (await room.connect(reply)).start();
    const done = await room.ended({ id: runId });
    expect(done.disposition).toBe('voicemail_detected');
    expect(room.hangUps).toHaveLength(1);
  });

  it('is kept when it comes before the media', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await verdict(room, runId);
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    stream.hangUp();
    const done = await room.ended({ id: runId });
    expect(done.gatheredContext['answered_by']).toBe('machine_start');
  });
});
