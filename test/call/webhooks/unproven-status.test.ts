// Status callbacks of providers whose webhooks prove nothing about their content: the provider is asked over REST, and
// only what it confirms has an effect.

import { describe, expect, it } from 'vitest';
import { createCallControl } from '../../../src/app/call-parts.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { Run } from '../../../src/model/run.ts';
import {
  type CallSnapshot,
  type HostedProvider,
  isHosted,
} from '../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { ACCOUNT, CALL, PUBLIC_URL, signed, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();
const OTHER = 'CA00000000000000000000000000000099';

/** Twilio, as a provider whose status callbacks prove less. */
function variant(change: (twilio: HostedProvider) => Partial<HostedProvider>): HostedProvider {
  const { harness } = held;
  const twilio = harness.deps.providers.byName('twilio');
  if (twilio === undefined || !isHosted(twilio)) throw new Error('no provider');
  return { ...twilio, ...change(twilio) };
}

const keptOf = ({ logs }: Run) =>
  ((logs['telephony_status_callbacks'] ?? []) as Record<string, unknown>[]).map(
    (each) => each['status'],
  );

/** A run whose provider says `found` of its call; `tell` delivers a callback and gives what was kept. */
async function callThat(found: CallSnapshot | undefined) {
  const harness = await held.harness.prepare();
  const { runId } = await harness.start();
  const provider = variant(({ capabilities, control }) => ({
    capabilities: { ...capabilities, webhookProof: 'shared-key' },
    control: { ...control, getCall: () => Promise.resolve(found) },
  }));
  const calls = createCallControl({ ...harness.deps, providers: providersOf([provider]) });
  return async (status: string, callId = CALL) => {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const form = `CallSid=${callId}&AccountSid=${ACCOUNT}&CallStatus=${status}&SequenceNumber=1`;
    await calls.event('twilio', runId, signed(url, form));
    const run = await harness.run(runId);
    return { state: run.state, kept: keptOf(run) };
  };
}

/** A run of a provider whose status callbacks anyone may send; `getCall` fails with the first `faults` look-ups. */
async function reportedCall({
  faults = 0,
  code = 'PROVIDER_FAILED',
}: {
  faults?: number;
  code?: 'PROVIDER_FAILED' | 'PROVIDER_CAPACITY';
} = {}) {
  const harness = await held.harness.prepare();
  const { runId } = await harness.start();
  const lookUps: string[] = [];
  const provider = variant(({ capabilities, control, webhook }) => ({
    capabilities: { ...capabilities, webhookProof: 'shared-key' },
    control: {
      ...control,
      getCall: (_credentials, callId) => {
        lookUps.push(callId);
        if (lookUps.length > faults) return Promise.resolve(BUSY);
        return Promise.reject(new GatewayError(code, { reason: 'ECONNRESET' }));
      },
    },
    webhook: { ...webhook, isReport: ({ url }) => url.includes('/status-callback/') },
  }));
  const calls = createCallControl({ ...harness.deps, providers: providersOf([provider]) });
  const post = (id: string, callId: string, token?: string) => {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${id}`;
    const form = `CallSid=${callId}&AccountSid=${ACCOUNT}&CallStatus=completed&SequenceNumber=1`;
    return calls.event('twilio', id, signed(url, form, token));
  };
  return { harness, runId, lookUps, post, calls };
}

const BUSY: CallSnapshot = { status: 'busy', durationS: null, answeredBy: null };
const STRANGER = 'of-a-stranger';

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

describe('a report that has no proof', () => {
  it('is answered alike for a run, for another call of it, and for no run, and asks only about a call by its id', async () => {
    const { harness, runId, lookUps, post } = await reportedCall();
    const replies = [
      await post(runId, OTHER, STRANGER),
      await post('999999', CALL, STRANGER),
      await post('999999', OTHER, STRANGER),
    ];
    await harness.pass(10_000);
    expect(lookUps).toEqual([]);
    replies.push(await post(runId, CALL, STRANGER));
    await harness.until(() => lookUps.length > 0);
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
  });

  it('has the effect of what the provider says', async () => {
    const { harness, runId, post } = await reportedCall();
    await post(runId, CALL, STRANGER);
    await harness.until(async () => (await harness.run(runId)).state === 'completed');
    const run = await harness.run(runId);
    expect([run.disposition, keptOf(run)]).toEqual(['busy', ['busy']]);
  });

  it('is followed again where the provider cannot be asked, three times at most', async () => {
    const { harness, runId, lookUps, post } = await reportedCall({ faults: 9 });
    await post(runId, CALL, STRANGER);
    await harness.passThrough(() => lookUps.length === 3);
    await harness.pass(30_000);
    expect(lookUps).toHaveLength(3);
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  // 429: requests of others about other calls have used up the account's limit for a moment.
  it('is followed again where the account has no room for more requests at the moment', async () => {
    const { harness, runId, post } = await reportedCall({ faults: 2, code: 'PROVIDER_CAPACITY' });
    await post(runId, CALL, STRANGER);
    await harness.passThrough(async () => (await harness.run(runId)).state === 'completed');
    expect((await harness.run(runId)).disposition).toBe('busy');
  });

  it('is followed with up to seven others of its run; those of other runs keep their places', async () => {
    const { harness, runId, lookUps, post } = await reportedCall({ faults: 1_000 });
    const { runId: other } = await harness.start();
    const { providerCallId = '' } = await harness.run(other);
    for (let i = 0; i < 400; i += 1) await post(runId, CALL, STRANGER);
    await harness.until(() => lookUps.length >= 8);
    await harness.pass(100);
    expect(lookUps).toHaveLength(8);
    await post(other, providerCallId ?? '', STRANGER);
    await harness.until(() => lookUps.length === 9);
  });

  it('gives up once the requests about its call are used up, and holds no place meanwhile', async () => {
    const { harness, runId, lookUps, post } = await reportedCall({ faults: 1_000 });
    for (let round = 0; round < 5; round += 1) {
      for (let i = 0; i < 8; i += 1) await post(runId, CALL, STRANGER);
      await harness.pass(1_000);
    }
    await harness.pass(5_000);
    // 20 at once, and one more each 10 s.
    expect(lookUps.length).toBeLessThanOrEqual(21);
    expect(lookUps.length).toBeGreaterThanOrEqual(20);
  });

  it('that is proven fails where the provider cannot be asked, so that it is sent again', async () => {
    const { runId, post } = await reportedCall({ faults: 1 });
    await expect(post(runId, CALL)).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
    expect((await post(runId, CALL)).status).toBe(200);
  });

  it('of an account is answered alike, whatever call it names', async () => {
    const { harness, runId, calls } = await reportedCall();
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/cdr`;
    const of = (callId: string, account = ACCOUNT) =>
      signed(url, `CallSid=${callId}&AccountSid=${account}&CallStatus=busy`, STRANGER);
    const replies = [
      await calls.accountEvent('twilio', of(OTHER)),
      await calls.accountEvent('twilio', of(CALL, `AC${'9'.repeat(32)}`)),
      await calls.accountEvent('twilio', of(CALL)),
    ];
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    await harness.until(async () => (await harness.run(runId)).state === 'completed');
  });
});
