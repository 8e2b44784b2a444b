import { expect, it } from 'vitest';
import { Readiness } from '../../src/app/readiness.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';

function begin() {
  const clock = new FakeClock();
  const state = { isDatabaseThere: true, isThere: true, takesCalls: true };
  const isDatabaseThere = () => Promise.resolve(state.isDatabaseThere);
  const readiness = new Readiness({ clock, isDatabaseThere, calls: state });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5_000) {
      clock.advance(5_000);
      await settle();
    }
  };
  return { clock, state, readiness, pass };
}

it('a gateway without a call worker is starting, one without room is overloaded', () => {
  const { state, readiness } = begin();
  readiness.announced();
  expect(readiness.reasons).toEqual([]);
  state.takesCalls = false;
  expect(readiness.reasons).toEqual(['overloaded']);
  state.isThere = false;
  expect(readiness.reasons).toEqual(['starting']);
});

it('a gateway whose first key is not printed yet is starting', () => {
  const { readiness } = begin();
  expect(readiness.reasons).toEqual(['starting']);
  readiness.announced();
  expect(readiness.reasons).toEqual([]);
});

it('a gateway that stops is draining, whatever its load', () => {
  const { state, readiness } = begin();
  readiness.drain();
  state.takesCalls = false;
  expect(readiness.reasons).toEqual(['draining']);
});

it('a database is missed after 30 s, and not any more when it answers', async () => {
  const { clock, state, readiness, pass } = begin();
  readiness.announced();
  await pass(60_000);
  state.isDatabaseThere = false;
  await pass(25_000);
  expect(readiness.reasons).toEqual([]);
  await pass(5_000);
  expect(readiness.reasons).toEqual(['database']);
  state.isDatabaseThere = true;
  await pass(5_000);
  expect(readiness.reasons).toEqual([]);
  readiness.close();
  expect(clock.timers).toBe(0);
});
