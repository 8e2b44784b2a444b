// A configuration's connection to its Asterisk: what rings, what is answered, how calls end, what is refused,
// and what becomes of it all when the order of things is not the usual one.

import { describe, expect, it } from 'vitest';
import type { RejectReason } from '../../../../src/telephony/provider/terms.ts';
import {
  Audio,
  atEnd,
  credentialsOf,
  dial,
  gateway,
  nothingLeft,
  patient,
  rings,
  type Table,
  table,
  talks,
  until,
} from '../ari-harness.ts';

describe('an inbound call', () => {
  it('rings with who calls and which number, is answered, and ends with the caller', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    expect(call).toMatchObject({ from: '5551234', to: '8000' });
    await at.connection.ring(call.callId);
    const audio = new Audio(await at.connection.openMedia(call.callId, patient));
    expect(audio.starts).toMatchObject([
      { callId: call.callId, codecIn: 'PCMU', codecOut: 'PCMU' },
    ]);
    phone.say(new Int16Array(8_000).fill(1_000));
    audio.say(5);
    await until(() => audio.frames.length > 10 && phone.arrivals.length >= 5, 'audio both ways');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(call.callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('is over when the call layer closes its socket', async () => {
    const at = await table();
    const { audio, phone, callId } = await talks(at);
    audio.close();
    expect(await phone.ended).toMatchObject({ by: 'pbx' });
    await nothingLeft(at);
    await until(() => at.harness.of(callId).length === 2, 'the end');
    expect(at.harness.of(callId)).toEqual(['in-progress', 'completed']);
    expect(at.harness.statuses.at(-1)?.durationS).toBeGreaterThanOrEqual(0);
  });

  // A proxy before the PBX refused the hang-up for a while, and the call stayed up until the caller left.
  it('is hung up once the PBX can be asked again, also if its events were never lost', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    refusesHangUps(at);
    audio.close();
    await at.clock.advanceAsync(60_000, 500);
    expect(phone.isOver).toBe(false);
    at.asterisk.faults.rest = () => undefined;
    const sinceMs = at.clock.monotonicMs();
    await phone.ended;
    expect(at.clock.monotonicMs() - sinceMs).toBeLessThan(40_000);
    expect(at.harness.states).toHaveLength(1);
    await nothingLeft(at);
  });

  it('is over when the control hangs it up, and that it is gone is no fault', async () => {
    const at = await table();
    const { callId, phone } = await talks(at);
    await at.provider.control.hangUp(at.credentials, callId, patient);
    await phone.ended;
    await nothingLeft(at);
    await at.provider.control.hangUp(at.credentials, callId, patient);
  });

  it('ends before it is answered', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    phone.hangUp();
    await until(() => at.harness.of(call.callId).length > 0, 'the end');
    expect(at.harness.of(call.callId)).toEqual(['no-answer']);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_CALL_GONE',
    });
    await nothingLeft(at);
  });

  it('ends while its media are being opened: nothing of them stays', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    // The caller leaves the moment the media channel is there.
    at.asterisk.stasis.tap = (event) => {
      if (event.type === 'StasisStart' && isMedia(event)) phone.hangUp();
      return [event];
    };
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    await nothingLeft(at);
    expect(at.harness.of(call.callId).at(-1)).toBe('completed');
  });

  it('is given up while its media are being opened', async () => {
    const at = await table();
    const { call, phone } = await rings(at);
    const giveUp = new AbortController();
    at.asterisk.faults.upgrade = 'hang';
    const opening = at.connection.openMedia(call.callId, giveUp.signal);
    await until(() => at.asterisk.media.websockets.length > 0, 'the media channel');
    giveUp.abort(new Error('given up'));
    await expect(opening).rejects.toThrow();
    await phone.ended;
    await nothingLeft(at);
  });

  it('reports keys once, in order, including those before there was audio', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    at.asterisk.stasis.tap = (event) => {
      if (event.type === 'StasisStart' && isMedia(event)) phone.press('9');
      return [event];
    };
    const audio = new Audio(await at.connection.openMedia(call.callId, patient));
    phone.press('12*#');
    await until(() => audio.digits.length >= 5, 'the keys');
    expect(audio.digits).toBe('912*#');
  });

  it('takes back what was not said when the caller interrupts', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    audio.say(200);
    audio.mark('end');
    await until(() => phone.arrivals.length >= 10, 'the first words');
    audio.clear();
    await at.clock.advanceAsync(200);
    expect(phone.arrivals.length).toBeLessThan(100);
    expect(audio.marks).toEqual([]);
    audio.say(1);
    audio.mark('next');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(audio.marks).toEqual(['next']);
  });

  it('is reported under the number in the arguments, in any order of them', async () => {
    const args = (words: string[]) => [{ app: 'Stasis' as const, args: words }];
    const dialplan = {
      one: { '_X.': args(['4711']) },
      none: { '_X.': args([]) },
    };
    const at = await table({ asterisk: { dialplan } });
    for (const [context, to] of [
      ['one', '4711'],
      ['none', '8000'],
    ]) {
      at.asterisk.placeCall({ from: '1', to: '8000', context: context ?? '' });
      await until(() => at.harness.inbound.some((call) => call.to === to), `the call to ${to}`);
    }
  });
});

