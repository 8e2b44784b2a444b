// Calls of one connection in several processes: each has its call whole, whatever happens to the others.

import { describe, expect, it } from 'vitest';
import type { ProviderCredentials } from '../../../../src/telephony/provider/terms.ts';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
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
  gateway,
  isUp,
  kill,
  nothingLeft,
  patient,
  rings,
  type Table,
  type Talk,
  talkBothWays,
  until,
} from '../ari-harness.ts';
import { type Member, MemberProcesses } from '../member-processes.ts';

interface Spread extends Table {
  members: MemberProcesses;
}

/** Sends its callers back. */
const queue: Dialplan = {
  queue: {
    '700': [
      { app: 'Wait', ms: 1_000 },
      { app: 'Goto', context: 'pbx-in', exten: '8000' },
    ],
  },
};

/** A telephone, and a ring group of it. */
const extensions: Dialplan = {
  'from-internal': {
    '200': [{ app: 'Dial', context: 'sip-dest', exten: 'instant', endpoint: 'loop' }],
    '600': [{ app: 'Dial', context: 'from-internal', exten: '200' }],
  },
};

/** A connection with two members, `two` and `three`. */
async function spread(more: ProviderCredentials = {}, dialplan: Dialplan = {}): Promise<Spread> {
  const clock = new FakeClock();
  const asterisk = await startAsterisk({ clock, app: APP, dialplan });
  for (const user of ['two', 'three']) asterisk.users[user] = { password: 'gwsecret' };
  atEnd(() => asterisk.stop());
  atEnd(pump(clock));
  const credentials = credentialsOf(asterisk, more);
  const members = new MemberProcesses(clock, credentials, ['two', 'three']);
  const made = gateway(clock, credentials, undefined, members);
  await isUp(made);
  return { clock, asterisk, members, ...made };
}

/** A caller whose call is in that process; undefined: in the holder's. */
async function talksIn(at: Spread, name: string | undefined): Promise<Talk & { in: Gateway }> {
  at.members.next = name;
  const process = name === undefined ? at : at.members.member(name);
  const { phone, call } = await rings({ asterisk: at.asterisk, harness: process.harness });
  const media = await process.connection.openMedia(call.callId, patient);
  return { callId: call.callId, phone, audio: new Audio(media), in: process };
}

/** As by `kill -9`: its requests fail, and its sockets break. */
function killMember({ asterisk }: Spread, name: string, audio?: Audio) {
  return (): void => {
    asterisk.users[name] = { password: 'nobody knows it any more' };
    audio?.close();
  };
}

