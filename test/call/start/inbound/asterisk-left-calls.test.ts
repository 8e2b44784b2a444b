// Calls over a simulated Asterisk whose process has died: another process that gets the connection goes on with them, from
// the run's log. Source: asterisk §0.19.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../../fakes/asterisk/phone.ts';
import { CALLER, type CallHarness, GOODBYE, withCallHarness } from '../../call-harness.ts';
import { withSecondGateway } from '../../second-gateway.ts';
import { Mortal } from '../../session/resumed-harness.ts';
import {
  APP,
  connectsAsterisk,
  hasHeardOut,
  isLoud,
  pace,
  withAsterisk,
} from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const STILL_HERE = "assistant: Sorry, I'm still here.";
/** From the connection to the first words, in the calls' time. */
const SPEECH_MS_MAX = 5_000;
const held = withCallHarness();
const second = withSecondGateway();
let first: CallHarness;
let mortal: Mortal;
let asterisk: FakeAsterisk;
let stopClock: () => void;
/** How much faster time passes than it does. */
let speed = 4;

beforeEach(async () => {
  mortal = new Mortal(held.harness);
  first = await held.harness.prepare();
  asterisk = await startAsterisk({ clock: first.clock, app: APP });
  speed = 4;
  stopClock = pace(first.clock, () => speed);
  await withAsterisk(first, asterisk);
});

afterEach(async () => {
  await second.harness?.callControl.pbxLines.stop();
  await first.callControl.pbxLines.stop();
  await asterisk.stop();
  await first.until(() => first.callControl.activeCalls === 0);
  stopClock();
});

type Direction = 'inbound' | 'outbound';

/** A call that has talked. */
async function talks(direction: Direction): Promise<{ phone: Phone; runId: string }> {
  const phone = direction === 'inbound' ? callIn() : await callOut();
  await first.until(() => hasHeardOut(phone));
  const [run] = await first.runs();
  return { phone, runId: run?.id ?? '' };
}

const callIn = () => asterisk.placeCall({ from: '5551234', to: EXTENSION });

async function callOut(): Promise<Phone> {
  asterisk.answerNumber(CALLER.slice(1), 'instant');
  await first.start();
  await first.until(() => asterisk.phones.some(({ extension }) => extension === 'instant'));
  return asterisk.phone('instant');
}

/** The first process is dead for the store, which accepts nothing from it any more. `isAtPbx`: the PBX does. */
async function kill({ isAtPbx = false } = {}): Promise<void> {
  await mortal.die();
  if (!isAtPbx) asterisk.users['gw'] = { password: 'nobody knows it any more' };
  await first.callControl.pbxLines.stop();
  asterisk.users['next'] = { password: 'gwsecret' };
  const { id, credentials } = first.configuration;
  await first.at.store.telephony.updateConfiguration(first.at.owner.organizationId, id, {
    credentials: { ...credentials, app_name: 'next', app_password: 'gwsecret' },
  });
}

/** Another process has the connection. */
async function takeOver(prepare: (harness: CallHarness) => void = () => undefined) {
  const harness = await second.beside(first);
  connectsAsterisk(harness);
  prepare(harness);
  await harness.callControl.startJobs({ hasPbxs: true });
  return harness;
}

const nothingIsLeft = () =>
  first.until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);

