// A telephone transfers its call by itself (REFER), the caller's or that of a transfer's destination: the PBX replaces its
// channel, and the call goes on with who is there then. Source: Asterisk's StasisStart with `replace_channel`
// (res_stasis.c), docs.asterisk.org, StasisStart/StasisEnd test plan.

import { expect, it } from 'vitest';
import {
  cut,
  dial,
  nothingLeft,
  patient,
  type Table,
  type Talk,
  table,
  talks,
  transferLeg,
  until,
} from '../ari-harness.ts';

function bridgeOf({ asterisk }: Table, channelId: string): string[] {
  const channel = asterisk.channels.find(({ id }) => id === channelId);
  return channel?.bridge?.channels.map(({ id }) => id) ?? [];
}

/** A call that its caller's telephone has transferred. */
async function moved(): Promise<{
  at: Table;
  talk: Talk;
  other: ReturnType<Table['asterisk']['transferByPhone']>;
}> {
  const at = await table();
  const talk = await talks(at);
  const other = at.asterisk.transferByPhone(talk.callId);
  await until(() => at.lines().some(({ msg }) => String(msg).includes('has transferred')), 'it');
  return { at, talk, other };
}

it('a call that its caller transfers goes on with who is there then', async () => {
  const { at, talk, other } = await moved();
  await at.clock.advanceAsync(1_000);
  expect(at.harness.inbound).toHaveLength(1);
  expect(at.harness.of(talk.callId)).toEqual(['in-progress']);
  expect(talk.audio.closedWith).toBeNull();
  expect(bridgeOf(at, other.id)).toHaveLength(2);
  other.hangUp();
  await until(() => talk.audio.closedWith !== null, 'the end');
  expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
  await nothingLeft(at);
});

it('is hung up, and gets keys, by its first id', async () => {
  const { at, talk, other } = await moved();
  const { control } = at.provider;
  await control.sendDigits?.(at.credentials, talk.callId, '12', patient);
  expect(at.asterisk.requests.at(-1)).toMatchObject({ path: `channels/${other.id}/dtmf` });
  expect(await control.getCall(at.credentials, talk.callId, patient)).toMatchObject({
    status: 'in-progress',
  });
  await control.hangUp(at.credentials, talk.callId, patient);
  await until(() => talk.audio.closedWith !== null, 'the end');
  expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
  await nothingLeft(at);
});

it('is found again after the connection was lost, also when it is transferred once more', async () => {
  const { at, talk, other } = await moved();
  const next = at.asterisk.transferByPhone(other.id);
  at.asterisk.cutEvents();
  await until(() => at.connection.state.kind === 'down', 'the loss');
  await until(() => at.connection.state.kind === 'up', 'the connection');
  await at.clock.advanceAsync(1_000);
  expect(talk.audio.closedWith).toBeNull();
  next.hangUp();
  await until(() => talk.audio.closedWith !== null, 'the end');
  await nothingLeft(at);
});

/** Its events are lost. */
async function transferUnseen(at: Table, channelId: string) {
  at.asterisk.stasis.tap = () => [];
  const other = at.asterisk.transferByPhone(channelId);
  at.asterisk.cutEvents();
  await until(() => at.connection.state.kind === 'down', 'the loss');
  at.asterisk.stasis.tap = (event) => [event];
  await until(() => at.connection.state.kind === 'up', 'the connection');
  await at.clock.advanceAsync(1_000);
  return other;
}

it('goes on though its transfer was missed', async () => {
  const at = await table();
  const { callId, audio } = await talks(at);
  const other = await transferUnseen(at, callId);
  expect(audio.closedWith).toBeNull();
  expect(at.harness.inbound).toHaveLength(1);
  expect(bridgeOf(at, other.id)).toHaveLength(2);
  other.hangUp();
  await until(() => audio.closedWith !== null, 'the end');
  expect(at.harness.of(callId)).toEqual(['in-progress', 'completed']);
  await nothingLeft(at);
});

it('is no longer on hold', async () => {
  const at = await table();
  const { callId, phone, audio } = await talks(at);
  phone.hold(true);
  await until(() => audio.outages.length > 0, 'the hold');
  at.asterisk.transferByPhone(callId);
  await until(() => audio.outages.length > 1, 'its end');
  expect(audio.outages).toEqual(['held', 'unheld']);
});

it('a call that we dialled goes on too', async () => {
  const at = await table();
  const callId = await dial(at, 'answer');
  await until(() => at.harness.answered.length > 0, 'the answer');
  await at.connection.openMedia(callId, patient);
  const other = at.asterisk.transferByPhone(callId);
  await at.clock.advanceAsync(1_000);
  expect(at.harness.of(callId).at(-1)).toBe('in-progress');
  other.hangUp();
  await until(() => at.harness.of(callId).includes('completed'), 'the end');
  await nothingLeft(at);
});

/** By a cold transfer. The colleague's channel. */
async function handOver(at: Table, callId: string): Promise<string> {
  const target = { to: 'Local/answer@out-dest/n', callerId: '8000', ringS: 20 };
  const transfer = at.provider.control.transfer(at.credentials, callId, target, patient);
  const colleague = await transferLeg(at);
  await transfer;
  return colleague;
}

it('the destination of a transfer may transfer the caller on', async () => {
  const at = await table();
  const { callId, audio } = await talks(at);
  const colleague = await handOver(at, callId);
  await until(() => audio.closedWith !== null, 'the end of our media');
  const other = at.asterisk.transferByPhone(colleague);
  await at.clock.advanceAsync(1_000);
  expect(at.harness.inbound).toHaveLength(1);
  expect(bridgeOf(at, other.id)).toContain(callId);
  await cut(at, other.id);
  await until(() => at.harness.of(callId).includes('completed'), 'the end of the caller');
  await nothingLeft(at);
});

it('the caller stays with whom the destination has transferred unseen', async () => {
  const at = await table();
  const { callId } = await talks(at);
  const colleague = await handOver(at, callId);
  const other = await transferUnseen(at, colleague);
  expect(bridgeOf(at, other.id)).toContain(callId);
  await cut(at, other.id);
  await until(() => at.harness.of(callId).includes('completed'), 'the end of the caller');
  await nothingLeft(at);
});

it('a channel that takes the place of a call that is hung up is hung up', async () => {
  const at = await table();
  const { callId } = await talks(at);
  at.asterisk.faults.rest = ({ method, path }) =>
    method === 'DELETE' && path === `channels/${callId}` ? { status: 204, body: null } : undefined;
  await at.provider.control.hangUp(at.credentials, callId, patient);
  const other = at.asterisk.transferByPhone(callId);
  await until(() => !at.asterisk.channels.some(({ id }) => id === other.id), 'its end');
  await nothingLeft(at);
});
