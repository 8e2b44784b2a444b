// A whole call whose connections to the PBX are all reset at once: the agent waits, says that the line was interrupted,
// and loses no word. Source: asterisk §0.17.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import { type CallHarness, GREETING, withCallHarness } from '../call-harness.ts';
import { APP, hasHeardOut, isLoud, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const LINE = 'Sorry, the line was interrupted.';
const held = withCallHarness();
let harness: CallHarness;
let asterisk: FakeAsterisk;
let stopClock: () => void;

beforeEach(async () => {
  harness = await held.harness.prepare();
  asterisk = await startAsterisk({ clock: harness.clock, app: APP });
  stopClock = pace(harness.clock, () => 4);
  await withAsterisk(harness, asterisk);
});

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

async function passes(ms: number): Promise<void> {
  const untilMs = harness.clock.monotonicMs() + ms;
  await harness.until(() => harness.clock.monotonicMs() >= untilMs);
}

it('goes on where it was cut, after one sentence, and its log says so', async () => {
  const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
  await harness.until(() => phone.heard.filter(isLoud).length > 25);
  await asterisk.loseNetwork();
  await passes(2_500);
  await asterisk.restoreNetwork();
  const [run] = await harness.runs();
  const id = run?.id ?? '';
  const of = async (type: string) =>
    (await harness.events({ id })).filter(({ body }) => body.type === type);
  await harness.until(async () => (await of('agent.said')).length >= 2);
  await harness.until(() => hasHeardOut(phone));
  expect((await of('media.interrupted')).length).toBe(1);
  expect((await of('media.restored')).length).toBe(1);
  phone.press('1');
  await phone.ended;
  const done = await harness.ended({ id });
  expect(done).toMatchObject({ disposition: 'user_qualified', gatheredContext: { drink: 'tea' } });
  const said = (await harness.transcript(done)).slice(0, 2);
  expect(said).toEqual(expect.arrayContaining([`assistant: ${GREETING}`, `assistant: ${LINE}`]));
});
