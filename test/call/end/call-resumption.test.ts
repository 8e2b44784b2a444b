// A provider asks what to do with a call whose process has died: another process goes on with it, or it ends.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  type CallHarness,
  drinks,
  GOODBYE,
  GREETING,
  PUBLIC_URL,
  signed,
  withCallHarness,
} from '../call-harness.ts';
import { withSecondGateway } from '../second-gateway.ts';
import { Mortal } from '../session/resumed-harness.ts';

const held = withCallHarness();
const second = withSecondGateway();
let first: CallHarness;
let mortal: Mortal;

beforeEach(() => {
  first = held.harness;
  mortal = new Mortal(first);
});

/** Twilio's request after the media, at that gateway. */
function ask(harness: CallHarness, runId: string, token?: string) {
  const url = `${PUBLIC_URL}/api/v1/telephony/twilio/resume/${runId}`;
  const form = `CallSid=CA00000000000000000000000000000001&AccountSid=AC00000000000000000000000000000001&CallStatus=in-progress`;
  return harness.callControl.resume('twilio', runId, signed(url, form, token));
}

/** A call that has talked in a process which is dead, and the other process. */
async function talked(): Promise<{ harness: CallHarness; runId: string }> {
  await first.prepare(drinks);
  const { stream, run } = await first.inboundCall();
  await first.heardOut(stream);
  await mortal.kill();
  const harness = await second.beside(first);
  return { harness, runId: run.id };
}

describe('a call whose process has died', () => {
  it('goes on in the process that its provider asks, to its end', async () => {
    const { harness, runId } = await talked();
    await first.at.sql("update runs set state = 'running' where id = $1", [runId]);
    const reply = await ask(harness, runId);
    expect(reply.body).toMatch(/<Stream.*<Redirect/);
    const stream = await harness.connect(reply);
    stream.start();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const run = await harness.completed({ id: runId });
    expect(await harness.transcript(run)).toContain("assistant: Sorry, I'm still here.");
  });

  it('is taken from the dead process, whose writes are refused', async () => {
    const { harness, runId } = await talked();
    await first.at.sql("update runs set state = 'running' where id = $1", [runId]);
    await ask(harness, runId);
    expect(await harness.deps.store.runs.owner(runId)).toMatchObject({ isOwn: true });
    expect(await first.at.store.runs.taken([runId])).toEqual([runId]);
  });

  it('goes on if crash recovery has taken its run for the same process', async () => {
    const { harness, runId } = await talked();
    await first.at.sql("update runs set state = 'running' where id = $1", [runId]);
    await harness.deps.store.runs.takeTalking(runId);
    expect(await harness.callControl.resumeLeft(runId)).toBe(true);
    await harness.pass(11_000);
    await harness.completed({ id: runId });
  });

  it('ends if its run is completed', async () => {
    const { harness, runId } = await talked();
    await first.at.sql("update runs set state = 'completed' where id = $1", [runId]);
    expect((await ask(harness, runId)).body).toMatch(/<Response><Hangup\/><\/Response>/);
  });

  it('is closed if its media do not come', async () => {
    const { harness, runId } = await talked();
    await first.at.sql("update runs set state = 'running' where id = $1", [runId]);
    await ask(harness, runId);
    await harness.pass(11_000);
    const run = await harness.completed({ id: runId });
    expect(run.state).toBe('completed');
    expect((await ask(harness, runId)).body).toMatch(/<Response><Hangup\/><\/Response>/);
  });

  it('is not touched by a request that the provider has not signed', async () => {
    const { harness, runId } = await talked();
    const wrong = 'f'.repeat(32);
    await expect(ask(harness, runId, wrong)).rejects.toMatchObject({ code: 'WEBHOOK_SIGNATURE' });
    expect(await harness.deps.store.runs.owner(runId)).toMatchObject({ isOwn: false });
  });
});

describe('a call whose media are over at its provider, while its process lives', () => {
  it.each([
    ['after they have broken off', true],
    ['before this process sees it', false],
  ])('goes on there when the provider asks %s', async (_, isSeen) => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    if (isSeen) former.lose(1006);
    await first.pass(400);
    const reply = await ask(first, run.id);
    expect(reply.body).toMatch(/<Stream.*<Redirect/);
    expect(former.open).toBe(false);
    const stream = await first.connect(reply);
    stream.start();
    await first.heardOut(stream);
    await first.says(stream, 'tea');
    await first.heardOut(stream);
    const done = await first.completed(run);
    expect(done.disposition).toBe('user_qualified');
    expect(await first.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      "assistant: Sorry, I'm still here.",
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    const events = await first.events(done);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_each, nth) => nth + 1));
    expect(events.map(({ body }) => body.type)).toEqual(
      expect.arrayContaining(['call.resumed', 'recording.finished']),
    );
    expect(events.filter(({ body }) => body.type === 'recording.finished')).toHaveLength(1);
    await first.until(() => first.callControl.activeCalls === 0);
    expect(first.errors).toEqual([]);
  });

  it('goes on without its own gap being taken for a second call', async () => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    former.lose(1006);
    const reply = await ask(first, run.id);
    expect(first.callControl.activeCalls).toBe(0);
    const stream = await first.connect(reply);
    stream.start();
    expect(first.callControl.activeCalls).toBe(1);
    // The former session's timer ends nothing.
    await first.pass(4_000);
    expect((await first.run(run.id)).state).toBe('running');
    stream.hangUp();
    expect(await first.ended(run)).toMatchObject({ disposition: 'user_hangup' });
    expect(await first.deps.store.runs.owner(run.id)).toMatchObject({ isOwn: true });
  });

  it('is closed with its reason if no other media come', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    stream.lose(1006);
    await ask(first, run.id);
    await first.pass(11_000);
    const done = await first.completed(run);
    expect(done.disposition).toBe('system_connect_error');
    const faults = (await first.events(done)).filter(({ body }) => body.type === 'fault');
    expect(faults.map(({ body }) => body)).toMatchObject([{ code: 'MEDIA_LOST' }]);
  });

  it('ends if the caller has hung up before', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    stream.hangUp();
    expect((await ask(first, run.id)).body).toMatch(/<Response><Hangup\/><\/Response>/);
    expect(await first.ended(run)).toMatchObject({ disposition: 'user_hangup' });
  });

  it('ends if the agent has ended it', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    await first.says(stream, 'tea');
    await first.heardOut(stream);
    await first.completed(run);
    expect((await ask(first, run.id)).body).toMatch(/<Response><Hangup\/><\/Response>/);
  });
});
