// Keys of callers whose provider does not signal them.

import { describe, expect, it } from 'vitest';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';

const held = withCallHarness();
const PHONE = 'phone-42';

async function inbound(harness: CallHarness) {
  const pbx = await withPbx(harness);
  pbx.inbound(PHONE, EXTENSION);
  const stream = await mediaOf(harness, PHONE);
  await harness.heardOut(stream);
  const [run] = await harness.runs();
  if (run === undefined) throw new Error('no run');
  return { run, stream };
}

describe('a provider that signals no keys', () => {
  it('has them detected in the audio: a key answers the question, and is in the log once', async () => {
    const harness = await held.harness.prepare();
    harness.pbx.capabilities = { ...harness.pbx.capabilities, digitsIn: false };
    const { run, stream } = await inbound(harness);
    stream.sound = dtmfTones('1');
    await harness.pass(300);
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.gatheredContext).toMatchObject({ drink: 'tea' });
    expect(await harness.bodies(run, 'dtmf')).toEqual([{ type: 'dtmf', digit: '1' }]);
  });

  it('is no other: where keys are signalled, tones are passed over', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await inbound(harness);
    stream.sound = dtmfTones('1');
    await harness.pass(300);
    stream.key('2');
    await harness.heardOut(stream);
    expect((await harness.ended(run)).gatheredContext).toMatchObject({ drink: 'coffee' });
  });
});
