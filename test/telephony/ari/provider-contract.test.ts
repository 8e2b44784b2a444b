// Asterisk by the contract of all providers (provider-contract/contract-cases.ts), against the simulator. What is
// Asterisk's alone is tested in the folders beside.

import { describe, expect, it } from 'vitest';
import { cases } from '../provider-contract/contract-cases.ts';
import {
  Audio,
  dial,
  legOf,
  nothingLeft,
  patient,
  rings,
  type Table,
  type Talk,
  table,
  talks,
  until,
} from './ari-harness.ts';

const FRAME_MS = 20;

/** Cases of the contract that do not apply to a PBX, with the reason. */
const notOfAPbx: Partial<Record<keyof typeof cases, string>> = {
  keyOfRepeated: 'A PBX sends events over its own connection, each once, and no webhooks.',
  connectedOnce: 'As above; a channel enters the application once.',
  eventsTwice:
    'As above; events that were lost are made up for: connection/reconciliation.test.ts.',
  forged: 'No webhooks; who connects proves a login: connection/outbound-websocket.test.ts.',
  ofOthers:
    'No webhooks; an event of another application is dropped: connection/connection.test.ts.',
  transferReported:
    'The transfer itself resolves or rejects by its outcome: calls/transfer.test.ts.',
  joined: 'Bridges of the PBX, without a dial of ours: calls/warm-transfer.test.ts.',
  joinedWithNobody: 'As above.',
};
const tested = new Set<string>();

function contract(name: keyof typeof cases, test: () => Promise<void>): void {
  tested.add(name);
  it(cases[name].replace('%s', 'busy or no-answer'), test);
}

async function dialled(at: Table): Promise<Talk> {
  const callId = await dial(at, 'instant');
  await until(() => at.harness.answered.length > 0, 'the answer');
  const audio = new Audio(await at.connection.openMedia(callId, patient));
  return { callId, audio, phone: at.asterisk.phone('instant') };
}

const mediaChannels = ({ asterisk }: Table): number =>
  asterisk.requests.filter(({ path }) => path.endsWith('externalMedia')).length;

describe('a call from outside', () => {
  contract('arrives', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    expect(at.harness.inbound).toHaveLength(1);
    audio.say(15);
    phone.say(new Int16Array(2_400).fill(1_000));
    const isLoud = (frame: Uint8Array): boolean => frame.some((byte) => byte !== 0xff);
    await until(() => phone.arrivals.length >= 15 && audio.frames.some(isLoud), 'audio both ways');
    expect(at.asterisk.complaints).toEqual([]);
  });

  contract('namesNumbers', async () => {
    const at = await table();
    const { call } = await rings(at);
    const { from, to } = call;
    expect([from, to].map((number) => at.provider.formatAddress(number))).toEqual([from, to]);
  });

  contract('refused', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    await at.connection.refuse(call.callId, 'busy');
    expect(await phone.ended).toMatchObject({ sipStatus: 486 });
    expect(mediaChannels(at)).toBe(0);
    await nothingLeft(at);
  });

  contract('endsWithCaller', async () => {
    const at = await table();
    const { audio, phone, callId } = await talks(at);
    phone.hangUp();
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    await until(() => audio.closedWith !== null, 'the end of the media');
    expect(audio.closedWith).toBe('ended');
    await nothingLeft(at);
  });
});

describe('a call that we place', () => {
  contract('dialled', async () => {
    const at = await table();
    const callId = await dial(at, 'answer');
    await until(() => at.harness.answered.length > 0, 'the answer');
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    expect(audio.starts).toMatchObject([{ callId }]);
    const phone = at.asterisk.phone('answer');
    audio.say(10);
    await until(() => phone.arrivals.length >= 10, 'our audio');
    phone.hangUp();
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress', 'completed']);
    expect(at.asterisk.complaints).toEqual([]);
  });

  contract('notAnswered', async () => {
    const at = await table();
    for (const [to, status] of [
      ['busy', 'busy'],
      ['noanswer', 'no-answer'],
    ] as const) {
      const callId = await dial(at, to, { ringS: 5 });
      await until(() => at.harness.of(callId).includes(status), status);
      expect(at.harness.of(callId).at(-1)).toBe(status);
    }
  });

  contract('longest', async () => {
    const at = await table();
    const callId = await dial(at, 'instant', { ringS: 86_400 });
    expect(callId).not.toBe('');
    expect(at.asterisk.complaints).toEqual([]);
  });

  contract('foundAgain', async () => {
    const at = await table();
    const { phone } = await dialled(at);
    const { control } = at.provider;
    const wanted = { runId: '77', from: '', to: 'instant', since: new Date(0) };
    // A PBX lists its current channels only, and not by their numbers.
    expect(await control.findCalls(at.credentials, wanted, patient)).toBeUndefined();
    phone.hangUp();
  });
});