describe('a connection with members', () => {
  it('has a call in each process, which gets its own events alone', async () => {
    const at = await spread();
    const calls = [
      await talksIn(at, undefined),
      await talksIn(at, 'two'),
      await talksIn(at, 'three'),
    ];
    for (const call of calls) {
      await talkBothWays(call);
      call.phone.press('7');
      await until(() => call.audio.digits === '7', 'the key');
      call.phone.hold(true);
      await until(() => call.audio.outages.length > 0, 'the hold');
      call.phone.hold(false);
      await until(() => call.audio.outages.length > 1, 'its end');
      expect(calls.map(({ audio }) => audio.closedWith)).toEqual([null, null, null]);
      expect(call.in.harness.inbound.map(({ callId }) => callId)).toEqual([call.callId]);
    }
    for (const { phone, audio, in: process, callId } of calls) {
      phone.hangUp();
      await until(() => audio.closedWith !== null, 'the end');
      await until(() => process.harness.of(callId).length === 2, 'the status');
      expect(process.harness.of(callId)).toEqual(['in-progress', 'completed']);
    }
    await nothingLeft(at);
  });

  it('hangs up a call by the process that has it', async () => {
    const at = await spread();
    const { callId, phone, in: process } = await talksIn(at, 'two');
    await process.provider.control.hangUp(process.credentials, callId, patient);
    await phone.ended;
    await nothingLeft(at);
  });

  it('transfers a caller, and takes one back whose destination is busy', async () => {
    const at = await spread();
    const { control } = at.provider;
    const refused = await talksIn(at, 'two');
    const { provider, credentials } = refused.in;
    const busy = { to: 'busy', callerId: '', ringS: 20 };
    await expect(
      provider.control.transfer(credentials, refused.callId, busy, patient),
    ).rejects.toMatchObject({ code: 'TRANSFER_BUSY' });
    await talkBothWays(refused);
    const target = { to: 'answer', callerId: '', ringS: 20 };
    // The holder has no such call.
    await expect(
      control.transfer(at.credentials, refused.callId, target, patient),
    ).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    await provider.control.transfer(credentials, refused.callId, target, patient);
    at.asterisk.phone('answer').hangUp();
    await refused.phone.ended;
    await nothingLeft(at);
  });

  it('dials from any process, which gets the answer', async () => {
    const at = await spread({ dial_template: 'PJSIP/{number}@loop' });
    const three = at.members.member('three');
    const callId = await dial(three, 'answer', { runId: '123' });
    await until(() => three.harness.answered.length > 0, 'the answer');
    expect(three.harness.answered).toEqual([{ callId, runId: '123' }]);
    expect(three.harness.of(callId)).toEqual(['ringing', 'in-progress']);
    const audio = new Audio(await three.connection.openMedia(callId, patient));
    expect([at.harness.answered, at.members.member('two').harness.answered]).toEqual([[], []]);
    audio.close();
    await nothingLeft(at);
  });

  it('reports the early media and the end of a dialled call to its process', async () => {
    const at = await spread({ early_media: true, dial_template: 'PJSIP/{number}@loop' });
    const two = at.members.member('two');
    const callId = await dial(two, 'busy', { runId: '5' });
    await until(() => two.harness.of(callId).includes('busy'), 'the end');
    expect(at.harness.statuses).toEqual([]);
    await nothingLeft(at);
  });

  it.each(['200', '600'])(
    'reports the hold of a telephone behind a local channel to the process of its call (%s)',
    async (to) => {
      const at = await spread({ dial_template: 'Local/{number}@from-internal/n' }, extensions);
      const two = at.members.member('two');
      const callId = await dial(two, to, { runId: '9' });
      await until(() => two.harness.answered.length > 0, 'the answer');
      const audio = new Audio(await two.connection.openMedia(callId, patient));
      const isWatched = () =>
        at.asterisk.requests.some(({ path }) => path.endsWith('/subscription'));
      await until(isWatched, 'the subscription');
      at.asterisk.phone('instant').hold(true);
      await until(() => audio.outages.length > 0, 'the hold');
      expect(audio.outages).toEqual(['held']);
      audio.close();
      await nothingLeft(at);
    },
  );

  it.each(['websocket_client', 'audiosocket'])(
    'keeps all calls whose audio Asterisk brings to one address (%s)',
    async (media) => {
      const at = await spread({ media });
      at.members.next = 'two';
      const { phone } = await rings(at);
      expect(at.harness.inbound).toHaveLength(1);
      expect(at.members.member('two').share.takesDials).toBe(false);
      phone.hangUp();
      await nothingLeft(at);
    },
  );

  it('gives a caller who comes back from the dialplan to the process that had the call', async () => {
    const at = await spread({ transfer_context: 'queue' }, queue);
    const { callId, in: process, phone } = await talksIn(at, 'two');
    at.members.next = 'three';
    const target = { to: '700', callerId: '', ringS: 20 };
    await process.provider.control.transfer(process.credentials, callId, target, patient);
    await until(() => process.harness.inbound.length === 2, 'the return');
    expect(process.harness.inbound).toMatchObject([
      { callId, isBack: false },
      { callId, isBack: true },
    ]);
    expect(at.members.member('three').harness.inbound).toEqual([]);
    phone.hangUp();
    await nothingLeft(at);
  });

  it('also where that is the process of the connection', async () => {
    const at = await spread({ transfer_context: 'queue' }, queue);
    const { callId, in: process, phone } = await talksIn(at, undefined);
    at.members.next = 'three';
    const target = { to: '700', callerId: '', ringS: 20 };
    await process.provider.control.transfer(process.credentials, callId, target, patient);
    await until(() => at.harness.inbound.length === 2, 'the return');
    expect(at.harness.inbound[1]).toMatchObject({ callId, isBack: true });
    phone.hangUp();
    await nothingLeft(at);
  });

  it('examines also the numbers for which members refuse callers', async () => {
    const at = await spread();
    at.members.next = 'two';
    const two = at.members.member('two');
    const { call, phone } = await rings({ asterisk: at.asterisk, harness: two.harness });
    await two.connection.refuse(call.callId, 'not-configured', { dialled: '8000', nearest: null });
    await phone.ended;
    const account = { organizationId: '1', configurationId: '1', credentials: at.credentials };
    const facts = { numbers: [], publicUrl: 'http://127.0.0.1:8000', log: quietLog().log };
    const findings = await at.provider.pbx.examine(account, facts, patient);
    expect(findings.map(({ message }) => message).join('\n')).toContain('8000');
  });

  it('goes on with who is there after a telephone has transferred its call', async () => {
    const at = await spread();
    const { callId, audio, in: process } = await talksIn(at, 'two');
    const other = at.asterisk.transferByPhone(callId);
    await until(
      () => process.lines().some(({ msg }) => String(msg).includes('has transferred')),
      'the transfer',
    );
    await at.clock.advanceAsync(1_000);
    expect(audio.closedWith).toBeNull();
    other.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });
});

