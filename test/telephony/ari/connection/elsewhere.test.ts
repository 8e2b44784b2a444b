// A gateway that takes over the connection to a PBX from another one that still lives: the other's calls are left alone
// until it is dead.

import { expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import { createChannelIds, processTag } from '../../../../src/telephony/ari/rest/channel-ids.ts';
import type { CallsElsewhere } from '../../../../src/telephony/provider/pbx.ts';
import { startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../../fakes/asterisk/media/pump.ts';
import { ask, MediaClient } from '../../../fakes/asterisk/scenarios/ari-session.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import {
  APP,
  Audio,
  atEnd,
  credentialsOf,
  gateway,
  isUp,
  nothingLeft,
  patient,
  Room,
  type Talk,
  talkBothWays,
  talks,
  until,
} from '../ari-harness.ts';

const NOBODY: CallsElsewhere = { processes: [], callIds: [] };
/** Longest pause before the calls are compared again. */
const AGAIN_MS = 8_000;
/** Longest time from a death in the store to the news that the calls are left. */
const NOTICED_MS = 2_000;
const first = { node: 'first#1', epoch: '17' };

/** The first gateway with a call, and the second with the connection and what the store says of the first. */
async function takenOver(says: (call: Talk) => CallsElsewhere) {
  const clock = new FakeClock();
  const asterisk = await startAsterisk({ clock, app: APP });
  atEnd(() => asterisk.stop());
  atEnd(pump(clock));
  const means = { clock, random: systemRandom };
  const own = gateway(
    clock,
    credentialsOf(asterisk),
    ariProvider.create({ ...means, identity: first }),
  );
  await isUp(own);
  const call = await talks({ clock, asterisk, ...own });
  asterisk.users['next'] = { password: 'gwsecret' };
  const at = { elsewhere: () => says(call), asks: 0 };
  const provider = ariProvider.create({ ...means, identity: { node: 'second#1', epoch: '18' } });
  const account = {
    configurationId: '1',
    credentials: credentialsOf(asterisk, { app_name: 'next' }),
  };
  const elsewhere = (): Promise<CallsElsewhere> => {
    at.asks += 1;
    return new Promise((resolve) => resolve(at.elsewhere()));
  };
  const harness = new Room();
  const options = { listener: harness, log: quietLog().log, elsewhere };
  const connection = provider.pbx.connect(account, options);
  atEnd(() => connection.close());
  await isUp({ connection });
  return { at, asterisk, call, clock, harness, connection, own };
}

it('the calls of a gateway that lives talk on, with their media and bridge, until it is dead', async () => {
  const { at, asterisk, call, clock, harness } = await takenOver(({ callId }) => ({
    processes: [first],
    callIds: [callId],
  }));
  await clock.advanceAsync(1_000);
  expect(call.phone.isOver).toBe(false);
  await talkBothWays(call);
  await clock.advanceAsync(AGAIN_MS);
  expect(at.asks).toBeGreaterThan(1);
  expect(harness.inbound).toEqual([]);
  expect(call.phone.isOver).toBe(false);
  await talkBothWays(call);
  at.elsewhere = () => NOBODY;
  await clock.advanceAsync(NOTICED_MS);
  await until(() => harness.inbound.length > 0, 'the call');
  expect(harness.inbound).toMatchObject([{ callId: call.callId, isLeft: true }]);
  expect(call.phone.isOver).toBe(false);
  call.phone.hangUp();
  await nothingLeft({ asterisk });
  const { asks } = at;
  await clock.advanceAsync(4 * AGAIN_MS);
  expect(at.asks).toBe(asks);
});

// The store was asked for each connection: while it was away, no PBX was connected.
it('a store that does not answer ends no call, and keeps no PBX from being connected', async () => {
  const { at, asterisk, call, clock, harness } = await takenOver(() => {
    throw new Error('the store is away');
  });
  await clock.advanceAsync(1_000);
  expect(call.phone.isOver).toBe(false);
  await talkBothWays(call);
  at.elsewhere = () => NOBODY;
  await clock.advanceAsync(AGAIN_MS);
  await until(() => harness.inbound.length > 0, 'the call');
  call.phone.hangUp();
  await nothingLeft({ asterisk });
});

it('other media of a call elsewhere are not taken for those of a request that was given up', async () => {
  const { call, clock, asterisk } = await takenOver(({ callId }) => ({
    processes: [first],
    callIds: [callId],
  }));
  const own = createChannelIds(APP, systemRandom, processTag(first));
  const id = own.make('m');
  const account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
  const kind = { format: 'ulaw', transport: 'websocket', encapsulation: 'none' };
  const query = { app: APP, ...kind, connection_type: 'server', channelId: id };
  await ask(account, { method: 'POST', path: 'channels/externalMedia', query });
  new MediaClient(account, asterisk.media.websockets.at(-1)?.facts.connectionId ?? '');
  await clock.advanceAsync(1_000);
  expect(asterisk.channels.map((channel) => channel.id)).toContain(id);
  await talkBothWays(call);
});

// It had been suspended, or without its database: its media are taken from it.
it('a gateway that was taken for dead gives up a call which goes on elsewhere, and hangs nobody up', async () => {
  const { call, clock, harness, connection, own, asterisk } = await takenOver(() => NOBODY);
  await until(() => harness.inbound.length > 0, 'the call');
  const audio = new Audio(await connection.openMedia(call.callId, patient));
  await clock.advanceAsync(10_000, 100);
  await until(() => call.audio.closedWith === 'fault', 'the end of the former media');
  await own.provider.control.hangUp(own.credentials, call.callId, patient);
  await clock.advanceAsync(10_000, 100);
  expect(call.phone.isOver).toBe(false);
  await talkBothWays({ ...call, audio });
  call.phone.hangUp();
  await nothingLeft({ asterisk });
});

it('a gateway that learns that another one has its call closes its media, and hangs nobody up', async () => {
  const { call, clock, own } = await takenOver(({ callId }) => ({
    processes: [first],
    callIds: [callId],
  }));
  call.audio.media.close('taken');
  await clock.advanceAsync(1_000, 100);
  await own.provider.control.hangUp(own.credentials, call.callId, patient);
  expect(call.phone.isOver).toBe(false);
  call.phone.hangUp();
});

it('the calls of a gateway that is dead can go on at once', async () => {
  const { asterisk, call, harness } = await takenOver(() => NOBODY);
  await until(() => harness.inbound.length > 0, 'the call');
  expect(harness.inbound).toMatchObject([{ callId: call.callId, isLeft: true }]);
  expect(call.phone.isOver).toBe(false);
  call.phone.hangUp();
  await nothingLeft({ asterisk });
});
