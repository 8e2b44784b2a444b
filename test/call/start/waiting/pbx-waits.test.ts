// Callers at a PBX who find all places taken: the PBX plays to them until a place is free.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { type OverflowPolicy, overflowPolicy } from '../../../../src/model/overflow.ts';
import type { FakeConnection } from '../../../fakes/call/fake-pbx.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { withSecondGateway } from '../../second-gateway.ts';
import { EXTENSION, mediaOf, withPbx } from '../inbound/pbx-harness.ts';

const held = withCallHarness();
const second = withSecondGateway();
const policyOf = (fields: Partial<OverflowPolicy> = {}) =>
  overflowPolicy.parse({ mode: 'wait', ...fields });

/** A PBX on whose line one caller has the only place. */
async function full(
  policy: OverflowPolicy,
): Promise<{ harness: CallHarness; pbx: FakeConnection }> {
  const harness = await held.harness.prepare();
  const { organizationId } = harness.at.owner;
  await harness.at.sql('update organizations set concurrent_call_limit = 1 where id = $1', [
    organizationId,
  ]);
  const pbx = await withPbx(harness);
  await harness.at.store.telephony.updateNumber(harness.configuration.id, harness.number.id, {
    overflow: policy,
  });
  pbx.inbound('first', EXTENSION);
  await mediaOf(harness, 'first');
  return { harness, pbx };
}

async function runOf(harness: CallHarness, callId: string) {
  const of = async () =>
    (await harness.runs()).find(({ providerCallId }) => providerCallId === callId);
  await harness.until(async () => (await of()) !== undefined);
  const run = await of();
  if (run === undefined) throw new Error('no run');
  return run;
}

describe('a caller at a PBX who finds all places taken', () => {
  it('is answered with an announcement and music, and talks with the agent in its turn', async () => {
    const { harness, pbx } = await full(policyOf({ waiting_audio: 'jazz' }));
    pbx.inbound('next', EXTENSION);
    await harness.passThrough(() => pbx.holds.length > 0);
    expect(pbx.holds[0]).toEqual({
      callId: 'next',
      isAnnounced: true,
      announcement: null,
      music: 'jazz',
    });
    await harness.passThrough(() => pbx.holds.length > 2);
    expect(pbx.holds.filter(({ isAnnounced }) => isAnnounced)).toHaveLength(1);
    expect(pbx.refused).toEqual([]);
    await harness.pbx.control.hangUp({}, 'first', new AbortController().signal);
    await harness.completed(await runOf(harness, 'first'));
    await harness.passThrough(() => pbx.admitted.includes('next'));
    const run = await runOf(harness, 'next');
    expect(run.gatheredContext).toMatchObject({ wait_outcome: 'admitted' });
    await harness.until(async () => (await harness.run(run.id)).state === 'running');
    expect(harness.errors).toEqual([]);
  });

  it('leaves a run when it hangs up while it waits, and frees its place in the line', async () => {
    const { harness, pbx } = await full(policyOf());
    pbx.inbound('next', EXTENSION);
    await harness.passThrough(() => pbx.holds.length > 0);
    pbx.status('next', 'completed', { durationS: 3 });
    const run = await harness.completed(await runOf(harness, 'next'));
    expect(run).toMatchObject({ disposition: 'user_hangup' });
    expect(run.gatheredContext).toMatchObject({ wait_outcome: 'abandoned' });
    const asked = pbx.holds.length;
    await harness.pass(3_000);
    expect(pbx.holds).toHaveLength(asked);
  });

  it('goes to the fallback number after the longest wait', async () => {
    const more = { otherwise: 'fallback', fallback_number: '200', wait_seconds_max: 10 } as const;
    const { harness, pbx } = await full(policyOf(more));
    pbx.inbound('next', EXTENSION);
    await harness.passThrough(() => pbx.forwards.length > 0);
    expect(pbx.forwards).toEqual([{ callId: 'next', to: '200', callerId: EXTENSION, ringS: 60 }]);
    const run = await harness.completed(await runOf(harness, 'next'));
    expect(run).toMatchObject({ disposition: 'call_transferred' });
    expect(harness.pbx.hangUps).toEqual([]);
  });

  it('is hung up when the fallback number does not take the call', async () => {
    const { harness, pbx } = await full(policyOf({ mode: 'fallback', fallback_number: '200' }));
    pbx.onForward = () => Promise.reject(new GatewayError('TRANSFER_BUSY'));
    pbx.inbound('next', EXTENSION);
    const run = await harness.completed(await runOf(harness, 'next'));
    expect(run).toMatchObject({ disposition: 'busy' });
    expect(harness.pbx.hangUps).toEqual(['next']);
  });

  it('keeps its place when its gateway dies, and waits on in the one that finds its channel', async () => {
    const { harness, pbx } = await full(policyOf());
    pbx.inbound('next', EXTENSION);
    await harness.passThrough(() => pbx.holds.length > 0);
    const run = await runOf(harness, 'next');
    // The first process does nothing any more.
    await harness.callControl.pbxLines.stop();
    await harness.callControl.drain(0);
    const other = await second.beside(harness);
    await other.callControl.pbxLines.start();
    const found = other.pbx.connection;
    found.up();
    found.left('next', EXTENSION);
    await other.passThrough(() => found.admitted.includes('next'));
    expect(found.refused).toEqual([]);
    await other.until(async () => (await other.run(run.id)).state === 'running');
  });
});