describe('a call that talks', () => {
  contract('markPlayed', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const before = phone.arrivals.length;
    audio.say(20);
    audio.mark('first');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(audio.marks).toEqual(['first']);
    expect(legOf(at).deliveredFrames).toBe(20);
    await until(() => phone.arrivals.length - before >= 20, 'our audio');
    const [first, last] = [phone.arrivals[before], phone.arrivals[before + 19]];
    expect((last?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(19 * FRAME_MS);
  });

  contract('cleared', async () => {
    const at = await table();
    const { audio } = await talks(at);
    audio.say(100);
    audio.mark('cleared-1');
    audio.say(100);
    audio.mark('cleared-2');
    await until(() => legOf(at).deliveredFrames > 2, 'our audio');
    audio.clear();
    expect(audio.dropped).toEqual(['cleared-1', 'cleared-2']);
    await until(() => legOf(at).queue.status.queue_length === 0, 'the empty queue');
    expect(legOf(at).deliveredFrames).toBeLessThan(100);
    audio.say(5);
    audio.mark('after');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(audio.marks).toEqual(['after']);
  });

  contract('keysIn', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    phone.press('12#');
    await until(() => audio.digits.length >= 3, 'the keys');
    expect(audio.digits).toBe('12#');
  });

  contract('keysOut', async () => {
    const at = await table();
    const { callId, phone } = await dialled(at);
    await at.provider.control.sendDigits?.(at.credentials, callId, '12#', patient);
    await until(() => phone.digits.length >= 3, 'the keys');
    expect(phone.digits).toBe('12#');
  });

  contract('hungUpTwice', async () => {
    const at = await table();
    const { callId, phone } = await dialled(at);
    const { control } = at.provider;
    await control.hangUp(at.credentials, callId, patient);
    await phone.ended;
    await control.hangUp(at.credentials, callId, patient);
    await control.hangUp(at.credentials, 'never-there', patient);
    await nothingLeft(at);
  });

  contract('transferred', async () => {
    const at = await table();
    const { callId, audio } = await talks(at);
    const target = { to: 'answer', callerId: '5550000', ringS: 20 };
    await at.provider.control.transfer(at.credentials, callId, target, patient);
    expect(at.asterisk.phone('answer').from).toBe('5550000');
    expect(audio.closedWith).toBe('ended');
  });

  contract('lookedUp', async () => {
    const at = await table();
    const { callId, phone } = await dialled(at);
    const { control } = at.provider;
    const up = await control.getCall(at.credentials, callId, patient);
    expect(up?.status).toBe('in-progress');
    phone.hangUp();
    await nothingLeft(at);
    expect(await control.getCall(at.credentials, callId, patient)).toBeUndefined();
    expect(await control.getCall(at.credentials, 'never-there', patient)).toBeUndefined();
  });

  contract('closed', async () => {
    const at = await table();
    const { audio, phone, callId } = await talks(at);
    audio.close();
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    await until(() => at.harness.of(callId).at(-1) === 'completed', 'the end');
  });
});

describe('numbers', () => {
  contract('owned', async () => {
    const at = await table();
    const { control } = at.provider;
    // Only the dialplan knows its numbers.
    expect(await control.ownsNumber(at.credentials, '8000', patient)).toBeUndefined();
    expect(await control.ownsNumber(at.credentials, '9999', patient)).toBeUndefined();
  });

  contract('attached', async () => {
    const at = await table();
    const { control } = at.provider;
    const attached = await control.configureInbound(at.credentials, '8000', 'http://x', patient);
    expect(attached).toEqual({ ok: true, message: null });
    const { phone } = await rings(at);
    phone.hangUp();
    const detached = await control.detachInbound(at.credentials, '8000', 'http://x', patient);
    expect(detached.ok).toBe(true);
  });
});

it('leaves out nothing of the contract without a reason', () => {
  const named = [...tested, ...Object.keys(notOfAPbx)];
  expect(named.toSorted()).toEqual(Object.keys(cases).toSorted());
});
