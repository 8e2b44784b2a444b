// Whole calls over a simulated Asterisk: the real call layer, store and connector, ARI and media over
// loopback, in the time of one fake clock. Source: contract §4.2, §7.5.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../../fakes/asterisk/phone.ts';
import {
  CALLER,
  type CallHarness,
  GOODBYE,
  GREETING,
  withCallHarness,
} from '../../call-harness.ts';
import { APP, hasHeardOut, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const held = withCallHarness();
const NUMBER = CALLER.slice(1);
let harness: CallHarness;
let asterisk: FakeAsterisk;
let stopClock: () => void;
/** How much faster time passes than it does: store and sockets take real time. */
let speed = 4;

beforeEach(async () => {
  harness = await held.harness.prepare();
  asterisk = await startAsterisk({ clock: harness.clock, app: APP });
  speed = 4;
  stopClock = pace(harness.clock, () => speed);
  await withAsterisk(harness, asterisk);
});

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

const heardOut = (phone: Phone) => harness.until(() => hasHeardOut(phone));
const runs = () => harness.runs();
const nothingIsLeft = () =>
  harness.until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);

describe('a call in over an Asterisk', () => {
  it('is led to its end by keys, and nothing of it is left', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    phone.press('1');
    expect(await phone.ended).toMatchObject({ by: 'pbx', cause: 16 });
    const [run] = await runs();
    const done = await harness.ended({ id: run?.id ?? '' });
    expect(done).toMatchObject({
      name: 'ARI Inbound 5551234',
      mode: 'ari',
      disposition: 'user_qualified',
      initialContext: { caller_number: '5551234', called_number: EXTENSION },
      gatheredContext: { drink: 'tea' },
    });
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: 1',
      `assistant: ${GOODBYE}`,
    ]);
    await nothingIsLeft();
    expect(harness.errors).toEqual([]);
    expect(asterisk.complaints).toEqual([]);
  });

  it('whose caller hangs up is closed, and nothing of it is left', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    phone.hangUp();
    await harness.until(async () => (await runs())[0]?.state === 'completed');
    const [run] = await runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'user_hangup',
    });
    await nothingIsLeft();
  });

  it('whose caller gives up before the answer leaves a completed run that says so', async () => {
    asterisk.faults.rest = ({ path }) => (path.endsWith('/answer') ? 'hang' : undefined);
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await harness.until(() => asterisk.requests.some(({ path }) => path.endsWith('/answer')));
    phone.hangUp();
    await harness.until(async () => (await runs())[0]?.state === 'completed');
    const [run] = await runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({ disposition: 'no-answer' });
    await nothingIsLeft();
  });

  it('of a telephone that speaks Opus alone is refused, and its run names the missing module', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION, formats: ['opus'] });
    expect(await phone.ended).toMatchObject({ cause: 58, sipStatus: 488 });
    await harness.until(async () => (await runs())[0]?.state === 'completed');
    const [run] = await runs();
    const done = await harness.ended({ id: run?.id ?? '' });
    expect(done.disposition).not.toBe('user_qualified');
    expect(done.gatheredContext['error']).toContain('codec_opus.so');
    await nothingIsLeft();
  });

  it('to an unassigned number is rejected as unallocated', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: '8888' });
    expect(await phone.ended).toMatchObject({ cause: 1 });
    expect(await runs()).toEqual([]);
    await nothingIsLeft();
  });

  it('to a number in another form than it is stored is refused with the nearest one in the log', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: `9${EXTENSION}` });
    expect(await phone.ended).toMatchObject({ cause: 1 });
    expect(harness.lines.find(({ msg }) => msg === 'inbound call refused')).toMatchObject({
      reason: 'not-configured',
      dialled: `9${EXTENSION}`,
      nearest: EXTENSION,
    });
  });

  it('beyond the calls that the organization may have is turned away as busy', async () => {
    await harness.at.sql('update organizations set concurrent_call_limit = 0');
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    expect(await phone.ended).toMatchObject({ cause: 17 });
    expect(await runs()).toEqual([]);
  });

  it('talks on when the events are cut off, and when the password is changed', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    asterisk.cutEvents();
    await harness.until(() => asterisk.openEventSockets === 1);
    asterisk.users['gw'] = { password: 'rotated' };
    const { id, credentials } = harness.configuration;
    await harness.at.store.telephony.updateConfiguration(harness.at.owner.organizationId, id, {
      credentials: { ...credentials, app_password: 'rotated' },
    });
    await harness.callControl.pbxLines.wake();
    await harness.until(() => asterisk.openEventSockets === 1);
    phone.press('1');
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    const [run] = await runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'user_qualified',
    });
    await nothingIsLeft();
  });

  it('that ends with its Asterisk is closed; Asterisk is used again once it is started', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(phone);
    await asterisk.crash();
    await harness.until(async () => (await runs())[0]?.state === 'completed');
    const configuration = async () =>
      harness.at.store.telephony.getConfiguration(
        harness.at.owner.organizationId,
        harness.configuration.id,
      );
    await harness.until(async () => (await configuration())?.inactiveSince !== null);
    expect((await configuration())?.inactiveReason).toMatch(/^PBX_/);
    await asterisk.start();
    await harness.until(async () => (await configuration())?.inactiveSince === null);
    const next = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await heardOut(next);
    next.hangUp();
    await nothingIsLeft();
    await harness.until(() => harness.callControl.activeCalls === 0);
  });
});

describe('a call out over an Asterisk', () => {
  it('is answered, led to its end by keys, and nothing of it is left', async () => {
    asterisk.answerNumber(NUMBER, 'instant');
    const { runId } = await harness.start();
    await harness.until(() => asterisk.phones.length === 1);
    const phone = asterisk.phone('instant');
    await heardOut(phone);
    phone.press('2');
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({
      disposition: 'user_qualified',
      gatheredContext: { drink: 'coffee', channel_name: expect.stringContaining(NUMBER) },
    });
    await nothingIsLeft();
    expect(harness.errors).toEqual([]);
    expect(asterisk.complaints).toEqual([]);
  });

  it.each([
    ['busy', 'busy'],
    ['busynow', 'busy'],
    ['noanswer', 'no-answer'],
    ['off', 'no-answer'],
    ['noreply', 'no-answer'],
    ['reject', 'failed'],
    ['congestion', 'failed'],
    ['unalloc', 'failed'],
    ['netfail', 'failed'],
  ])(
    'to a telephone that does %s is closed as %s, and its slot is free',
    async (script, disposition) => {
      asterisk.answerNumber(NUMBER, script);
      const { runId } = await harness.start();
      speed = 30;
      const done = await harness.ended({ id: runId });
      expect(done).toMatchObject({ disposition, durationS: 0 });
      expect(await harness.at.store.runs.countOpen()).toBe(0);
      await nothingIsLeft();
    },
  );

  it('to an endpoint that the PBX does not have is refused at once', async () => {
    await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    const [run] = await runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
  });

  it('is hung up by a client while it rings', async () => {
    asterisk.answerNumber(NUMBER, 'noanswer');
    const { runId } = await harness.start();
    const { organizationId } = harness.at.owner;
    await harness.until(() => asterisk.channels.length > 0);
    await harness.callControl.hangUp({ organizationId, runId });
    expect(await harness.run(runId)).toMatchObject({ disposition: 'system_cancelled' });
    await nothingIsLeft();
  });
});
