// A process that has more calls than it can carry: new ones are refused at once, however they begin, and
// those that run go on.

import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { callsRefused } from '../../../src/metrics/metrics.ts';
import { type CallHarness, GREETING, withCallHarness } from '../call-harness.ts';
import { EXTENSION, withPbx } from './inbound/pbx-harness.ts';

const load = { loop: 0, cpu: 0 };
const held = withCallHarness({
  meter: { sample: () => ({ ...load }) },
  limits: { load: 0.85, delayMs: 40 },
});
beforeEach(() => {
  load.loop = 0;
});

/** Ten calls wait for their media: fewer are never too many. */
async function crowded(): Promise<CallHarness> {
  const harness = await held.harness.prepare();
  await harness.at.sql('update organizations set concurrent_call_limit = 100');
  for (let nth = 0; nth < 10; nth++) await harness.ring(`CallSid=CA${nth}`.padEnd(42, '0'));
  return harness;
}

async function overload(harness: CallHarness): Promise<void> {
  load.loop = 0.95;
  harness.clock.advance(5_000);
}

async function refusals(): Promise<number> {
  const { values } = await callsRefused.get();
  return values.find(({ labels }) => labels.code === 'GATEWAY_OVERLOADED')?.value ?? 0;
}

describe('a new call in an overloaded process', () => {
  it('is given the busy tone at once, without a run, and taken when the load allows', async () => {
    const harness = await crowded();
    await overload(harness);
    const before = await refusals();
    const { status, body } = await harness.ring();
    expect([status, body]).toEqual([200, expect.stringContaining('<Reject reason="busy"/>')]);
    expect((await refusals()) - before).toBe(1);
    expect(await harness.runs()).toHaveLength(10);
    load.loop = 0.3;
    harness.clock.advance(5_000);
    expect((await harness.ring()).body).toContain('<Stream');
  });

  it('is not placed for a client, who may try again', async () => {
    const harness = await crowded();
    await overload(harness);
    for (const start of [() => harness.start(), () => harness.startTest()]) {
      const code = await start().then(
        () => 'started',
        (error: unknown) => codeOf(error),
      );
      expect(code).toBe('GATEWAY_OVERLOADED');
    }
    expect(harness.dials).toEqual([]);
    expect(await harness.runs()).toHaveLength(10);
  });

  it('is turned away at a PBX as busy', async () => {
    const harness = await crowded();
    const pbx = await withPbx(harness);
    await overload(harness);
    pbx.inbound('phone', EXTENSION);
    await harness.until(() => pbx.refused.length > 0);
    expect(pbx.refused).toEqual([{ callId: 'phone', reason: 'busy' }]);
    expect(await harness.runs()).toHaveLength(10);
  });

  it('of a campaign waits', async () => {
    const harness = await crowded();
    expect(harness.callControl.campaignCalls.takesCalls).toBe(true);
    await overload(harness);
    expect(harness.callControl.campaignCalls.takesCalls).toBe(false);
  });
});

describe('a call that an overloaded process has', () => {
  it('goes on to its end, and so does one that was on its way', async () => {
    const harness = await crowded();
    const { stream, run } = await harness.inboundCall();
    const answer = await harness.ring(`CallSid=${'CA'.padEnd(34, 'f')}`);
    await overload(harness);
    const late = await harness.connect(answer);
    expect(late.open).toBe(true);
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
    expect((await harness.transcript(done))[0]).toBe(`assistant: ${GREETING}`);
    late.hangUp();
  });
});
