// Faults behind a simulated Asterisk, with the real connector: what the far end of a trunk replies, telephones without a
// common codec, a PBX that dies. Who is blamed, where, and what the advice names.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import { CALLER, type CallHarness, withCallHarness } from '../call-harness.ts';
import { APP, hasHeardOut, pace, withAsterisk } from '../start/inbound/asterisk-harness.ts';
import { EXTENSION } from '../start/inbound/pbx-harness.ts';
import { expectInjected } from './why-harness.ts';

const held = withCallHarness();
const NUMBER = CALLER.slice(1);
let harness: CallHarness;
let asterisk: FakeAsterisk;
let stopClock: () => void;
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

async function firstRun(): Promise<{ id: string }> {
  await harness.until(async () => (await harness.runs())[0]?.state === 'completed');
  const [run] = await harness.runs();
  return { id: run?.id ?? '' };
}

describe('a call out over an Asterisk', () => {
  it.each([
    ['is busy', 'busy', 'caller', /later/, /busy/],
    ['is not answered', 'noanswer', 'caller', /later/, /nobody answered/],
    ['is to a telephone that is switched off', 'off', 'caller', /registered/, /SIP 480|cause 19/],
    ['is rejected', 'reject', 'caller', /blocked/, /rejected .*cause 21/],
    ['is to a number that nobody has', 'unalloc', 'caller', new RegExp(NUMBER), /cause 1\b/],
    ['has a trunk that does not reply', 'noreply', 'carrier', /registrations/, /cause 18/],
    ['meets congestion', 'congestion', 'carrier', /channels/, /congestion/],
    [
      'meets a network that is out of order',
      'netfail',
      'carrier',
      /operator of the trunk/,
      /cause 38/,
    ],
  ] as const)('that %s', async (_what, script, party, advice, summary) => {
    asterisk.answerNumber(NUMBER, script);
    const { runId: id } = await harness.start();
    speed = 30;
    await harness.ended({ id });
    await expectInjected(harness, { id }, { party, provider: 'ari', advice, summary });
  });
});

it('a call to an endpoint that the PBX does not have is refused by the PBX', async () => {
  await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
  const advice = /ari|Asterisk/i;
  await expectInjected(harness, await firstRun(), { party: 'pbx', provider: 'ari', advice });
});

describe('a call in over an Asterisk', () => {
  it('of a telephone with another codec alone names the module that is missing', async () => {
    asterisk.placeCall({ from: '5551234', to: EXTENSION, formats: ['opus'] });
    await expectInjected(harness, await firstRun(), {
      party: 'pbx',
      provider: 'ari',
      advice: /codec_opus\.so/,
      summary: /codec/,
    });
  });

  it('whose Asterisk dies during the call blames the PBX, at that moment', async () => {
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await harness.until(() => hasHeardOut(phone));
    const before = harness.clock.now();
    await asterisk.crash();
    const run = await firstRun();
    await expectInjected(harness, run, {
      party: 'pbx',
      provider: 'ari',
      node: 'Ask',
      between: [before - 1_000, harness.clock.now()],
      advice: /log of the PBX/,
      summary: /lost during the call/,
    });
  });

  it('whose caller gives up before the answer blames the caller', async () => {
    asterisk.faults.rest = ({ path }) => (path.endsWith('/answer') ? 'hang' : undefined);
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await harness.until(() => asterisk.requests.some(({ path }) => path.endsWith('/answer')));
    phone.hangUp();
    const run = await firstRun();
    await expectInjected(harness, run, {
      party: 'caller',
      advice: /^$/,
      summary: /before the call/,
    });
    expect(harness.errors).toEqual([]);
  });
});
