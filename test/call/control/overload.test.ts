// A process that has more calls than it can carry: new ones are refused at once, however they begin, and
// those that run go on.

import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { callsRefused } from '../../../src/metrics/metrics.ts';
import { type CallRoom, GREETING, withCallRoom } from '../call-harness.ts';
import { EXTENSION, withPbx } from '../pbx/pbx-harness.ts';

const load = { loop: 0, cpu: 0 };
const held = withCallRoom({
  meter: { sample: () => ({ ...load }) },
  limits: { load: 0.85, delayMs: 40 },
});
beforeEach(() => {
  load.loop = 0;
});

/** Ten calls wait for their media: fewer are never too many. */
async function crowded(): Promise<CallRoom> {
  const room = await held.room.prepare();
  await room.at.sql('update organizations set concurrent_call_limit = 100');
  for (let nth = 0; nth < 10; nth++) await room.ring(`CallSid=CA${nth}`.padEnd(42, '0'));
  return room;
}

async function overload(room: CallRoom): Promise<void> {
  load.loop = 0.95;
  room.clock.advance(5_000);
}

async function refusals(): Promise<number> {
  const { values } = await callsRefused.get();
  return values.find(({ labels }) => labels.code === 'GATEWAY_OVERLOADED')?.value ?? 0;
}

describe('a new call in an overloaded process', () => {
  it('is given the busy tone at once, without a run, and taken when there is room', async () => {
    const room = await crowded();
    await overload(room);
    const before = await refusals();
    const { status, body } = await room.ring();
    expect([status, body]).toEqual([200, expect.stringContaining('<Reject reason="busy"/>')]);
    expect((await refusals()) - before).toBe(1);
    expect(await room.runs()).toHaveLength(10);
    load.loop = 0.3;
    room.clock.advance(5_000);
    expect((await room.ring()).body).toContain('<Stream');
  });

  it('is not placed for a client, who may try again', async () => {
    const room = await crowded();
    await overload(room);
    for (const start of [() => room.start(), () => room.startTest()]) {
      const code = await start().then(
        () => 'started',
        (error: unknown) => codeOf(error),
      );
      expect(code).toBe('GATEWAY_OVERLOADED');
    }
    expect(room.dials).toEqual([]);
    expect(await room.runs()).toHaveLength(10);
  });

  it('is turned away at a PBX as busy', async () => {
    const room = await crowded();
    const pbx = await withPbx(room);
    await overload(room);
    pbx.inbound('phone', EXTENSION);
    expect(pbx.refused).toEqual([{ callId: 'phone', reason: 'busy' }]);
    expect(await room.runs()).toHaveLength(10);
  });

  it('of a campaign waits', async () => {
    const room = await crowded();
    expect(room.switchboard.campaignCalls.takesCalls).toBe(true);
    await overload(room);
    expect(room.switchboard.campaignCalls.takesCalls).toBe(false);
  });
});

describe('a call that an overloaded process has', () => {
  it('goes on to its end, and so does one that was on its way', async () => {
    const room = await crowded();
    const { stream, run } = await room.inboundCall();
    const answer = await room.ring(`CallSid=${'CA'.padEnd(34, 'f')}`);
    await overload(room);
    const late = await room.connect(answer);
    expect(late.open).toBe(true);
    await room.heardOut(stream);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(done).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
    expect((await room.transcript(done))[0]).toBe(`assistant: ${GREETING}`);
    late.hangUp();
  });
});
