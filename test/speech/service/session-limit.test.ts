import { describe, expect, it } from 'vitest';
import { fullKeys } from '../../../src/metrics/speech-metrics.ts';
import {
  limitFault,
  SessionLimit,
  SessionLimits,
} from '../../../src/speech/service/session-limit.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function limit(configured?: number): { clock: FakeClock; sessions: SessionLimit } {
  const clock = new FakeClock();
  return { clock, sessions: new SessionLimit(clock, configured) };
}

const open = (sessions: SessionLimit, count: number): void => {
  for (let nth = 0; nth < count; nth++) sessions.opened();
};

const ahead = (sessions: SessionLimit): number => {
  let count = 0;
  while (count < 1_000 && sessions.admitAhead()) count += 1;
  return count;
};

describe('the concurrency limit of a key', () => {
  it('is as configured, and full with that many sessions', () => {
    const { sessions } = limit(2);
    open(sessions, 1);
    expect(sessions.isFull).toBe(false);
    open(sessions, 1);
    expect(sessions.isFull).toBe(true);
    sessions.closed();
    expect(sessions.isFull).toBe(false);
  });

  it('is not there until the service refuses a session, and then for a minute', () => {
    const { clock, sessions } = limit();
    open(sessions, 4);
    expect([sessions.max, sessions.isFull]).toEqual([Number.POSITIVE_INFINITY, false]);
    sessions.refused();
    sessions.closed();
    expect([sessions.max, sessions.isFull]).toEqual([3, true]);
    sessions.closed();
    expect(sessions.isFull).toBe(false);
    clock.advance(60_000);
    expect(sessions.max).toBe(Number.POSITIVE_INFINITY);
  });

  it('is never nothing, however a service refuses', () => {
    const { sessions } = limit();
    open(sessions, 1);
    sessions.refused();
    sessions.closed();
    expect([sessions.max, sessions.isFull]).toEqual([1, false]);
  });

  it('admits a fifth of it as connections ahead, one at least, until they are used or too old', () => {
    const { clock, sessions } = limit(20);
    expect(ahead(sessions)).toBe(4);
    sessions.opened();
    expect(ahead(sessions)).toBe(1);
    clock.advance(30_000);
    expect(ahead(sessions)).toBe(4);
    expect(ahead(limit(3).sessions)).toBe(1);
    expect(ahead(limit().sessions)).toBe(1_000);
  });

  it('admits no connections ahead for sessions that the key has not', () => {
    const { sessions } = limit(20);
    open(sessions, 18);
    expect(ahead(sessions)).toBe(2);
    open(sessions, 2);
    expect(ahead(sessions)).toBe(0);
  });
});

describe('the limits of a process', () => {
  const settings = { provider: 'deepgram', api_key: 'key-1', model: 'nova-3' };

  it('are one for each provider, address and key, whatever else is set', () => {
    const limits = new SessionLimits(new FakeClock(), 1);
    const one = limits.of(settings, 5);
    expect(limits.of({ ...settings, model: 'nova-2' }, 5)).toBe(one);
    expect(limits.of({ ...settings, api_key: 'key-2' }, 5)).not.toBe(one);
    expect(limits.of({ ...settings, provider: 'soniox' }, 5)).not.toBe(one);
    expect(limits.of({ ...settings, base_url: 'wss://eu.example.com' }, 5)).not.toBe(one);
  });

  it('divide what is configured among the call workers, and the last configuration counts', () => {
    const limits = new SessionLimits(new FakeClock(), 4);
    expect(limits.of(settings, 50).max).toBe(12);
    expect(limits.of(settings, 2).max).toBe(1);
    expect(limits.of(settings, undefined).max).toBe(Number.POSITIVE_INFINITY);
  });

  it('are bounded in number, and keys in use are kept', () => {
    const limits = new SessionLimits(new FakeClock(), 1);
    const used = limits.of(settings, 5);
    const unused = limits.of({ ...settings, api_key: 'key-0' }, 5);
    used.opened();
    for (let nth = 0; nth < 600; nth++) limits.of({ ...settings, api_key: `other-${nth}` }, 5);
    expect(limits.of(settings, 5)).toBe(used);
    expect(limits.of({ ...settings, api_key: 'key-0' }, 5)).not.toBe(unused);
  });
});

it('a key at its limit counts in a metric of its own: its circuit stays closed', async () => {
  const { sessions } = limit(2);
  limitFault('stt', 'acme', sessions);
  const { values } = await fullKeys.get();
  expect(values).toContainEqual({ labels: { kind: 'stt', service: 'acme' }, value: 1 });
});
