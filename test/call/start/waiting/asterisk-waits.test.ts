// A caller at an Asterisk that is played, who finds all places taken: the real call layer, store and connector.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { overflowPolicy } from '../../../../src/model/overflow.ts';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { type CallHarness, chat, withCallHarness } from '../../call-harness.ts';
import { APP, hasHeardOut, pace, withAsterisk } from '../inbound/asterisk-harness.ts';
import { EXTENSION } from '../inbound/pbx-harness.ts';

const held = withCallHarness();
const COLLEAGUE = '700';
let harness: CallHarness;
let asterisk: FakeAsterisk;
let stopClock: () => void;

beforeEach(async () => {
  harness = await held.harness.prepare(chat);
  const dialplan: Dialplan = {
    'out-dest': { [COLLEAGUE]: [{ app: 'Answer' }, { app: 'Wait', ms: 600_000 }] },
  };
  asterisk = await startAsterisk({ clock: harness.clock, app: APP, dialplan });
  stopClock = pace(harness.clock, () => 4);
  await withAsterisk(harness, asterisk, { dial_template: 'Local/{number}@out-dest/n' });
});

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

/** The only place is taken. */
async function full(policy: object): Promise<ReturnType<FakeAsterisk['placeCall']>> {
  const { organizationId } = harness.at.owner;
  await harness.at.sql('update organizations set concurrent_call_limit = 1 where id = $1', [
    organizationId,
  ]);
  const overflow = overflowPolicy.parse(policy);
  await harness.at.store.telephony.updateNumber(harness.configuration.id, harness.number.id, {
    overflow,
  });
  const first = asterisk.placeCall({ from: '5551234', to: EXTENSION });
  await harness.until(() => hasHeardOut(first));
  return first;
}

describe('a caller at Asterisk who finds all places taken', () => {
  it('hears an announcement and music, and then the agent', async () => {
    const first = await full({ mode: 'wait', waiting_audio: 'jazz' });
    const next = asterisk.placeCall({ from: '5555678', to: EXTENSION });
    const waiting = () => asterisk.channels.find(({ music }) => music === 'jazz');
    await harness.until(() => waiting() !== undefined);
    expect(waiting()).toMatchObject({
      state: 'Up',
      sounds: ['sound:queue-periodic-announce'],
    });
    first.hangUp();
    await harness.until(() => hasHeardOut(next));
    expect(waiting()).toBeUndefined();
    const run = (await harness.runs()).at(-1);
    expect(run?.gatheredContext).toMatchObject({ wait_outcome: 'admitted' });
    next.hangUp();
    await next.ended;
    await harness.until(() => asterisk.channels.length === 0);
    expect(asterisk.complaints).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('is joined with the fallback number, which ends with it', async () => {
    const first = await full({ mode: 'fallback', fallback_number: COLLEAGUE });
    const next = asterisk.placeCall({ from: '5555678', to: EXTENSION });
    await harness.until(() => asterisk.phones.some(({ extension }) => extension === COLLEAGUE));
    const runs = async () => harness.runs();
    await harness.until(async () =>
      (await runs()).some(({ disposition }) => disposition === 'call_transferred'),
    );
    next.hangUp();
    await next.ended;
    first.hangUp();
    await harness.until(() => asterisk.channels.length === 0);
    expect(harness.errors).toEqual([]);
  });
});
