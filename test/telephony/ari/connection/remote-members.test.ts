// Members of a connection in another gateway: out of reach, dead, or given a caller whose event was lost.

import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { CallsElsewhere } from '../../../../src/telephony/provider/pbx.ts';
import type { ProviderCredentials } from '../../../../src/telephony/provider/terms.ts';
import { startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../../fakes/asterisk/media/pump.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import {
  APP,
  Audio,
  atEnd,
  credentialsOf,
  dial,
  type Gateway,
  isUp,
  kill,
  nothingLeft,
  patient,
  Room,
  rings,
  type Table,
  type Talk,
  talkBothWays,
  until,
} from '../ari-harness.ts';
import { type Member, MemberProcesses } from '../member-processes.ts';

interface Spread extends Table {
  members: MemberProcesses;
  /** What the store says. */
  store: { callIds: string[]; isDead: boolean };
  /** Changes of the credentials. */
  more: ProviderCredentials;
}

/** A process with the connection. */
function holderOf(at: Omit<Spread, keyof Gateway>, user: string): Gateway {
  const { log, lines } = quietLog();
  const harness = new Room();
  const { clock, asterisk, members, store } = at;
  const identity = { node: 'one#1', epoch: user };
  const provider = ariProvider.create({ clock, random: systemRandom, identity });
  const credentials = credentialsOf(asterisk, { ...at.more, app_name: user });
  const elsewhere = (): Promise<CallsElsewhere> =>
    Promise.resolve({
      processes: store.isDead ? [] : [members.identityOf('other#1')],
      callIds: store.isDead ? [] : store.callIds,
    });
  const account = { configurationId: '1', credentials };
  const options = { listener: harness, log, members, elsewhere };
  const connection = provider.pbx.connect(account, options);
  atEnd(() => connection.close());
  return { provider, credentials, connection, harness, lines };
}

/** A connection with a member in another gateway. */
async function spread(more: ProviderCredentials = {}): Promise<Spread> {
  const clock = new FakeClock();
  const asterisk = await startAsterisk({ clock, app: APP });
  for (const user of ['other#1', 'next']) asterisk.users[user] = { password: 'gwsecret' };
  atEnd(() => asterisk.stop());
  atEnd(pump(clock));
  const members = new MemberProcesses(clock, credentialsOf(asterisk, more), ['other#1']);
  members.remote.add('other#1');
  const means = { clock, asterisk, members, store: { callIds: [], isDead: false }, more };
  const made = holderOf(means, 'gw');
  await isUp(made);
  await until(() => members.member('other#1').connection.state.kind === 'up', 'the member');
  return { ...means, ...made };
}

/** A caller whose call is in the other gateway, and in the store. */
async function talksElsewhere(at: Spread): Promise<Talk & { in: Member }> {
  at.members.next = 'other#1';
  const member = at.members.member('other#1');
  const { phone, call } = await rings({ asterisk: at.asterisk, harness: member.harness });
  at.store.callIds.push(call.callId);
  const media = await member.connection.openMedia(call.callId, patient);
  return { callId: call.callId, phone, audio: new Audio(media), in: member };
}

async function hangUp(call: Talk): Promise<void> {
  call.phone.hangUp();
  await until(() => call.audio.closedWith !== null, 'the end');
}

describe('a member in another gateway', () => {
  it('has calls like one of this gateway', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    await talkBothWays(call);
    call.phone.press('7');
    await until(() => call.audio.digits === '7', 'the key');
    expect(at.harness.inbound).toEqual([]);
    await hangUp(call);
    expect(call.in.harness.of(call.callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });

  it('and its calls bring no further look at the PBX while it is within reach', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    await at.clock.advanceAsync(10_000);
    const looks = () => at.asterisk.requests.filter(({ path }) => path.includes('applications/'));
    const before = looks().length;
    await at.clock.advanceAsync(30_000);
    expect(looks()).toHaveLength(before);
    await hangUp(call);
  });

  it('gets no call whose audio would come to an address of its gateway (RTP)', async () => {
    const at = await spread({ media: 'rtp' });
    at.members.next = 'other#1';
    const { phone } = await rings(at);
    expect(at.members.member('other#1').share.takesDials).toBe(false);
    phone.hangUp();
    await nothingLeft(at);
  });
});

describe('a member in another gateway that is out of reach', () => {
  it('keeps its call, gets no new one, and compares what it has missed when it is back', async () => {
    const at = await spread();
    const [call, left] = [await talksElsewhere(at), await talksElsewhere(at)];
    at.members.cutOff('other#1');
    const { call: own, phone } = await rings(at);
    expect(at.harness.inbound.map(({ callId }) => callId)).toEqual([own.callId]);
    left.phone.hangUp();
    await at.clock.advanceAsync(30_000);
    await talkBothWays(call);
    at.members.join('other#1');
    await until(() => left.in.harness.of(left.callId).includes('completed'), 'the end');
    call.phone.press('5');
    await until(() => call.audio.digits === '5', 'the key');
    phone.hangUp();
    await hangUp(call);
    await nothingLeft(at);
  });

  it('keeps a call whose telephone has transferred it meanwhile, which the store does not know', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    at.members.cutOff('other#1');
    const other = at.asterisk.transferByPhone(call.callId);
    await at.clock.advanceAsync(30_000);
    expect(call.audio.closedWith).toBeNull();
    at.members.join('other#1');
    await until(
      () => call.in.lines().some(({ msg }) => String(msg).includes('has transferred')),
      'the transfer',
    );
    other.hangUp();
    await until(() => call.audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });

  it('loses a caller whom it was given and has not got: another process answers', async () => {
    const at = await spread();
    at.members.next = 'other#1';
    at.members.swallowed.add('other#1');
    const phone = at.asterisk.placeCall({ from: '5551234', to: '8000', script: 'person' });
    await until(() => at.members.events.get('other#1') === 1, 'the event');
    at.members.cutOff('other#1');
    await at.clock.advanceAsync(5_000);
    expect(at.harness.inbound).toHaveLength(1);
    phone.hangUp();
    await nothingLeft(at);
  });

  it('keeps a caller whom it was given and has got', async () => {
    const at = await spread();
    at.members.next = 'other#1';
    const { harness } = at.members.member('other#1');
    const { call, phone } = await rings({ asterisk: at.asterisk, harness });
    at.store.callIds.push(call.callId);
    at.members.cutOff('other#1');
    await at.clock.advanceAsync(20_000);
    expect(at.harness.inbound).toEqual([]);
    expect(phone.isOver).toBe(false);
    at.members.join('other#1');
    phone.hangUp();
    await nothingLeft(at);
  });

  it('loses one whose event was lost although it is within reach, too', async () => {
    const at = await spread();
    at.members.next = 'other#1';
    at.members.swallowed.add('other#1');
    const phone = at.asterisk.placeCall({ from: '5551234', to: '8000', script: 'person' });
    await until(() => at.members.events.get('other#1') === 1, 'the event');
    at.members.swallowed.clear();
    at.members.cutOff('other#1');
    at.members.join('other#1');
    const { harness } = at.members.member('other#1');
    await until(() => harness.inbound.length + at.harness.inbound.length === 1, 'the call');
    phone.hangUp();
    await nothingLeft(at);
  });

  it('dials without its share: the process with the connection has that call alone', async () => {
    const at = await spread({ dial_template: 'PJSIP/{number}@loop' });
    const member = at.members.member('other#1');
    at.members.cutOff('other#1');
    const callId = await dial(member, 'answer', { runId: '123' });
    await until(() => at.harness.answered.length > 0, 'the answer');
    at.members.join('other#1');
    await until(() => member.connection.state.kind === 'up', 'the member');
    await at.clock.advanceAsync(5_000);
    expect(at.harness.answered).toEqual([{ callId, runId: '123' }]);
    expect(member.harness.answered).toEqual([]);
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    audio.close();
    await nothingLeft(at);
  });

  it('ends with its calls when it is declared dead, and not before', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    at.members.cutOff('other#1');
    await at.clock.advanceAsync(20_000);
    expect(call.phone.isOver).toBe(false);
    at.store.isDead = true;
    await at.clock.advanceAsync(9_000);
    await call.phone.ended;
    await nothingLeft(at);
  });

  it('ends with its calls when another process has its name', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    await at.members.end('other#1', () => {
      at.asterisk.users['other#1'] = { password: 'nobody knows it any more' };
      call.audio.close();
    });
    at.asterisk.users['other#1'] = { password: 'gwsecret' };
    at.store.callIds = [];
    at.members.start('other#1');
    at.members.join('other#1');
    await call.phone.ended;
    await nothingLeft(at);
  });
});

it('a process that has had the connection itself needs another share, with the calls that it has', async () => {
  const at = await spread();
  const call = await talksElsewhere(at);
  const { provider, credentials, share } = call.in;
  expect(share.isOver).toBe(false);
  const account = { configurationId: '1', credentials };
  const own = provider.pbx.connect(account, { listener: new Room(), log: quietLog().log });
  expect([share.isOver, share.takesDials]).toEqual([true, false]);
  await own.close();
  const joined = { listener: new Room(), log: quietLog().log, send: () => undefined };
  const next = provider.pbx.join(account, joined);
  expect([next.isOver, next.calls]).toEqual([false, 1]);
  await hangUp(call);
});

describe('the holder is killed', () => {
  it('and calls in the other gateway talk on, and get their events from the next one', async () => {
    const at = await spread();
    const call = await talksElsewhere(at);
    await kill(at);
    at.members.holderGone();
    await talkBothWays(call);
    const next = holderOf(at, 'next');
    await isUp(next);
    await talkBothWays(call);
    call.phone.press('5');
    await until(() => call.audio.digits === '5', 'the key');
    await hangUp(call);
    expect(call.in.harness.of(call.callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });
});
