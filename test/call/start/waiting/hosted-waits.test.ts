// Callers of a hosted provider who find all places taken: they wait in a line, go to another number, or are refused.

import { beforeEach, describe, expect, it } from 'vitest';
import { explainRun } from '../../../../src/call/why/explain-run.ts';
import { waits } from '../../../../src/metrics/metrics.ts';
import { type OverflowPolicy, overflowPolicy } from '../../../../src/model/overflow.ts';
import type { WebhookReply } from '../../../../src/telephony/provider/provider.ts';
import {
  ACCOUNT,
  type CallHarness,
  mediaUrlIn,
  PUBLIC_URL,
  signed,
  withCallHarness,
} from '../../call-harness.ts';
import { withSecondGateway } from '../../second-gateway.ts';

const held = withCallHarness();
const second = withSecondGateway();
const FALLBACK = /<Number [^>]*>\+14155550199<\/Number>/;
const BUSY = '<Reject reason="busy"/>';
const policyOf = (fields: Partial<OverflowPolicy> = {}) =>
  overflowPolicy.parse({ mode: 'wait', announcement: 'Please hold.', ...fields });
const call = (number: number) => `CA${String(number).padStart(32, '0')}`;

/** An agent with one place, and a caller who has it. */
async function full(policy: OverflowPolicy | null, harness = held.harness): Promise<CallHarness> {
  await harness.prepare();
  const { organizationId } = harness.at.owner;
  await harness.at.sql('update organizations set concurrent_call_limit = 1 where id = $1', [
    organizationId,
  ]);
  const { id } = harness.configuration;
  await harness.at.store.telephony.updateConfiguration(organizationId, id, { overflow: policy });
  await harness.inboundCall({ callId: call(1) });
  return harness;
}

const ring = (harness: CallHarness, number: number): Promise<WebhookReply> =>
  harness.ring(`CallSid=${call(number)}`);

/** The provider asks what to do next with the run's call. */
function ask(harness: CallHarness, runId: string, number: number): Promise<WebhookReply> {
  const url = `${PUBLIC_URL}/api/v1/telephony/twilio/wait/${runId}`;
  const form = `CallSid=${call(number)}&AccountSid=${ACCOUNT}&CallStatus=in-progress`;
  return harness.callControl.wait('twilio', runId, signed(url, form));
}

async function runOf(harness: CallHarness, number: number) {
  const all = await harness.runs();
  const found = all.find(({ providerCallId }) => providerCallId === call(number));
  if (found === undefined) throw new Error('no run');
  return found;
}

async function hangUpFirst(harness: CallHarness): Promise<void> {
  const [stream] = harness.streams;
  stream?.lose();
  await harness.completed(await runOf(harness, 1));
}

async function outcomes(): Promise<Record<string, number>> {
  const { values } = await waits.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
}

beforeEach(() => waits.reset());

