// Calls whose far end is heard before anybody answers: a channel is made, and then dialled, once.

import { describe, expect, it } from 'vitest';
import type { RestAnswer } from '../../../fakes/asterisk/rest/rest.ts';
import {
  Audio,
  dial,
  gateway,
  kill,
  nothingLeft,
  patient,
  restart,
  type Table,
  table,
  until,
} from '../ari-harness.ts';

const early = { early_media: true };
const BOTH = ['PJSIP/early@loop', 'Local/early@out-dest/n'];

const heardTable = (): Promise<Table> => table({ credentials: early });

function asked({ asterisk }: Pick<Table, 'asterisk'>, path: RegExp): number {
  return asterisk.requests.filter(({ method, path: each }) => method === 'POST' && path.test(each))
    .length;
}

const DIAL = /^channels\/[^/]+\/dial$/;

/** It rings, and is heard. */
async function heard(at: Table, to = 'early'): Promise<{ callId: string; audio: Audio }> {
  const before = at.harness.early.length;
  const callId = await dial(at, to);
  await until(() => at.harness.early.length > before, 'early media');
  expect(at.harness.early.at(-1)).toEqual({ callId, runId: '77' });
  return { callId, audio: new Audio(await at.connection.openMedia(callId, patient)) };
}

function hasEnded({ harness }: Table, callId: string): boolean {
  return harness.statuses.some(
    (each) => each.callId === callId && !['ringing', 'in-progress'].includes(each.status),
  );
}

describe('a call with early media', () => {
  it.each(BOTH)('to %s is heard and may be spoken to while it rings, and goes on', async (to) => {
    const at = await heardTable();
    const { callId, audio } = await heard(at, to);
    const phone = at.asterisk.phone('early');
    audio.say(5);
    await until(() => audio.frames.length > 10 && phone.arrivals.length >= 5, 'audio both ways');
    expect(at.harness.of(callId)).toEqual(['ringing']);
    expect(at.harness.answered).toEqual([]);
    await until(() => at.harness.answered.length > 0, 'the answer');
    expect(at.harness.answered).toEqual([{ callId, runId: '77' }]);
    const before = phone.arrivals.length;
    audio.say(5);
    await until(() => phone.arrivals.length >= before + 5, 'audio after the answer');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress', 'completed']);
    expect(asked(at, /externalMedia$/)).toBe(1);
    await nothingLeft(at);
    expect(at.asterisk.complaints).toEqual([]);
  });

  // The call layer asks for its media again; it was hung up before that.
  it('is not hung up where its media, asked for before the answer, fail after it', async () => {
    const at = await heardTable();
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('externalMedia') ? 'hang' : undefined);
    const callId = await dial(at, 'early');
    await until(() => at.harness.early.length > 0, 'early media');
    const abandoned = new AbortController();
    const opening = at.connection.openMedia(callId, abandoned.signal);
    await until(() => at.harness.answered.length > 0, 'the answer');
    abandoned.abort();
    await expect(opening).rejects.toThrow();
    at.asterisk.faults.rest = () => undefined;
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    const phone = at.asterisk.phone('early');
    const before = phone.arrivals.length;
    audio.say(5);
    await until(() => phone.arrivals.length >= before + 5, 'audio');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress']);
  });

  it('shows the far end the caller id, as any other call does', async () => {
    const at = await heardTable();
    for (const to of BOTH) {
      const request = { to, from: '4711', runId: '77', ringS: 20 };
      const urls = { answerUrl: '', statusUrl: '', answeredByUrl: '', callS: 60 };
      await at.provider.control.dial(at.credentials, { ...request, ...urls }, patient);
      await until(() => at.asterisk.phones.length > 0, 'the telephone');
      expect(at.asterisk.phones.pop()?.from).toBe('4711');
    }
  });

  // asterisk §4.2: the same causes as of a call that is dialled at once.
  it.each([
    ['busy', 'busy'],
    ['busynow', 'busy'],
    ['noanswer', 'no-answer'],
    ['congestion', 'failed'],
    ['reject', 'failed'],
    ['unalloc', 'failed'],
    ['netfail', 'failed'],
    ['nosuch', 'failed'],
    ['hangafter', 'completed'],
  ])('to %s ends as %s', async (to, status) => {
    const at = await heardTable();
    for (const endpoint of [`PJSIP/${to}@loop`, `Local/${to}@out-dest/n`]) {
      const callId = await dial(at, endpoint, { ringS: 5 });
      await until(() => hasEnded(at, callId), 'the end');
      expect(at.harness.of(callId).at(-1)).toBe(status);
    }
    await nothingLeft(at);
  });

  // A busy tone before the answer is told of at once, and goes on for as long as the dialplan likes.
  it.each([
    ['busynow', 'busy'],
    ['congestion', 'failed'],
  ])('to %s is left as soon as that is reported', async (to, status) => {
    const at = await heardTable();
    const callId = await dial(at, to, { ringS: 1 });
    await until(() => hasEnded(at, callId), 'the end');
    expect(at.harness.of(callId)).toEqual([status]);
    await nothingLeft(at);
  });

  it('that is not answered in time ends, though its audio arrives', async () => {
    const at = await heardTable();
    const callId = await dial(at, 'early', { ringS: 2 });
    await until(() => at.harness.early.length > 0, 'early media');
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(callId)).toEqual(['ringing', 'no-answer']);
    await nothingLeft(at);
  });

  it('that we end while it is heard is cancelled', async () => {
    const at = await heardTable();
    const { callId, audio } = await heard(at);
    await at.provider.control.hangUp(at.credentials, callId, patient);
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(callId)).toEqual(['ringing', 'canceled']);
    await nothingLeft(at);
  });

  it('is over when the call layer closes its socket', async () => {
    const at = await heardTable();
    const { callId, audio } = await heard(at);
    audio.close();
    await until(() => hasEnded(at, callId), 'the end');
    await nothingLeft(at);
  });

  it('rings on if it cannot be heard, and is joined when it is answered', async () => {
    const at = await heardTable();
    const callId = await dial(at, 'early');
    await until(() => at.harness.early.length > 0, 'early media');
    at.asterisk.faults.upgrade = 503;
    await expect(at.connection.openMedia(callId, patient)).rejects.toThrow();
    at.asterisk.faults.upgrade = undefined;
    await until(() => at.harness.answered.length > 0, 'the answer');
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    audio.say(5);
    await until(() => at.asterisk.phone('early').arrivals.length >= 5, 'audio');
  });

  it('is identified by its first event, of any kind', async () => {
    const at = await heardTable();
    at.asterisk.stasis.tap = (event) =>
      event.type === 'StasisStart' && JSON.stringify(event).includes('outbound') ? [] : [event];
    const { callId, audio } = await heard(at);
    await until(() => at.harness.answered.length > 0 && audio.frames.length > 0, 'the answer');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress']);
  });
});