describe('the connection is lost', () => {
  it('and calls in all processes go on as if nothing had been', async () => {
    const at = await spread();
    const calls = [await talksIn(at, undefined), await talksIn(at, 'two')];
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    expect(at.members.member('two').connection.state.kind).toBe('down');
    await isUp(at);
    for (const call of calls) {
      await talkBothWays(call);
      call.phone.hangUp();
      await until(() => call.audio.closedWith !== null, 'the end');
    }
    await nothingLeft(at);
  });

  it('and a caller of a member leaves meanwhile', async () => {
    const at = await spread();
    const { callId, audio, phone, in: process } = await talksIn(at, 'two');
    at.asterisk.stasis.tap = () => [];
    phone.hangUp();
    await phone.ended;
    at.asterisk.stasis.tap = (event) => [event];
    at.asterisk.cutEvents();
    await until(() => audio.closedWith !== null, 'the end');
    expect(process.harness.of(callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });

  it('and a caller rings meanwhile, whom a member answers', async () => {
    const at = await spread();
    at.members.next = 'three';
    at.asterisk.stasis.tap = () => [];
    const phone = at.asterisk.placeCall({ from: '5551234', to: '8000', script: 'person' });
    await until(() => at.asterisk.channels.some(({ state }) => state === 'Ring'), 'the caller');
    await at.clock.advanceAsync(100);
    at.asterisk.stasis.tap = (event) => [event];
    at.asterisk.cutEvents();
    const { harness } = at.members.member('three');
    await until(() => harness.inbound.length > 0, 'the call');
    expect(at.harness.inbound).toEqual([]);
    phone.hangUp();
    await nothingLeft(at);
  });

  // The channel in its place is a stranger's to the process with the connection.
  it('and a telephone of a member transfers its call meanwhile', async () => {
    const at = await spread();
    const { callId, audio } = await talksIn(at, 'two');
    at.asterisk.stasis.tap = () => [];
    const other = at.asterisk.transferByPhone(callId);
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    at.asterisk.stasis.tap = (event) => [event];
    await isUp(at);
    await at.clock.advanceAsync(1_000);
    expect(audio.closedWith).toBeNull();
    other.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });
});

describe('a member is killed', () => {
  it.each(['two', undefined])('its call can go on in another process (%s)', async (name) => {
    const at = await spread();
    const killed = await talksIn(at, 'three');
    at.members.next = name;
    await at.members.end('three', killMember(at, 'three', killed.audio));
    const process = name === undefined ? at : at.members.member(name);
    await until(() => process.harness.inbound.length > 0, 'the call');
    expect(process.harness.inbound).toMatchObject([{ callId: killed.callId, isLeft: true }]);
    const media = await process.connection.openMedia(killed.callId, patient);
    const call = { ...killed, audio: new Audio(media) };
    await talkBothWays(call);
    call.phone.press('3');
    await until(() => call.audio.digits === '3', 'the key');
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await isUp(at);
    await talkBothWays(call);
    call.phone.hangUp();
    await until(() => process.harness.of(killed.callId).includes('completed'), 'the end');
    await nothingLeft(at);
  });

  // Its id has the tag of the dead process.
  it('a call that it dialled can go on in another member, which gets its events', async () => {
    const at = await spread({ dial_template: 'PJSIP/{number}@loop' });
    const three = at.members.member('three');
    const callId = await dial(three, 'instant', { runId: '123' });
    await until(() => three.harness.answered.length > 0, 'the answer');
    const before = new Audio(await three.connection.openMedia(callId, patient));
    at.members.next = 'two';
    await at.members.end('three', killMember(at, 'three', before));
    const two = at.members.member('two');
    await until(() => two.harness.answered.length > 0, 'the call');
    expect(two.harness.answered).toEqual([{ callId, runId: '123', isLeft: true }]);
    const audio = new Audio(await two.connection.openMedia(callId, patient));
    const telephone = at.asterisk.phone('instant');
    // The process with the connection asks all of them again.
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await isUp(at);
    telephone.press('5');
    await until(() => audio.digits === '5', 'the key');
    expect(at.harness.answered).toEqual([]);
    telephone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(two.harness.of(callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });

  it('the calls of the others go on', async () => {
    const at = await spread();
    const others = [await talksIn(at, undefined), await talksIn(at, 'two')];
    const killed = await talksIn(at, 'three');
    at.members.next = undefined;
    await at.members.end('three', killMember(at, 'three', killed.audio));
    killed.phone.hangUp();
    for (const call of others) {
      await talkBothWays(call);
      call.phone.hangUp();
      await until(() => call.audio.closedWith !== null, 'the end');
    }
    await nothingLeft(at);
  });

  it('who rang there is answered by another', async () => {
    const at = await spread();
    at.members.next = 'three';
    const { call } = await rings({
      asterisk: at.asterisk,
      harness: at.members.member('three').harness,
    });
    at.members.next = 'two';
    await at.members.end('three', killMember(at, 'three'));
    const two = at.members.member('two');
    await until(() => two.harness.inbound.length > 0, 'the call');
    expect(two.harness.inbound[0]?.callId).toBe(call.callId);
    const media = await two.connection.openMedia(call.callId, patient);
    new Audio(media).close();
    await nothingLeft(at);
  });

  it('two people whom it brought together talk on', async () => {
    const at = await spread();
    const { callId, phone, in: process } = await talksIn(at, 'three');
    const target = { to: 'answer', callerId: '', ringS: 20 };
    await process.provider.control.transfer(process.credentials, callId, target, patient);
    await at.members.end('three', killMember(at, 'three'));
    await at.clock.advanceAsync(1_000);
    const colleague = at.asterisk.phone('answer');
    expect([phone.isOver, colleague.isOver]).toEqual([false, false]);
    colleague.hangUp();
    await phone.ended;
    await nothingLeft(at);
  });

  it('and its successor takes calls', async () => {
    const at = await spread();
    await at.members.end('two', killMember(at, 'two'));
    at.asterisk.users['two'] = { password: 'gwsecret' };
    const next = at.members.start('two');
    await until(() => next.share.takesDials, 'the answer');
    const call = await talksIn(at, 'two');
    await talkBothWays(call);
    call.phone.hangUp();
    await until(() => call.audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });
});

describe('the holder is killed', () => {
  /** The next process with the connection. */
  async function next(at: Spread): Promise<Gateway> {
    const again = gateway(
      at.clock,
      credentialsOf(at.asterisk, { app_name: 'next' }),
      undefined,
      at.members,
    );
    await isUp(again);
    return again;
  }

  it('calls of the members talk on, also without it, and their events come from the next', async () => {
    const at = await spread();
    const own = await talksIn(at, undefined);
    const call = await talksIn(at, 'two');
    await kill(at, own.audio);
    at.members.holderGone();
    await talkBothWays(call);
    at.members.next = undefined;
    const { harness } = await next(at);
    await until(() => harness.inbound.length > 0, 'its own call');
    expect(harness.inbound).toMatchObject([{ callId: own.callId, isLeft: true }]);
    own.phone.hangUp();
    await talkBothWays(call);
    call.phone.press('5');
    await until(() => call.audio.digits === '5', 'the key');
    call.phone.hangUp();
    await until(() => call.audio.closedWith !== null, 'the end');
    expect(call.in.harness.of(call.callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });

  it('a member hangs up meanwhile, and the next has nothing to end', async () => {
    const at = await spread();
    const call = await talksIn(at, 'two');
    await kill(at);
    at.members.holderGone();
    call.audio.close();
    await call.phone.ended;
    await next(at);
    await until(() => call.in.harness.of(call.callId).length === 2, 'the end');
    await nothingLeft(at);
  });

  it('calls of a member that does not answer the next are left alone until it does', async () => {
    const at = await spread();
    const call = await talksIn(at, 'two');
    const ringing = await dial(at.members.member('three'), 'slow', { runId: '3' });
    await kill(at);
    at.members.holderGone();
    at.members.silent.add('two').add('three');
    const again = await next(at);
    await at.clock.advanceAsync(1_000);
    expect(call.phone.isOver).toBe(false);
    await talkBothWays(call);
    expect(again.harness.statuses.map(({ callId }) => callId)).not.toContain(ringing);
    at.members.silent.clear();
    await at.clock.advanceAsync(3_000);
    call.phone.press('5');
    await until(() => call.audio.digits === '5', 'the key');
    call.audio.close();
    const three: Member = at.members.member('three');
    await three.provider.control.hangUp(three.credentials, ringing, patient);
    await nothingLeft(at);
  });
});
