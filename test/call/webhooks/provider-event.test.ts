// Status callbacks: whatever is delivered, in whatever order and however often, a run moves forward
// once. Source: contract §7.6; providers §10 item 36.

import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  CALL,
  type CallHarness,
  drinks,
  PUBLIC_URL,
  signed,
  withCallHarness,
} from '../call-harness.ts';

const held = withCallHarness();

const callbacks = async (harness: CallHarness, runId: string) => {
  const { logs } = await harness.run(runId);
  return (logs['telephony_status_callbacks'] ?? []) as Record<string, unknown>[];
};

describe('a status callback', () => {
  it('is kept once, however often it is delivered', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    for (let n = 0; n < 3; n++) await harness.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    const reply = await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    expect(reply).toMatchObject({ status: 200, body: '{"status":"success"}' });
    expect((await callbacks(harness, runId)).map(({ status }) => status)).toEqual([
      'ringing',
      'in-progress',
    ]);
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  it('is a fact of its call when it is a step forward, and only then', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await harness.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await harness.status(runId, 'CallStatus=busy&SequenceNumber=3');
    await harness.status(runId, 'CallStatus=failed&SequenceNumber=4');
    const facts = await harness.bodies({ id: runId }, 'call.status');
    expect(facts.map(({ status, callId }) => [status, callId])).toEqual([
      ['in-progress', CALL],
      ['busy', CALL],
    ]);
    expect((await callbacks(harness, runId)).map(({ status }) => status)).toHaveLength(4);
  });

  it('is no fact of a call that another process runs', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const { createCallControl } = await import('../../../src/app/call-parts.ts');
    const other = createCallControl(harness.deps);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=ringing&SequenceNumber=1`;
    await other.event('twilio', runId, signed(url, form));
    expect(await callbacks(harness, runId)).toHaveLength(1);
    expect(await harness.bodies({ id: runId }, 'call.status')).toEqual([]);
  });

  // Each of two read the run before the other's status was stored, and the last one to be stored counted.
  it('leaves the furthest status also where several come at the same moment', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = { status: 200, body: { sid: CALL, status: 'queued' } };
    const { runId } = await harness.start();
    await Promise.all(
      ['in-progress&SequenceNumber=2', 'ringing&SequenceNumber=1'].map((status) =>
        harness.status(runId, `CallStatus=${status}`),
      ),
    );
    expect((await harness.run(runId)).gatheredContext['provider_status']).toBe('in-progress');
  });

  it("moves the provider's status of its run, and never back", async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const told = async () => (await harness.run(runId)).gatheredContext['provider_status'];
    expect(await told()).toBe('queued');
    await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await harness.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    expect(await told()).toBe('in-progress');
    await harness.status(runId, 'CallStatus=busy&SequenceNumber=3');
    expect(await told()).toBe('busy');
  });

  it('changes the status of no call that is over, and none of another leg', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const told = async () => (await harness.run(runId)).gatheredContext['provider_status'];
    await harness.status(runId, 'CallStatus=ringing&SequenceNumber=1', 'CA-of-a-transfer');
    expect(await told()).toBe('queued');
    await harness.at.store.runs.patch(runId, { state: 'completed' });
    await harness.status(runId, 'CallStatus=completed&SequenceNumber=2');
    expect(await told()).toBe('queued');
    expect(await callbacks(harness, runId)).toHaveLength(2);
  });

  it('is ignored for a run that does not exist', async () => {
    const harness = await held.harness.prepare();
    const reply = await harness.status('999999', 'CallStatus=completed');
    expect(JSON.parse(reply.body)).toEqual({ status: 'ignored', reason: 'unknown_run' });
  });

  it('that is not signed is refused alike for every id', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=completed`;
    for (const account of [form, form.replace(ACCOUNT, 'AC9'), 'CallSid=x']) {
      for (const id of [runId, '999999', 'x', '']) {
        const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${id}`;
        const forged = signed(url, account, 'another token');
        for (const asked of ['event', 'answer'] as const) {
          await expect(harness.callControl[asked]('twilio', id, forged)).rejects.toMatchObject({
            code: 'WEBHOOK_SIGNATURE',
          });
        }
      }
    }
  });

  it('of a run of another account is as one of no run', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const { telephony } = harness.at.store;
    const theirs = { account_sid: 'AC77', auth_token: 'their token' };
    await telephony.createConfiguration(harness.at.owner.organizationId, {
      name: 'theirs',
      provider: 'twilio',
      isDefaultOutbound: false,
      accountId: 'AC77',

      credentials: { provider: 'twilio', ...theirs },
      secretFields: ['auth_token'],
    });
    const form = `CallSid=${CALL}&AccountSid=AC77&CallStatus=completed`;
    for (const id of [runId, '999999']) {
      const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${id}`;
      const sent = signed(url, form, theirs.auth_token);
      const reply = await harness.callControl.event('twilio', id, sent);
      expect(JSON.parse(reply.body)).toEqual({ status: 'ignored', reason: 'unknown_run' });
      await expect(harness.callControl.answer('twilio', id, sent)).rejects.toMatchObject({
        code: 'RUN_NOT_FOUND',
      });
    }
    expect(await callbacks(harness, runId)).toEqual([]);
  });

  it('that is forged is refused and leaves no trace', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=completed`;
    const forged = [
      signed(url, form, 'another token'),
      { ...signed(url, form), formAll: { ...signed(url, form).formAll, extra: ['1'] } },
      signed(url.replace(/\d+$/, '1'), form, 'another token'),
    ];
    for (const request of forged) {
      await expect(harness.callControl.event('twilio', runId, request)).rejects.toMatchObject({
        code: 'WEBHOOK_SIGNATURE',
      });
    }
    expect(await callbacks(harness, runId)).toEqual([]);
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  it.each(['busy', 'no-answer', 'failed', 'canceled'])(
    '%s before any media closes the run with its tags',
    async (status) => {
      const harness = await held.harness.prepare();
      const { runId } = await harness.start();
      await harness.status(runId, `CallStatus=${status}&SequenceNumber=2&CallDuration=0`);
      const run = await harness.run(runId);
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
      expect(harness.hangUps).toEqual([]);
    },
  );

  it('that is terminal and comes first, late or twice ends the run once', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await Promise.all([
      harness.status(runId, 'CallStatus=busy&SequenceNumber=3'),
      harness.status(runId, 'CallStatus=busy&SequenceNumber=3'),
      harness.status(runId, 'CallStatus=failed&SequenceNumber=4'),
    ]);
    await harness.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await harness.status(runId, 'CallStatus=completed&SequenceNumber=5');
    const run = await harness.run(runId);
    const ends = await harness.bodies(run, 'call.ended');
    expect(ends).toHaveLength(1);
    expect(run).toMatchObject({ state: 'completed', disposition: ends[0]?.reason });
    expect(await callbacks(harness, runId)).toHaveLength(4);
    expect((await harness.pickUp(runId)).body).not.toContain('<Stream');
  });

  it('completed without any media means that the call did not reach us', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.pickUp(runId);
    await harness.status(runId, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    expect(await harness.run(runId)).toMatchObject({
      state: 'completed',
      disposition: 'system_connect_error',
    });
    expect(harness.hangUps).toEqual([]);
  });

  it('completed makes up for a lost close of the socket', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.line = 'nothing';
    await harness.status(run.id, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    await harness.pass(1_000);
    expect((await harness.run(run.id)).state).toBe('running');
    await harness.pass(2_100);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_hangup');
    expect(stream.closed?.code).toBe(1000);
    expect(harness.hangUps).toEqual([]);
  });

  it('completed after the socket closed changes nothing', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    await harness.status(run.id, 'CallStatus=completed&SequenceNumber=3&CallDuration=4');
    await harness.pass(4_000);
    const after = await harness.run(run.id);
    expect({ ...after, logs: null }).toEqual({ ...done, logs: null });
    expect(await callbacks(harness, run.id)).toHaveLength(1);
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
  });

  it('of another leg does not end the run', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.status(runId, 'CallStatus=busy&SequenceNumber=1', 'CA-other-leg');
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  it('is not lost when the store fails half-way: its repetition closes the run', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await expect(harness.status(runId, 'CallStatus=busy&SequenceNumber=2')).rejects.toThrow();
    harness.deps.store.runs.patch = patch;
    await harness.status(runId, 'CallStatus=busy&SequenceNumber=2');
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
    expect(await harness.bodies({ id: runId }, 'call.ended')).toHaveLength(1);
  });
});

describe('who answered', () => {
  const verdict = (harness: CallHarness, runId: string) => {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answered-by/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&AnsweredBy=machine_start`;
    return harness.callControl.event('twilio', runId, signed(url, form));
  };

  it('is kept with a call under way', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await verdict(harness, run.id);
    await verdict(harness, run.id);
    stream.hangUp();
    const done = await harness.ended(run);
    expect(done.gatheredContext['answered_by']).toBe('machine_start');
    expect(await harness.bodies(run, 'call.answered-by')).toHaveLength(1);
  });

  it('ends the call of an agent that does not talk to machines, also if it comes before the media', async () => {
    const harness = await held.harness.prepare(drinks, { voicemail_detection: { enabled: true } });
    const { runId } = await harness.start();
    const reply = await harness.pickUp(runId);
    await verdict(harness, runId);
    (await harness.connect(reply)).start();
    const done = await harness.ended({ id: runId });
    expect(done.disposition).toBe('voicemail_detected');
    expect(harness.hangUps).toHaveLength(1);
  });

  it('is kept when it comes before the media', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await verdict(harness, runId);
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended({ id: runId });
    expect(done.gatheredContext['answered_by']).toBe('machine_start');
  });
});