describe('a caller who finds all places taken', () => {
  it('is refused as busy without a policy, and leaves no run', async () => {
    const harness = await full(null);
    expect((await ring(harness, 2)).body).toContain(BUSY);
    expect(await harness.runs()).toHaveLength(1);
  });

  it('waits with an announcement and a sound, and talks with the agent once a place is free', async () => {
    const harness = await full(policyOf());
    const reply = await ring(harness, 2);
    const run = await runOf(harness, 2);
    const again = `${PUBLIC_URL}/api/v1/telephony/twilio/wait/${run.id}`;
    expect(reply.body).toContain(
      `<Response><Say>Please hold.</Say><Play>${PUBLIC_URL}/api/v1/telephony/waiting-sound.wav</Play>` +
        `<Redirect method="POST">${again}</Redirect></Response>`,
    );
    expect(run).toMatchObject({ state: 'initialized', callType: 'inbound' });
    const later = await ask(harness, run.id, 2);
    expect(later.body).toContain('<Play>');
    expect(later.body).not.toContain('<Say>');
    await hangUpFirst(harness);
    await harness.pass(4_000);
    const answer = await ask(harness, run.id, 2);
    expect(answer.body).toContain('<Stream');
    const stream = await harness.connectTo(mediaUrlIn(answer), { callId: call(2) });
    stream.start();
    await harness.heardOut(stream);
    stream.lose();
    const done = await harness.ended(run);
    expect(done.gatheredContext).toMatchObject({ wait_outcome: 'admitted', waited_seconds: 4 });
    const types = (await harness.events(run)).map(({ body }) => body.type);
    expect(types.slice(0, 4)).toEqual([
      'call.created',
      'wait.began',
      'wait.ended',
      'media.started',
    ]);
    expect((await harness.bodies(run, 'wait.ended'))[0]).toMatchObject({ outcome: 'admitted' });
    expect(await outcomes()).toEqual({ admitted: 1 });
    expect(harness.errors).toEqual([]);
  });

  it('hears the announcement again after its interval', async () => {
    const harness = await full(policyOf({ announce_every_seconds: 10 }));
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    harness.clock.advance(9_000);
    expect((await ask(harness, run.id, 2)).body).not.toContain('<Say>');
    harness.clock.advance(1_500);
    expect((await ask(harness, run.id, 2)).body).toContain('<Say>Please hold.</Say>');
    harness.clock.advance(2_000);
    expect((await ask(harness, run.id, 2)).body).not.toContain('<Say>');
  });

  it('is served before those who came later, and before new calls and starts of clients', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    await ring(harness, 3);
    const [first, next] = [await runOf(harness, 2), await runOf(harness, 3)];
    await hangUpFirst(harness);
    await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
    expect((await ring(harness, 4)).body).toContain('<Play>');
    expect((await ask(harness, next.id, 3)).body).toContain('<Play>');
    expect((await ask(harness, first.id, 2)).body).toContain('<Stream');
    expect((await ask(harness, next.id, 3)).body).toContain('<Play>');
  });

  it('does not delay those behind for long after a hang-up that the provider does not report', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    await ring(harness, 3);
    const next = await runOf(harness, 3);
    await hangUpFirst(harness);
    await harness.at.sql(
      `update waiting_calls set seen_until = clock_timestamp() - interval '1 second' where run_id = $1`,
      [(await runOf(harness, 2)).id],
    );
    expect((await ask(harness, next.id, 3)).body).toContain('<Stream');
  });

  it('leaves a run of its own when it hangs up while it waits', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    harness.clock.advance(20_000);
    await harness.status(run.id, 'CallStatus=completed&CallbackSource=call-progress', call(2));
    const done = await harness.completed(run);
    expect(done).toMatchObject({ disposition: 'user_hangup', durationS: 0 });
    expect(done.gatheredContext).toMatchObject({ wait_outcome: 'abandoned', waited_seconds: 20 });
    expect(await harness.at.sql('select run_id from waiting_calls')).toEqual([]);
    expect(await outcomes()).toEqual({ abandoned: 1 });
    const why = await explainRun(harness.at.store, done);
    expect(why).toMatchObject({ party: 'gateway', isFinal: true });
    expect(why.summary).toContain('waited 20 s');
  });

  it('is ended by the sweep if nobody asks for it any more', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    await harness.at.sql(
      `update waiting_calls set seen_until = clock_timestamp() - interval '1 hour'`,
    );
    await harness.callControl.startJobs({ hasPbxs: false });
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    expect((await harness.run(run.id)).gatheredContext).toMatchObject({
      wait_outcome: 'abandoned',
    });
  });

  it('hears a goodbye after the longest wait, and the call ends as busy', async () => {
    const harness = await full(policyOf({ wait_seconds_max: 60, goodbye: 'Call again later.' }));
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    harness.clock.advance(61_000);
    const reply = await ask(harness, run.id, 2);
    expect(reply.body).toContain('<Response><Say>Call again later.</Say><Hangup/></Response>');
    expect(await harness.completed(run)).toMatchObject({ disposition: 'busy' });
    expect((await ask(harness, run.id, 2)).body).toContain('<Hangup/>');
    expect(await outcomes()).toEqual({ timeout: 1 });
  });

  it('goes to the fallback number after the longest wait', async () => {
    const more = { otherwise: 'fallback', fallback_number: '+14155550199' } as const;
    const harness = await full(policyOf({ wait_seconds_max: 60, ...more }));
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    harness.clock.advance(61_000);
    const reply = await ask(harness, run.id, 2);
    expect(reply.body).toContain('<Dial callerId="+14155550101" timeout="60">');
    expect(reply.body).toMatch(FALLBACK);
    const done = await harness.completed(run);
    expect(done).toMatchObject({ disposition: 'call_transferred' });
    expect(done.gatheredContext).toMatchObject({ wait_outcome: 'forwarded' });
  });

  it('goes to the fallback number at once with that mode, and takes no place', async () => {
    const harness = await full(policyOf({ mode: 'fallback', fallback_number: '+14155550199' }));
    expect((await ring(harness, 2)).body).toMatch(FALLBACK);
    await harness.completed(await runOf(harness, 2));
    await hangUpFirst(harness);
    expect((await ring(harness, 3)).body).toContain('<Stream');
  });

  it('is refused when the line is full, or goes to the fallback number', async () => {
    const harness = await full(policyOf({ callers_max: 1 }));
    await ring(harness, 2);
    expect((await ring(harness, 3)).body).toContain(BUSY);
    expect(await outcomes()).toEqual({ full: 1 });
    const { organizationId } = harness.at.owner;
    const more = {
      callers_max: 1,
      otherwise: 'fallback',
      fallback_number: '+14155550199',
    } as const;
    await harness.at.store.telephony.updateConfiguration(organizationId, harness.configuration.id, {
      overflow: policyOf(more),
    });
    expect((await ring(harness, 4)).body).toMatch(FALLBACK);
  });

  it("follows the number's own policy in place of the configuration's", async () => {
    const harness = await full(policyOf());
    await harness.at.store.telephony.updateNumber(harness.configuration.id, harness.number.id, {
      overflow: overflowPolicy.parse({ mode: 'busy' }),
    });
    expect((await ring(harness, 2)).body).toContain(BUSY);
  });

  it('keeps its place when its webhook comes twice', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    expect((await ring(harness, 2)).body).toContain('<Play>');
    expect(await harness.runs()).toHaveLength(2);
  });

  it('is served by another gateway when the one that let it wait has died', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    await hangUpFirst(harness);
    const other = await second.beside(harness);
    const answer = await ask(other, run.id, 2);
    expect(answer.body).toContain('<Stream');
    const stream = await other.connectTo(mediaUrlIn(answer), { callId: call(2) });
    stream.start();
    await other.heardOut(stream);
    expect(await other.run(run.id)).toMatchObject({ state: 'running' });
    const types = (await other.events(run)).map(({ body }) => body.type);
    expect(types.slice(0, 3)).toEqual(['call.created', 'wait.began', 'wait.ended']);
  });

  it('is connected when the reply that gave it its place was lost', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    await hangUpFirst(harness);
    await ask(harness, run.id, 2);
    const again = await ask(harness, run.id, 2);
    expect(again.body).toContain('<Stream');
    await harness.connectTo(mediaUrlIn(again), { callId: call(2) });
  });

  it('is hung up for an API client, as any call', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    const { organizationId } = harness.at.owner;
    await harness.callControl.hangUp({ organizationId, runId: run.id });
    expect(await harness.completed(run)).toMatchObject({ disposition: 'system_cancelled' });
    expect(harness.hangUps).toHaveLength(1);
    expect(await harness.at.sql('select run_id from waiting_calls')).toEqual([]);
  });

  it('asks in vain without a signature of its account', async () => {
    const harness = await full(policyOf());
    await ring(harness, 2);
    const run = await runOf(harness, 2);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/wait/${run.id}`;
    const request = signed(url, `CallSid=${call(2)}&AccountSid=${ACCOUNT}`, 'wrong');
    await expect(harness.callControl.wait('twilio', run.id, request)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
  });
});
