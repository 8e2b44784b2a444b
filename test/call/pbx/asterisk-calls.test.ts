// Whole calls over an Asterisk that is played: the real call room, store and connector, ARI and media over
// loopback, in the time of one fake clock. Source: contract §4.2, §7.5.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../fakes/asterisk/phone.ts';
import { CALLER, type CallRoom, GOODBYE, GREETING, withCallRoom } from '../call-harness.ts';
import { APP, hasHeardOut, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const held = withCallRoom();
const NUMBER = CALLER.slice(1);
let room: CallRoom;
let asterisk: FakeAsterisk;
let stopClock: () => void;
/** How much faster time passes than it does: store and sockets take real time. */
let speed = 4;

beforeEach(async () => {
  room = await held.room.prepare();
  asterisk = await startAsterisk({ clock: room.clock, app: APP });
  speed = 4;
  stopClock = pace(room.clock, () => speed);
  await withAsterisk(room, asterisk);
});

afterEach(async () => {
  await room.switchboard.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

const heardOut = (phone: Phone) => room.until(() => hasHeardOut(phone));
const runs = () => room.runs();
const nothingIsLeft = () =>
  room.until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);

describe('a call in over an Asterisk', () => {
  it('is led to its end by keys, and nothing of it is left', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    phone.press('1');
    expect(await phone.ended).toMatchObject({ by: 'pbx', cause: 16 });
    const [run] = await runs();
    const done = await room.ended({ id: run?.id ?? '' });
    expect(done).toMatchObject({
      name: 'ARI Inbound 5551234',
      mode: 'ari',
      disposition: 'user_qualified',
      initialContext: { caller_number: '5551234', called_number: EXTENSION },
      gatheredContext: { drink: 'tea' },
    });
    expect(await room.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: 1',
      `assistant: ${GOODBYE}`,
    ]);
    await nothingIsLeft();
    expect(room.errors).toEqual([]);
    expect(asterisk.complaints).toEqual([]);
  });

  it('whose caller hangs up is closed, and nothing of it is left', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    phone.hangUp();
    await room.until(async () => (await runs())[0]?.state === 'completed');
    const [run] = await runs();
    expect(await room.ended({ id: run?.id ?? '' })).toMatchObject({ disposition: 'user_hangup' });
    await nothingIsLeft();
  });

  it('whose caller gives up before the answer leaves a completed run that says so', async () => {
    asterisk.faults.rest = ({ path }) => (path.endsWith('/answer') ? 'hang' : undefined);
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await room.until(() => asterisk.requests.some(({ path }) => path.endsWith('/answer')));
    phone.hangUp();
    await room.until(async () => (await runs())[0]?.state === 'completed');
    const [run] = await runs();
    expect(await room.ended({ id: run?.id ?? '' })).toMatchObject({ disposition: 'no-answer' });
    await nothingIsLeft();
  });

  it('to a number that nobody has is turned away as unallocated', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: '8888' });
    expect(await phone.ended).toMatchObject({ cause: 1 });
    expect(await runs()).toEqual([]);
    await nothingIsLeft();
  });

  it('beyond the calls that the organization may have is turned away as busy', async () => {
    await room.at.sql('update organizations set concurrent_call_limit = 0');
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    expect(await phone.ended).toMatchObject({ cause: 17 });
    expect(await runs()).toEqual([]);
  });

  it('talks on when the events are cut off, and when the password is changed', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    asterisk.cutEvents();
    await room.until(() => asterisk.openEventSockets === 1);
    asterisk.users['gw'] = { password: 'rotated' };
    const { id, credentials } = room.configuration;
    await room.at.store.telephony.updateConfiguration(room.at.owner.organizationId, id, {
      credentials: { ...credentials, app_password: 'rotated' },
    });
    await room.switchboard.pbxLines.wake();
    await room.until(() => asterisk.openEventSockets === 1);
    phone.press('1');
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    const [run] = await runs();
    expect(await room.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'user_qualified',
    });
    await nothingIsLeft();
  });

  it('that dies with its Asterisk is closed, which is back in use once it is started', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    await asterisk.crash();
    await room.until(async () => (await runs())[0]?.state === 'completed');
    const configuration = async () =>
      room.at.store.telephony.getConfiguration(room.at.owner.organizationId, room.configuration.id);
    await room.until(async () => (await configuration())?.inactiveSince !== null);
    expect((await configuration())?.inactiveReason).toMatch(/^PBX_/);
    await asterisk.start();
    await room.until(async () => (await configuration())?.inactiveSince === null);
    const next = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(next);
    next.hangUp();
    await nothingIsLeft();
    await room.until(() => room.switchboard.activeCalls === 0);
  });
});

describe('a call out over an Asterisk', () => {
  it('is answered, led to its end by keys, and nothing of it is left', async () => {
    asterisk.answerNumber(NUMBER, 'instant');
    const { runId } = await room.start();
    await room.until(() => asterisk.phones.length === 1);
    const phone = asterisk.phone('instant');
    await heardOut(phone);
    phone.press('2');
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    const done = await room.ended({ id: runId });
    expect(done).toMatchObject({
      disposition: 'user_qualified',
      gatheredContext: { drink: 'coffee', channel_name: expect.stringContaining(NUMBER) },
    });
    await nothingIsLeft();
    expect(room.errors).toEqual([]);
    expect(asterisk.complaints).toEqual([]);
  });

  it.each([
    ['busy', 'busy'],
    ['busynow', 'busy'],
    ['noanswer', 'no-answer'],
    ['reject', 'failed'],
    ['congestion', 'failed'],
    ['unalloc', 'failed'],
    ['netfail', 'failed'],
  ])(
    'to a telephone that does %s is closed as %s, and its slot is free',
    async (script, disposition) => {
      asterisk.answerNumber(NUMBER, script);
      const { runId } = await room.start();
      speed = 30;
      const done = await room.ended({ id: runId });
      expect(done).toMatchObject({ disposition, durationS: 0 });
      expect(await room.at.store.runs.countOpen()).toBe(0);
      await nothingIsLeft();
    },
  );

  it('to an endpoint that the PBX does not have is refused at once', async () => {
    await expect(room.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    const [run] = await runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
  });

  it('is hung up by a client while it rings', async () => {
    asterisk.answerNumber(NUMBER, 'noanswer');
    const { runId } = await room.start();
    const { organizationId } = room.at.owner;
    await room.until(() => asterisk.channels.length > 0);
    await room.switchboard.hangUp({ organizationId, runId });
    expect(await room.run(runId)).toMatchObject({ disposition: 'system_cancelled' });
    await nothingIsLeft();
  });
});
