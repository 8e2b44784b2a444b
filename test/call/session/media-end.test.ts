// The end of a call's media, and what it says of the call. Source: providers §7.1 (our close), §8.2.

import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { withCallHarness } from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';

const held = withCallHarness();
const PHONE = 'phone-42';
const STALL_MS = 60_000;

it.each([
  [true, []],
  [false, [PHONE]],
] as const)(
  'a call that ends with its media (%s), when they end, is hung up by the provider: %j',
  async (closeEndsCall, hangUps) => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    harness.pbx.capabilities = { ...harness.pbx.capabilities, closeEndsCall };
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(harness, PHONE);
    await harness.heardOut(stream);
    stream.hangUp();
    const [run] = await harness.runs();
    if (run === undefined) throw new Error('no run');
    expect(await harness.ended(run)).toMatchObject({ disposition: 'user_hangup' });
    expect(harness.pbx.hangUps).toEqual(hangUps);
  },
);

it('a media socket that carries no JSON is closed with 1003, and its call is hung up and says why', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  stream.text('not JSON');
  const done = await harness.ended(run);
  expect(done.disposition).toBe('pipeline_error');
  expect(stream.closed?.code).toBe(1003);
  expect(await harness.bodies(run, 'fault')).toMatchObject([
    { code: 'MEDIA_MALFORMED', fatal: true },
  ]);
  expect(harness.hangUps).toHaveLength(1);
});

// The file is opened before the media start: its key led to a file of no bytes, whose tracks could not be read.
it('media that end before they have started leave no recording', async () => {
  const harness = await held.harness.prepare();
  const stream = await harness.connect(await harness.ring());
  stream.hangUp();
  const [run] = await harness.runs();
  if (run === undefined) throw new Error('no run');
  expect(await harness.ended(run)).toMatchObject({
    disposition: 'user_hangup',
    recordingKey: null,
  });
});

describe('a caller who leaves while the process is suspended', () => {
  it.each([
    ['before its timers', false],
    ['after its timers', true],
  ])('has talked until then if the end is read %s', async (_, hasTurn) => {
    const harness = await held.harness.prepare();
    const startedAt = harness.clock.now();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.pass(1_000);
    const talkedMs = harness.clock.now() - startedAt;
    harness.clock.stall(STALL_MS);
    if (hasTurn) harness.clock.advance(20);
    // What came of them meanwhile has waited.
    for (let frames = 0; frames < 50; frames++) stream.frame();
    stream.hangUp();
    const done = await harness.ended(run);
    const seconds = talkedMs / 1_000 + 1;
    expect(done.disposition).toBe('user_hangup');
    expect(done.durationS).toBeCloseTo(seconds, 0);
    expect(done.usageInfo).toMatchObject({ call_duration_seconds: Math.round(seconds) });
    const endedAfterMs = (done.endedAt?.getTime() ?? 0) - startedAt;
    expect(Math.abs(endedAfterMs - 1_000 * seconds)).toBeLessThan(100);
    const { samples, rateHz } = readWav(
      await harness.deps.files.readAll(`recordings/${run.id}.wav`),
    );
    expect(samples.length / 2 / rateHz).toBeCloseTo(seconds, 0);
  });

  it('has talked until then if only the provider reports the end', async () => {
    const harness = await held.harness.prepare();
    const startedAt = harness.clock.now();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const talkedMs = harness.clock.now() - startedAt;
    harness.clock.stall(STALL_MS);
    await harness.status(run.id, 'CallStatus=completed&SequenceNumber=9&CallDuration=5');
    harness.clock.advance(3_100);
    const done = await harness.ended(run);
    expect(done.durationS).toBeCloseTo(talkedMs / 1_000, 0);
  });
});
