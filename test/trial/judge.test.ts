import { describe, expect, it } from 'vitest';
import type { LedgerCall } from './crowd.ts';
import { type AttemptRow, judge, mostAtOnce, mostWithin } from './judge.ts';

const phoneNumber = '+14152000000';

function attempt(number: number, outcome: string, more: Partial<AttemptRow> = {}): AttemptRow {
  return { phoneNumber, number, state: 'ended', outcome, callId: `CA${number}`, ...more };
}

function call(sid: string, placedAt: number, endedAt: number | undefined): LedgerCall {
  const lot = { fate: 'busy', reply: 'created', news: 'in-order', ringMs: 1, talkMs: 1 } as const;
  const facts = { to: phoneNumber, from: '+1', status: 'busy' } as const;
  return { ...lot, ...facts, sid, placedAt, endedAt, talked: false, hungUpByGateway: false };
}

const told = (attempts: AttemptRow[], calls: LedgerCall[], state = 'done'): string[] =>
  judge({
    callsTo: () => calls,
    contacts: [{ phoneNumber, state }],
    attempts,
    attemptsMax: 3,
  }).broken.map((line) => line.replace(`${phoneNumber}: `, ''));

const twoCalls = [call('CA1', 0, 10), call('CA2', 20, 30)];

describe('the judge of a trial', () => {
  it('is content with due attempts, one after the other', () => {
    expect(told([attempt(1, 'busy'), attempt(2, 'answered')], twoCalls)).toEqual([]);
    expect(told([attempt(1, 'failed', { callId: null })], [], 'failed')).toEqual([]);
  });

  it('allows an attempt more for each that our own stop broke off', () => {
    const broken = [
      attempt(1, 'interrupted'),
      attempt(2, 'busy'),
      attempt(3, 'busy'),
      attempt(4, 'busy'),
    ];
    const calls = [1, 2, 3, 4].map((each) => call(`CA${each}`, each * 10, each * 10 + 5));
    expect(told(broken, calls)).toEqual([]);
    expect(told(broken.slice(0, 3), calls.slice(0, 3))).toEqual([
      'no attempt after busy in attempt 3',
    ]);
    expect(told(broken.slice(0, 1), calls.slice(0, 1))).toEqual([
      'no attempt after interrupted in attempt 1',
    ]);
  });

  it.each<[string, AttemptRow[], LedgerCall[], string]>([
    ['a contact that was left out', [], [], 'never attempted'],
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

  it('finds a contact that was forgotten', () => {
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
