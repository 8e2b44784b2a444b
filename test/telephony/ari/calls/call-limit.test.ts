// How long a caller may ring and a call may last, over a simulated Asterisk with the printed dialplan. A gateway that may
// not answer (read_only) let callers ring for an hour.

import { describe, expect, it } from 'vitest';
import { callLimitOf } from '../../../../src/telephony/ari/calls/call-limit.ts';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { APP, Audio, patient, rings, table, until } from '../ari-harness.ts';

const printed: Dialplan = {
  'pbx-in': {
    '8000': [
      { app: 'Set', data: 'TIMEOUT(absolute)=60' },
      { app: 'Stasis', args: ['inbound', '%', '3600'], label: 'stasis' },
      { app: 'Hangup', cause: 16 },
    ],
  },
};
const play = () => table({ asterisk: { dialplan: printed } });

function isLimit({ method, path }: { method: string; path: string }): boolean {
  return method === 'POST' && path.endsWith('/variable');
}

describe('the limit of a call', () => {
  it.each([
    [['inbound', '8000', '3600'], 3_600],
    [['inbound', '8000'], undefined],
    [['inbound', '8000', '0'], undefined],
    [['inbound', '8000', '9999999'], undefined],
    [['inbound', '8000', 'forever'], undefined],
    [['8000'], undefined],
    [[], undefined],
  ])('is the third argument of Stasis: %j', (args, limit) => {
    expect(callLimitOf(args)).toBe(limit);
  });

  it('is that of the dialplan as long as nobody answers', async () => {
    const at = await play();
    const startedMs = at.clock.monotonicMs();
    const { phone } = await rings(at);
    await at.clock.advanceAsync(61_000, 500);
    await phone.ended;
    expect(at.clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(60_000);
    await until(() => at.harness.statuses.length > 0, 'the end');
    expect(at.harness.statuses.map(({ status }) => status)).toEqual(['no-answer']);
  });

  it('is the one that the dialplan names once the gateway has answered', async () => {
    const at = await play();
    const { call, phone } = await rings(at);
    const audio = new Audio(await at.connection.openMedia(call.callId, patient));
    const limit = () => at.asterisk.requests.filter(isLimit);
    await until(() => limit().length === 1, 'the limit');
    expect(limit()[0]?.query).toEqual({ variable: 'TIMEOUT(absolute)', value: '3600' });
    await at.clock.advanceAsync(120_000, 1_000);
    expect(audio.closedWith).toBeNull();
    audio.close();
    await phone.ended;
  });

  it('is asked for again where the PBX does not take it at once', async () => {
    const at = await play();
    let refused = 0;
    at.asterisk.faults.rest = (request) => {
      if (!isLimit(request) || refused === 2) return undefined;
      refused += 1;
      return { status: 502, body: {} };
    };
    const { call } = await rings(at);
    const audio = new Audio(await at.connection.openMedia(call.callId, patient));
    await until(() => refused > 0, 'the request');
    await at.clock.advanceAsync(120_000, 1_000);
    expect(audio.closedWith).toBeNull();
    expect(refused).toBe(2);
    audio.close();
  });

  it('is not asked for where the dialplan names none', async () => {
    const at = await table();
    const { call } = await rings(at);
    const audio = new Audio(await at.connection.openMedia(call.callId, patient));
    await at.clock.advanceAsync(1_000, 100);
    expect(at.asterisk.requests.filter(isLimit)).toEqual([]);
    expect(at.asterisk.stasis.isServed(APP)).toBe(true);
    audio.close();
  });
});