describe('a channel is dialled once', () => {
  it('and only when the application has it', async () => {
    const at = await heardTable();
    let looks = 0;
    at.asterisk.faults.rest = ({ path }) => {
      if (!path.endsWith('/silence')) return undefined;
      looks += 1;
      return looks > 3 ? undefined : NOT_YET;
    };
    await heard(at);
    expect(looks).toBe(4);
    expect(asked(at, DIAL)).toBe(1);
  });

  it('or never, if the application does not get it: it is taken back', async () => {
    const at = await heardTable();
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('/silence') ? NOT_YET : undefined);
    await expect(dial(at, 'early')).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
    expect(asked(at, DIAL)).toBe(0);
    expect(at.harness.statuses).toEqual([]);
    await nothingLeft(at);
  });

  it.each<[string, RestAnswer | 'hang']>([
    ['is lost', 'hang'],
    ['is a failure', { status: 502, body: null }],
  ])('though the answer %s: the call is taken back', async (_, fault) => {
    const at = await heardTable();
    let dials = 0;
    at.asterisk.faults.rest = ({ path }) => {
      if (!DIAL.test(path)) return undefined;
      dials += 1;
      return fault;
    };
    await expect(dial(at, 'early')).rejects.toMatchObject({ code: expect.any(String) });
    expect(dials).toBe(1);
    expect(at.harness.statuses).toEqual([]);
    await nothingLeft(at);
  });

  it('or never, if it is not known whether it was made', async () => {
    const at = await heardTable();
    at.asterisk.faults.rest = ({ path }) => (path === 'channels/create' ? 'hang' : undefined);
    await expect(dial(at, 'early')).rejects.toMatchObject({ code: expect.any(String) });
    expect(asked(at, DIAL)).toBe(0);
    await nothingLeft(at);
  });

  it('whatever becomes of the connection meanwhile', async () => {
    const at = await heardTable();
    const { callId, audio } = await heard(at);
    for (let nth = 0; nth < 3; nth++) {
      const before = at.harness.states.length;
      at.asterisk.cutEvents();
      await until(() => at.harness.states.length === before + 2, 'the reconnection');
    }
    at.connection.renew(at.credentials);
    await until(() => at.connection.state.kind === 'up', 'the renewal');
    await until(() => at.harness.answered.length > 0, 'the answer');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress']);
    expect(asked(at, DIAL)).toBe(1);
    expect(audio.closedWith).toBeNull();
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('though its connection is lost between its two steps', async () => {
    const at = await heardTable();
    at.asterisk.faults.rest = ({ path }) => {
      if (DIAL.test(path)) at.asterisk.cutEvents();
      return undefined;
    };
    const callId = await dial(at, 'PJSIP/early@loop');
    await until(() => at.harness.of(callId).includes('in-progress'), 'the answer');
    expect(asked(at, DIAL)).toBe(1);
  });

  it('by a process that does not hold the connection, too', async () => {
    const at = await heardTable();
    const other = gateway(at.clock, { ...at.credentials, stasis_app_name: 'other' });
    const callId = await dial({ ...other, credentials: at.credentials }, 'early');
    await until(() => at.harness.early.length > 0, 'early media');
    expect(at.harness.early).toEqual([{ callId, runId: '77' }]);
    expect(asked(at, DIAL)).toBe(1);
  });

  it('and one whose process died before is ended in the end', async () => {
    const at = await heardTable();
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('/silence') ? 'hang' : undefined);
    dial(at, 'early').catch(() => undefined);
    await until(() => at.asterisk.channels.length > 0, 'the channel');
    await kill(at);
    expect(at.asterisk.channels.length).toBeGreaterThan(0);
    at.asterisk.faults.rest = () => undefined;
    await restart(at);
    await nothingLeft(at);
    expect(asked(at, DIAL)).toBe(0);
  });
});

const NOT_YET: RestAnswer = {
  status: 409,
  body: { message: 'Channel not in Stasis application' },
};
