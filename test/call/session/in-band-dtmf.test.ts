// Keys of callers whose provider does not signal them.

import { describe, expect, it } from 'vitest';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { type CallRoom, withCallRoom } from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../pbx/pbx-harness.ts';

const held = withCallRoom();
const PHONE = 'phone-42';

async function inbound(room: CallRoom) {
  const pbx = await withPbx(room);
  pbx.inbound(PHONE, EXTENSION);
  const stream = await mediaOf(room, PHONE);
  await room.heardOut(stream);
  const [run] = await room.runs();
  if (run === undefined) throw new Error('no run');
  return { run, stream };
}

describe('a provider that signals no keys', () => {
  it('has them heard in the audio: a key answers the question, and is in the log once', async () => {
    const room = await held.room.prepare();
    room.pbx.capabilities = { ...room.pbx.capabilities, digitsIn: false };
    const { run, stream } = await inbound(room);
    stream.sound = dtmfTones('1');
    await room.pass(300);
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(done.gatheredContext).toMatchObject({ drink: 'tea' });
    expect(await room.bodies(run, 'dtmf')).toEqual([{ type: 'dtmf', digit: '1' }]);
  });

  it('is no other: where keys are signalled, tones are passed over', async () => {
    const room = await held.room.prepare();
    const { stream, run } = await inbound(room);
    stream.sound = dtmfTones('1');
    await room.pass(300);
    stream.key('2');
    await room.heardOut(stream);
    expect((await room.ended(run)).gatheredContext).toMatchObject({ drink: 'coffee' });
  });
});
