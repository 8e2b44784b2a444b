// The end of a call's media, and what it says of the call. Source: providers §7.1 (our close), §8.2.

import { expect, it } from 'vitest';
import { withCallRoom } from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../pbx/pbx-harness.ts';

const held = withCallRoom();
const PHONE = 'phone-42';

it.each([
  ['ends', []],
  ['goes-on', [PHONE]],
] as const)(
  'a call that %s without its media, when they end, is hung up by the provider: %j',
  async (callAfterClose, hangUps) => {
    const room = await held.room.prepare();
    const pbx = await withPbx(room);
    pbx.callAfterClose = callAfterClose;
    pbx.inbound(PHONE, EXTENSION);
    const stream = await mediaOf(room, PHONE);
    await room.heardOut(stream);
    stream.hangUp();
    const [run] = await room.runs();
    if (run === undefined) throw new Error('no run');
    expect(await room.ended(run)).toMatchObject({ disposition: 'user_hangup' });
    expect(room.pbx.hangUps).toEqual(hangUps);
  },
);
