// Whole calls whose parties cannot hear each other for a while: all connections to the PBX are reset at once, or the
// caller puts the call on hold. The agent waits, and loses no word. Source: asterisk §0.17, §4.3.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import { type CallHarness, GREETING, withCallHarness } from '../../call-harness.ts';
import { APP, hasHeardOut, isLoud, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const LINE = 'Sorry, the line was interrupted.';
const held = withCallHarness();
let harness: CallHarness;
let asterisk: FakeAsterisk;
let stopClock: () => void;
/** How much faster time passes than it does: store and sockets take real time. */
let speed = 4;

beforeEach(() => {
  speed = 4;
});

async function begin(settings: Record<string, unknown> = {}): Promise<void> {
  harness = await held.harness.prepare(undefined, settings);
  asterisk = await startAsterisk({ clock: harness.clock, app: APP });
  stopClock = pace(harness.clock, () => speed);
  await withAsterisk(harness, asterisk);
}

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

async function passes(ms: number): Promise<void> {
  const untilMs = harness.clock.monotonicMs() + ms;
  await harness.until(() => harness.clock.monotonicMs() >= untilMs);
}

it.each([
  ['', 2],
  [', also an agent that does not explain waits', 0],
])('goes on where it was cut, after one sentence, and its log says so%s', async (_who, delayS) => {
  await begin({ filler_delay_seconds: delayS });
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

it('on hold for a minute is not asked whether anybody is there, and goes on', async () => {
  await begin();
  const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
  await harness.until(() => phone.heard.filter(isLoud).length > 25);
  phone.hold(true);
  speed = 30;
  await passes(60_000);
  speed = 4;
  expect(phone.isOver).toBe(false);
  const [run] = await harness.runs();
  const id = run?.id ?? '';
  expect((await harness.events({ id })).some(({ body }) => body.type === 'user.turn')).toBe(false);
  phone.hold(false);
  const said = async () =>
    (await harness.events({ id })).filter(({ body }) => body.type === 'agent.said');
  await harness.until(async () => (await said()).length > 0);
  expect((await said()).map(({ body }) => body)).toMatchObject([{ text: GREETING }]);
  phone.press('1');
  await phone.ended;
  const done = await harness.ended({ id });
  expect(done).toMatchObject({ disposition: 'user_qualified' });
  const types = (await harness.events({ id })).map(({ body }) => body.type);
  expect(types.filter((type) => /held/.test(type))).toEqual(['call.held', 'call.unheld']);
  const transcript = await harness.transcript(done);
  expect(transcript.some((line) => /^system: on hold for (6\d|[5-9]\d) s$/.test(line))).toBe(true);
});
