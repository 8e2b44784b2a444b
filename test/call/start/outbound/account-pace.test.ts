// The pace of an account's dials where the provider refuses dials above a number a second.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../../../src/app/call-parts.ts';
import { AccountPace } from '../../../../src/call/start/outbound/dial-pace.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { providersOf } from '../../../../src/telephony/registry/registry.ts';
import { twilioProvider } from '../../../../src/telephony/twilio/provider.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();

function providerWith(callsPerSecond: number | undefined) {
  const twilio = twilioProvider.create({ clock: systemClock });
  const declared = callsPerSecond === undefined ? {} : { callsPerSecond };
  return { ...twilio, capabilities: { ...twilio.capabilities, ...declared } };
}

/** When the account's next dial may be, in ms from now; undefined without a pace. */
async function reservedMs({ at, clock }: CallHarness): Promise<number | undefined> {
  const [row] = await at.sql(
    'select (extract(epoch from dial_next_at) * 1000)::float8 as ms from telephony_configurations',
  );
  return typeof row?.['ms'] === 'number' ? row['ms'] - clock.now() : undefined;
}

/** So many dials at the same moment over a provider, where the configuration has its own pace or none: when each may be
 *  sent, in ms. */
async function turns(
  harness: CallHarness,
  dials: number,
  paces: { provider?: number; configuration?: number },
): Promise<number[]> {
  const { clock, configuration } = harness;
  const pace = new AccountPace({ store: harness.at.store, clock });
  const line = {
    configuration: { ...configuration, callsPerSecond: paces.configuration ?? null },
    provider: providerWith(paces.provider),
  };
  const startMs = clock.monotonicMs();
  const at: number[] = [];
  const all = Array.from({ length: dials }, () =>
    pace.turn(line).then(() => at.push(clock.monotonicMs() - startMs)),
  );
  const callsPerSecond = paces.configuration ?? paces.provider;
  const lastMs = callsPerSecond === undefined ? undefined : (dials * 1_000) / callsPerSecond;
  await harness.until(async () => (await reservedMs(harness)) === lastMs);
  await harness.passThrough(() => at.length === dials);
  await Promise.all(all);
  return at;
}

describe('dials at the same moment', () => {
  it('keep the pace of the provider', async () => {
    const harness = await held.harness.prepare();
    expect(await turns(harness, 4, { provider: 4 })).toEqual([0, 260, 500, 760]);
  });

  it('keep the pace of their configuration, which may have more or less', async () => {
    const harness = await held.harness.prepare();
    expect(await turns(harness, 3, { provider: 1, configuration: 10 })).toEqual([0, 100, 200]);
    await harness.at.sql('update telephony_configurations set dial_next_at = null');
    expect(await turns(harness, 2, { provider: 10, configuration: 1 })).toEqual([0, 1_000]);
  });

  it('do not wait where neither has a pace', async () => {
    const harness = await held.harness.prepare();
    expect(await turns(harness, 3, {})).toEqual([0, 0, 0]);
    expect(await reservedMs(harness)).toBeUndefined();
  });
});

describe('a call that a client starts', () => {
  const startOver = (harness: CallHarness, callsPerSecond: number) => {
    const providers = providersOf([providerWith(callsPerSecond), harness.pbx]);
    const callControl = createCallControl(withClosing({ ...harness.deps, providers }));
    Object.assign(harness, { callControl });
    return harness.start();
  };

  it('takes a turn', async () => {
    const harness = await held.harness.prepare();
    await startOver(harness, 4);
    expect(await reservedMs(harness)).toBe(250);
    expect(harness.dials).toHaveLength(1);
  });

  it('is not dialled if it is hung up before its turn', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql('update telephony_configurations set dial_next_at = $1', [
      new Date(harness.clock.now() + 2_000),
    ]);
    let isStarted = false;
    void startOver(harness, 4).then(() => (isStarted = true));
    await harness.until(async () => (await reservedMs(harness)) === 2_250);
    const [run] = await harness.runs();
    const { organizationId } = harness.at.owner;
    await harness.callControl.hangUp({ organizationId, runId: run?.id ?? '' });
    await harness.passThrough(() => isStarted);
    expect(harness.dials).toEqual([]);
    expect((await harness.runs())[0]).toMatchObject({ disposition: 'system_cancelled' });
  });

  it('is refused when its turn is too far away, and leaves a completed run and the turn', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql('update telephony_configurations set dial_next_at = $1', [
      new Date(harness.clock.now() + 5_001),
    ]);
    await expect(startOver(harness, 3)).rejects.toMatchObject({
      code: 'CALL_NOT_PLACED',
      message: expect.stringContaining('3 calls a second are used up for the next 5 s'),
    });
    expect(await reservedMs(harness)).toBe(5_001);
    expect(harness.dials).toEqual([]);
    expect((await harness.runs())[0]).toMatchObject({ state: 'completed', disposition: 'error' });
  });
});