describe('a refusal', () => {
  it.each<[RejectReason, number]>([
    ['not-configured', 404],
    ['no-workflow', 503],
    ['signature', 403],
    ['busy', 486],
    ['draining', 503],
    ['error', 500],
  ])('%s is SIP %i to the caller', async (reason, sipStatus) => {
    const at = await table();
    const { phone, call } = await rings(at);
    await at.connection.refuse(call.callId, reason);
    expect(await phone.ended).toMatchObject({ sipStatus });
    await nothingLeft(at);
  });
});

describe('a refusal that the PBX does not take at once', () => {
  it('is requested again: the caller does not hear it ring for ever', async () => {
    const at = await table();
    const { phone, call } = await rings(at);
    refusesHangUps(at);
    void at.connection.refuse(call.callId, 'busy');
    await at.clock.advanceAsync(10_000, 500);
    expect(phone.isOver).toBe(false);
    at.asterisk.faults.rest = () => undefined;
    const sinceMs = at.clock.monotonicMs();
    expect(await phone.ended).toMatchObject({ sipStatus: 486 });
    expect(at.clock.monotonicMs() - sinceMs).toBeLessThan(20_000);
    await nothingLeft(at);
  });
});

describe('an outbound call', () => {
  it('is answered and talks to the end', async () => {
    const at = await table();
    const callId = await dial(at, 'answer');
    await until(() => at.harness.answered.length > 0, 'the answer');
    expect(at.harness.answered).toEqual([{ callId, runId: '77' }]);
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    const phone = at.asterisk.phone('answer');
    audio.say(5);
    await until(() => phone.arrivals.length >= 5 && audio.frames.length > 0, 'audio both ways');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress', 'completed']);
    expect(new Set(at.harness.statuses.map(({ dedupeKey }) => dedupeKey)).size).toBe(3);
    await nothingLeft(at);
  });

  // asterisk §4.2: what is told of each.
  it.each([
    ['busy', 'busy', 'busy (cause 17, SIP 486)', 'busy'],
    ['busynow', 'busy', 'busy (cause 17, SIP 486)', 'busy'],
    ['noanswer', 'no-answer', 'no answer (cause 19, SIP 480)', 'no answer (cause 19)'],
    ['congestion', 'failed', 'congestion (cause 34, SIP 503)', 'congestion'],
    ['reject', 'failed', 'rejected (cause 21, SIP 403)', 'rejected (cause 21)'],
    ['unalloc', 'failed', 'unallocated number (cause 1, SIP 404)', 'unallocated number (cause 1)'],
    ['noroute', 'failed', 'unallocated number (cause 1, SIP 404)', 'no route (cause 3)'],
    [
      'netfail',
      'failed',
      'network out of order (cause 38, SIP 500)',
      'network out of order (cause 38)',
    ],
    ['nosuch', 'failed', 'unallocated number (cause 1, SIP 404)', 'unknown'],
    ['hangafter', 'completed', 'normal clearing (cause 16)', 'normal clearing (cause 16)'],
  ])('to %s ends as %s', async (to, status, overSip, overLocal) => {
    const at = await table();
    for (const [endpoint, words] of [
      [`PJSIP/${to}@loop`, overSip],
      [`Local/${to}@out-dest/n`, overLocal],
    ]) {
      const callId = await dial(at, endpoint ?? '', { ringS: 5 });
      const ended = () =>
        at.harness.statuses.find((each) => isEndOf(callId, each.status, each.callId));
      await until(() => ended() !== undefined, 'the end');
      expect(ended()).toMatchObject({ status, runId: '77' });
      if (status !== 'completed') expect(ended()?.providerStatus).toBe(words);
    }
    await nothingLeft(at);
  });

  it('to a host that does not reply ends as no-answer, in words that say so', async () => {
    const at = await table();
    const callId = await dial(at, 'PJSIP/x@dead', { ringS: 5 });
    await until(() => at.harness.of(callId).length > 0, 'the end');
    expect(at.harness.statuses).toMatchObject([
      { status: 'no-answer', providerStatus: 'unreachable (cause 19, SIP 480)' },
    ]);
  });

  it('to an endpoint that does not exist fails at once and is removed', async () => {
    const at = await table();
    await expect(dial(at, 'PJSIP/x@nowhere')).rejects.toMatchObject({
      code: 'PROVIDER_DESTINATION',
    });
    expect(at.harness.statuses).toEqual([]);
  });

  it('that we end while it rings is cancelled', async () => {
    const at = await table();
    for (const to of ['PJSIP/noanswer@loop', 'Local/noanswer@out-dest/n']) {
      const callId = await dial(at, to);
      await until(() => at.harness.of(callId).includes('ringing'), 'ringing');
      await at.provider.control.hangUp(at.credentials, callId, patient);
      await until(() => at.harness.of(callId).length > 1, 'the end');
      expect(at.harness.of(callId)).toEqual(['ringing', 'canceled']);
    }
    await nothingLeft(at);
  });

  it('that is not wanted any more is hung up once the PBX can be asked again', async () => {
    const at = await table();
    const callId = await dial(at, 'instant');
    await until(() => at.harness.answered.length > 0, 'the answer');
    refusesHangUps(at);
    await expect(at.provider.control.hangUp(at.credentials, callId, patient)).rejects.toMatchObject(
      { code: 'PROVIDER_CAPACITY' },
    );
    await at.clock.advanceAsync(10_000, 500);
    expect(at.harness.of(callId)).toEqual(['in-progress']);
    at.asterisk.faults.rest = () => undefined;
    const sinceMs = at.clock.monotonicMs();
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    expect(at.clock.monotonicMs() - sinceMs).toBeLessThan(20_000);
    await nothingLeft(at);
  });

  it('may send all of its events before the answer to its request', async () => {
    const at = await table();
    at.asterisk.faults.eventsBeforeAnswer = true;
    const callId = await dial(at, 'busynow');
    await until(() => at.harness.of(callId).length > 0, 'the end');
    expect(at.harness.of(callId)).toEqual(['busy']);
  });

  it('that may never have existed is not reported: its result is unknown', async () => {
    const at = await table();
    at.asterisk.faults.rest = ({ method, path }) =>
      method === 'POST' && path === 'channels' ? { status: 502, body: null } : undefined;
    await expect(dial(at, 'busynow')).rejects.toMatchObject({ code: 'PROVIDER_UNCERTAIN' });
    await at.clock.advanceAsync(5_000);
    at.asterisk.cutEvents(); // It is looked for after the connection is made anew, too.
    await at.clock.advanceAsync(5_000);
    expect(at.harness.statuses).toEqual([]);
    await nothingLeft(at);
  });

  it('names its run in every event', async () => {
    const at = await table();
    const callId = await dial(at, 'noanswer', { runId: '9007199254740993' });
    await until(() => at.harness.statuses.length > 0, 'ringing');
    expect(at.harness.statuses[0]).toMatchObject({ callId, runId: '9007199254740993' });
  });
});

