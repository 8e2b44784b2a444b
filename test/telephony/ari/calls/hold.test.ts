// A caller who puts the call on hold, by the PBX's events. Source: asterisk §4.3.

import { expect, it } from 'vitest';
import { Audio, nothingLeft, patient, rings, table, talks, until } from '../ari-harness.ts';

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
