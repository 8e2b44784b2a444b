import { describe, expect, it } from 'vitest';
import { type AttemptRow, judge, mostAtOnce, mostWithin } from './judge.ts';
import type { LedgerCall } from './simulated-callees.ts';

const phoneNumber = '+14152000000';

function attempt(number: number, outcome: string, more: Partial<AttemptRow> = {}): AttemptRow {
  return { phoneNumber, number, state: 'ended', outcome, callId: `CA${number}`, ...more };
}

function call(sid: string, placedAt: number, endedAt: number | undefined): LedgerCall {
  const lot = { fate: 'busy', reply: 'created', news: 'in-order' } as const;
  const times = { ringMs: 1, talkMs: 1, listedAfterMs: 0 };
  const facts = { to: phoneNumber, from: '+1', status: 'busy' } as const;
  return {
    ...lot,
    ...times,
    ...facts,
    sid,
    placedAt,
    endedAt,
    talked: false,
    hungUpByGateway: false,
  };
}

const told = (attempts: AttemptRow[], calls: LedgerCall[], state = 'done'): string[] =>
  judge({
    callsTo: () => calls,
    contacts: [{ phoneNumber, state }],
    attempts,
    callsMax: 3,
  }).broken.map((line) => line.replace(`${phoneNumber}: `, ''));

const twoCalls = [call('CA1', 0, 10), call('CA2', 20, 30)];

describe('the judge of a trial', () => {
  it('is content with due attempts, one after the other', () => {
    expect(told([attempt(1, 'busy'), attempt(2, 'answered')], twoCalls)).toEqual([]);
    expect(told([attempt(1, 'failed')], twoCalls.slice(0, 1), 'failed')).toEqual([]);
  });

  it('counts calls at the provider, those that our own stop broke off as well', () => {
    const cut = [1, 2, 3].map((each) => attempt(each, 'interrupted'));
    const calls = [1, 2, 3].map((each) => call(`CA${each}`, each * 10, each * 10 + 5));
    expect(told(cut, calls)).toEqual([]);
    expect(told(cut.slice(0, 2), calls.slice(0, 2))).toEqual([
      'no attempt after interrupted in attempt 2',
    ]);
    const four = [...cut, attempt(4, 'answered')];
    expect(told(four, [...calls, call('CA4', 40, 45)])).toEqual([
      'rung 4 times, 3 are allowed',
      'an attempt after interrupted in attempt 3',
    ]);
  });

  it.each<[string, AttemptRow[], LedgerCall[], string]>([
    [
      'a retry that is missing',
      [attempt(1, 'busy')],
      [call('CA1', 0, 10)],
      'no attempt after busy in attempt 1',
    ],
    [
      'a retry too many',
      [attempt(1, 'answered'), attempt(2, 'answered')],
      twoCalls,
      'an attempt after answered in attempt 1',
    ],
    [
      'an attempt that never ended',
      [attempt(1, 'answered', { state: 'live' })],
      [call('CA1', 0, 10)],
      'attempt 1 is live',
    ],
    ['a gap', [attempt(2, 'answered')], [call('CA2', 0, 10)], 'attempt 2 stands in place 1'],
    [
      'two calls at a time',
      [attempt(1, 'busy'), attempt(2, 'answered')],
      [call('CA1', 0, 25), call('CA2', 20, 30)],
      'two calls at a time',
    ],
    [
      'a call that is still up',
      [attempt(1, 'answered')],
      [call('CA1', 0, undefined)],
      'CA1 is still up',
    ],
    [
      'a call that nobody knows',
      [attempt(1, 'answered')],
      [call('CA1', 0, 9), call('CA9', 20, 30)],
      'CA9 (created) belongs to no attempt',
    ],
    [
      'a call that counts twice',
      [attempt(1, 'busy'), attempt(2, 'answered', { callId: 'CA1' })],
      [call('CA1', 0, 9)],
      'one call counts for two attempts',
    ],
  ])('finds %s', (_name, attempts, calls, fault) => {
    expect(told(attempts, calls)).toEqual([fault]);
  });

  it('finds a contact that was never rung, whatever the gateway says of it', () => {
    expect(told([], [])).toEqual(['never rung', 'never attempted']);
    expect(told([attempt(1, 'error', { callId: null })], [], 'failed')).toEqual([
      'never rung',
      'attempt 1 (error) has no call',
    ]);
    expect(told([attempt(1, 'unknown')], twoCalls.slice(0, 1), 'failed')).toEqual([
      'attempt 1 is unknown, though there is a list',
    ]);
  });

  it('finds a contact that was lost', () => {
    expect(told([attempt(1, 'answered')], [call('CA1', 0, 9)], 'pending')).toEqual([
      'left pending',
    ]);
  });
});

it('the most within a window and the most at once are counted', () => {
  expect(mostWithin([0, 100, 900, 1_000, 1_050, 5_000], 1_000)).toBe(4);
  expect(
    mostAtOnce([call('a', 0, 10), call('b', 5, 15), call('c', 10, 20), call('d', 30, 31)]),
  ).toBe(2);
});