describe('the events of Asterisk', () => {
  it('may come twice: nothing happens twice', async () => {
    const at = await table();
    at.asterisk.stasis.tap = (event) => [event, event];
    const { callId, phone, audio } = await talks(at);
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.inbound).toHaveLength(1);
    expect(at.harness.of(callId)).toEqual(['in-progress', 'completed']);
    const outbound = await dial(at, 'hangafter');
    await until(() => at.harness.of(outbound).includes('completed'), 'the end');
    expect(at.harness.answered).toHaveLength(1);
    expect(at.harness.of(outbound)).toEqual(['in-progress', 'completed']);
  });

  it('may come in the wrong order: a call that is over does not begin', async () => {
    const at = await table();
    const late: { type: string }[] = [];
    at.asterisk.stasis.tap = (event) => {
      if (!/"id":"\w+o\d{19}\w+"/.test(JSON.stringify(event['channel'] ?? ''))) return [event];
      if (event.type !== 'StasisStart') {
        return event.type === 'ChannelDestroyed' ? [event, ...late.splice(0)] : [event];
      }
      late.push(event);
      return [];
    };
    const callId = await dial(at, 'hangafter');
    await until(() => at.harness.of(callId).length > 0, 'the end');
    await at.clock.advanceAsync(100);
    expect(at.harness.answered).toEqual([]);
    expect(at.harness.of(callId)).toHaveLength(1);
  });

  it('may be of a kind that is not known, or no event at all', async () => {
    const at = await table();
    at.asterisk.stasis.tap = (event) => [
      { type: 'SomethingNew', [event.type]: 1 },
      { type: 'StasisStart', channel: 7 },
      { type: 'ChannelDtmfReceived', channel: { id: 'x' }, digit: null },
      event,
    ];
    const { audio } = await talks(at);
    expect(audio.starts).toHaveLength(1);
  });
});

