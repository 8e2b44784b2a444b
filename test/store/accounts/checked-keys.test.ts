// Keys that were read a moment ago.

import { expect, it } from 'vitest';
import { CheckedKeys } from '../../../src/store/accounts/accounts.ts';
import { deferred } from '../../fakes/deferred.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const found = (row: string) => async (): Promise<string> => row;

it('keeps a key for a second from when its read began', async () => {
  const clock = new FakeClock();
  const keys = new CheckedKeys<string>(clock);
  const reading = deferred();
  const first = keys.read('a', () => reading.promise.then(found('row')));
  await clock.advance(400);
  reading.resolve();
  expect(await first).toBe('row');
  await clock.advance(599);
  expect(keys.get('a')).toBe('row');
  await clock.advance(1);
  expect(keys.get('a')).toBeUndefined();
});

it('keeps no key that is not valid, nor what was valid before', async () => {
  const keys = new CheckedKeys<string>(new FakeClock());
  await keys.read('a', found('row'));
  expect(await keys.read('a', async () => undefined)).toBeUndefined();
  expect(keys.get('a')).toBeUndefined();
});

it('forgets all at a change, and does not keep what a read finds that began before it', async () => {
  const keys = new CheckedKeys<string>(new FakeClock());
  await keys.read('a', found('row'));
  const reading = deferred();
  const before = keys.read('b', () => reading.promise.then(found('row')));
  keys.forget();
  reading.resolve();
  expect(await before).toBe('row');
  expect([keys.get('a'), keys.get('b')]).toEqual([undefined, undefined]);
});

it('keeps at most ten thousand, the newest', async () => {
  const keys = new CheckedKeys<string>(new FakeClock());
  for (let key = 0; key <= 10_000; key++) await keys.read(String(key), found('row'));
  expect([keys.get('0'), keys.get('1'), keys.get('10000')]).toEqual([undefined, 'row', 'row']);
});
