// A caller who puts the call on hold, by the PBX's events. Source: asterisk §4.3.

import { expect, it } from 'vitest';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import {
  Audio,
  dial,
  isUp,
  nothingLeft,
  type Phone,
  patient,
  rings,
  type Table,
  table,
  talks,
  until,
} from '../ari-harness.ts';

/** A PBX with extensions, as FreePBX has them: its dialplan dials the telephone of 200. */
const EXTENSIONS: Dialplan = {
  'from-internal': {
    '200': [{ app: 'Dial', context: 'sip-dest', exten: 'instant', endpoint: 'loop' }],
    /** A ring group. */
    '600': [{ app: 'Dial', context: 'from-internal', exten: '200' }],
  },
};

/** The called party at a telephone behind a Local channel. */
async function behindLocal(
  to = '200',
  lost: string[] = [],
): Promise<{ at: Table; callId: string; phone: Phone; audio: Audio }> {
  const at = await table({
    asterisk: { dialplan: EXTENSIONS },
    credentials: { dial_template: 'Local/{number}@from-internal/n' },
  });
  at.asterisk.stasis.tap = (event) => (lost.includes(event.type) ? [] : [event]);
  const callId = await dial(at, to);
  await until(() => at.harness.answered.length > 0, 'the answer');
  const audio = new Audio(await at.connection.openMedia(callId, patient));
  return { at, callId, phone: at.asterisk.phone('instant'), audio };
}

it('a call is put on hold and taken back, once each', async () => {
  const at = await table();
  const { audio, phone } = await talks(at);
  phone.hold(true);
  phone.hold(true);
  await until(() => audio.outages.length > 0, 'the hold');
  phone.hold(false);
  await until(() => audio.outages.length > 1, 'its end');
  expect(audio.outages).toEqual(['held', 'unheld']);
  phone.hangUp();
  await until(() => audio.closedWith !== null, 'the end');
  await nothingLeft(at);
});

it('a call that was put on hold before its media are open is on hold', async () => {
  const at = await table();
  const { call, phone } = await rings(at);
  at.asterisk.faults.rest = ({ path }) => {
    if (path.endsWith('externalMedia')) phone.hold(true);
    return undefined;
  };
  const audio = new Audio(await at.connection.openMedia(call.callId, patient));
  expect(audio.outages).toEqual(['held']);
});

// The PBX reports the hold for the telephone's own channel alone: the agent talked into the music on hold, and hung up.
it.each([
  ['a called party behind a Local channel', '200', []],
  ['one behind two of them (ring group)', '600', []],
  ['one whose dial events were lost', '200', ['Dial']],
  ['one behind two of them whose dial events were lost', '600', ['Dial']],
])('%s puts the call on hold and takes it back', async (_, to, lost) => {
  const { at, callId, phone, audio } = await behindLocal(to, lost);
  const isWatched = () => at.asterisk.requests.some(({ path }) => path.endsWith('/subscription'));
  await until(isWatched, 'the subscription');
  phone.hold(true);
  await until(() => audio.outages.length > 0, 'the hold');
  phone.hold(false);
  await until(() => audio.outages.length > 1, 'its end');
  expect(audio.outages).toEqual(['held', 'unheld']);
  await at.provider.control.hangUp(at.credentials, callId, patient);
  await until(() => audio.closedWith !== null, 'the end');
  await nothingLeft(at);
});

it('the end of a hold behind a Local channel is found after the events were away', async () => {
  const { at, phone, audio } = await behindLocal();
  phone.hold(true);
  await until(() => audio.outages.length > 0, 'the hold');
  at.asterisk.stasis.tap = () => [];
  phone.hold(false);
  at.asterisk.stasis.tap = (event) => [event];
  at.asterisk.cutEvents();
  await until(() => at.connection.state.kind !== 'up', 'the loss');
  await isUp(at);
  await until(() => audio.outages.length > 1, 'its end');
  expect(audio.outages).toEqual(['held', 'unheld']);
});

it('a telephone behind a Local channel that is gone while it holds leaves a party who is not on hold', async () => {
  const { at, phone, audio } = await behindLocal();
  phone.hold(true);
  await until(() => audio.outages.length > 0, 'the hold');
  phone.hangUp();
  await until(() => audio.outages.length > 1, 'its end');
  expect(audio.outages).toEqual(['held', 'unheld']);
  expect(at.harness.inbound).toEqual([]);
});
