// Status callbacks of providers whose webhooks prove nothing about their content: the provider is asked over REST, and
// only what it confirms has an effect.

import { describe, expect, it } from 'vitest';
import { createCallControl } from '../../../src/app/call-parts.ts';
import {
  type CallSnapshot,
  type HostedProvider,
  isHosted,
} from '../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { ACCOUNT, CALL, PUBLIC_URL, signed, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();
const OTHER = 'CA00000000000000000000000000000099';

/** A run whose provider says `found` of its call; `tell` delivers a callback and gives what was kept. */
async function callThat(found: CallSnapshot | undefined) {
  const harness = await held.harness.prepare();
  const { runId } = await harness.start();
  const twilio = harness.deps.providers.byName('twilio');
  if (twilio === undefined || !isHosted(twilio)) throw new Error('no provider');
  const provider: HostedProvider = {
    ...twilio,
    capabilities: { ...twilio.capabilities, webhookProof: 'shared-key' },
    control: { ...twilio.control, getCall: () => Promise.resolve(found) },
  };
  const calls = createCallControl({ ...harness.deps, providers: providersOf([provider]) });
  return async (status: string, callId = CALL) => {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${callId}&AccountSid=${ACCOUNT}&CallStatus=${status}&SequenceNumber=1`;
    await calls.event('twilio', runId, signed(url, form));
    const { logs, state } = await harness.run(runId);
    const kept = (logs['telephony_status_callbacks'] ?? []) as Record<string, unknown>[];
    return { state, kept: kept.map((each) => each['status']) };
  };
}

describe('an unproven status', () => {
  it('has the effect of what the provider says, not of what it says itself', async () => {
    const tell = await callThat({ status: 'ringing', durationS: null, answeredBy: null });
    expect(await tell('completed')).toEqual({ state: 'initialized', kept: ['ringing'] });
  });

  it('an end is confirmed when the provider no longer lists the call', async () => {
    const tell = await callThat(undefined);
    expect(await tell('busy')).toEqual({ state: 'completed', kept: ['busy'] });
  });

  it('of progress, or of another call, is not confirmed by that', async () => {
    const tell = await callThat(undefined);
    const untouched = { state: 'initialized', kept: [] };
    expect(await tell('in-progress')).toEqual(untouched);
    expect(await tell('completed', OTHER)).toEqual(untouched);
  });
});