describe('a call whose process has died', () => {
  it.each<Direction>(['inbound', 'outbound'])(
    'goes on in the next one to its end, in one run and one transcript (%s)',
    async (direction) => {
      const { phone, runId } = await talks(direction);
      // Its requests would end the call.
      await kill({ isAtPbx: true });
      speed = 1;
      const heard = phone.heard.length;
      const fromMs = first.clock.monotonicMs();
      const next = await takeOver();
      await next.until(() => phone.heard.slice(heard).some(isLoud));
      const speechMs = Math.round(first.clock.monotonicMs() - fromMs);
      process.stderr.write(`${direction}: speech ${speechMs} ms after the connection began\n`);
      expect(speechMs).toBeLessThan(SPEECH_MS_MAX);
      speed = 4;
      expect(await next.deps.store.runs.owner(runId)).toMatchObject({ isOwn: true });
      expect(await first.at.store.runs.taken([runId])).toEqual([runId]);
      await next.until(() => hasHeardOut(phone));
      phone.press('1');
      expect(await phone.ended).toMatchObject({ by: 'pbx' });
      const done = await next.ended({ id: runId });
      expect(done).toMatchObject({
        disposition: 'user_qualified',
        gatheredContext: { drink: 'tea' },
      });
      const transcript = await next.transcript(done);
      expect(transcript).toContain(STILL_HERE);
      expect(transcript.at(-1)).toBe(`assistant: ${GOODBYE}`);
      const events = await next.at.store.runs.events(runId);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
      const resumed = events.flatMap(({ body }) => (body.type === 'call.resumed' ? [body] : []));
      expect(resumed).toHaveLength(1);
      expect(resumed[0]?.recordingGapMs).toBeGreaterThan(0);
      expect(await next.runs()).toHaveLength(1);
      await nothingIsLeft();
      expect(asterisk.complaints).toEqual([]);
    },
  );

  it('is hung up and closed with its reason if nobody could go on with it for a minute', async () => {
    const { phone, runId } = await talks('inbound');
    await kill();
    first.clock.advance(61_000);
    const next = await takeOver();
    await phone.ended;
    const done = await next.completed({ id: runId });
    expect(done).toMatchObject({ disposition: 'unexpected_error' });
    await nothingIsLeft();
  });

  it('is hung up and closed if its media cannot be opened', async () => {
    const { phone, runId } = await talks('inbound');
    await kill();
    asterisk.faults.rest = ({ path }) =>
      path.endsWith('/externalMedia') ? { status: 500, body: null } : undefined;
    const next = await takeOver();
    await phone.ended;
    expect(await next.completed({ id: runId })).toMatchObject({ disposition: 'unexpected_error' });
    await nothingIsLeft();
  });

  it('is hung up if its run is over', async () => {
    const { phone, runId } = await talks('inbound');
    await kill();
    await first.at.sql("update runs set state = 'completed' where id = $1", [runId]);
    await takeOver();
    await phone.ended;
    await nothingIsLeft();
  });

  it('is not hung up if a living process turns out to have it', async () => {
    const { phone, runId } = await talks('inbound');
    await kill();
    let tries = 0;
    const next = await takeOver(({ deps }) => {
      deps.store.runs.takeLeft = () => {
        tries += 1;
        return Promise.resolve(undefined);
      };
    });
    await next.until(() => tries === 1);
    await next.pass(1_000);
    expect(phone.isOver).toBe(false);
    phone.hangUp();
    await nothingIsLeft();
    await first.at.sql("update runs set state = 'completed' where id = $1", [runId]);
  });

  it('is left alone while a living process of another gateway has its run', async () => {
    const { phone, runId } = await talks('inbound');
    await kill();
    await first.at.sql(
      "insert into nodes (name, epoch, started_at, seen_at) values ('elsewhere#1', 77, now(), now())",
    );
    await first.at.sql(
      "update runs set owner_node = 'elsewhere#1', owner_epoch = 77 where id = $1",
      [runId],
    );
    const next = await takeOver();
    await next.until(() => asterisk.openEventSockets === 1);
    await next.pass(1_000);
    expect(phone.isOver).toBe(false);
    expect(await next.deps.store.runs.owner(runId)).toMatchObject({ node: 'elsewhere#1' });
    await first.at.sql("delete from nodes where name = 'elsewhere#1'");
    await next.until(async () => (await next.deps.store.runs.owner(runId))?.isOwn === true);
    await next.until(() => next.callControl.activeCalls === 1);
    phone.hangUp();
    expect(await next.ended({ id: runId })).toMatchObject({ disposition: 'user_hangup' });
    await nothingIsLeft();
  });
});