describe('a connection', () => {
  it('reports which Asterisk it is, and its state at each change', async () => {
    const at = await table();
    expect(at.connection.state).toEqual({ kind: 'up', version: '22.10.1' });
    at.asterisk.cutEvents();
    await until(() => at.harness.states.length === 3, 'the reconnection');
    expect(at.harness.states).toMatchObject([
      { kind: 'up' },
      { kind: 'down', code: 'PBX_UNREACHABLE', isPermanent: false },
      { kind: 'up' },
    ]);
  });

  it('of a user who may only read leaves no password of its address in the log', async () => {
    const at = await table();
    at.asterisk.users['reader'] = { password: 'gwsecret', isReadOnly: true };
    await at.connection.close();
    const address = at.asterisk.url.replace('//', '//admin:geheim@');
    const credentials = { ...at.credentials, ari_endpoint: address, app_name: 'reader' };
    const reader = gateway(at.clock, credentials);
    await until(() => reader.connection.state.kind === 'down', 'the refusal');
    expect(reader.connection.state).toMatchObject({ code: 'PBX_READ_ONLY' });
    expect(JSON.stringify(reader.lines())).not.toContain('geheim');
  });

  it('finds out that the socket is only half open', async () => {
    const at = await table();
    at.asterisk.freezeEvents();
    await until(() => at.harness.states.length === 3, 'the reconnection');
    expect(at.harness.states[1]).toMatchObject({ code: 'PBX_UNREACHABLE' });
  });

  it('that is replaced leaves its calls to the next', async () => {
    const at = await table();
    const { callId, audio, phone } = await talks(at);
    await at.connection.close();
    const next = gateway(
      at.clock,
      credentialsOf(at.asterisk, { media_format: 'alaw' }),
      at.provider,
    );
    await until(() => next.connection.state.kind === 'up', 'the next connection');
    await at.clock.advanceAsync(500);
    expect(audio.closedWith).toBeNull();
    expect(phone.isOver).toBe(false);
    phone.press('5');
    await until(() => audio.digits === '5', 'the key');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(next.harness.of(callId)).toEqual(['completed']);
    await nothingLeft(at);
  });

  it('emits nothing once it is closed', async () => {
    const at = await table();
    await at.connection.close();
    at.asterisk.cutEvents();
    await at.clock.advanceAsync(1_000);
    expect(at.harness.states).toHaveLength(1);
    expect(at.asterisk.openEventSockets).toBe(0);
    atEnd(() => at.connection.close());
  });
});

/** As a proxy before a PBX that is busy. */
function refusesHangUps({ asterisk }: Table): void {
  asterisk.faults.rest = ({ method, path }) =>
    method === 'DELETE' && path.startsWith('channels/') ? { status: 503, body: null } : undefined;
}

function isMedia(event: Record<string, unknown>): boolean {
  return JSON.stringify(event['channel']).includes('"WebSocket/');
}

function isEndOf(callId: string, status: string, id: string): boolean {
  const isGoing = ['initiated', 'ringing', 'in-progress'].includes(status);
  return id === callId && !isGoing;
}
