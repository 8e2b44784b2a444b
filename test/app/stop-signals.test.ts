import { expect, it } from 'vitest';
import { stopOnSignals } from '../../src/app/stop-signals.ts';
import { deferred } from '../fakes/deferred.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

interface Stopped {
  clock: FakeClock;
  signal: (name: string) => void;
  exits: number[];
  stops: () => number;
  settle: () => void;
  fail: () => void;
}

function stopping(): Stopped {
  const clock = new FakeClock();
  const listeners: ((signal: string) => void)[] = [];
  const exits: number[] = [];
  let stops = 0;
  const draining = deferred();
  const target = {
    on: (_name: string, listener: (signal: string) => void) => listeners.push(listener),
    exit: (code: number) => void exits.push(code),
  };
  const stop = (): Promise<void> => {
    stops++;
    return draining.promise;
  };
  stopOnSignals(stop, { clock, log: quietLog().log, target });
  return {
    clock,
    exits,
    signal: (name) => listeners[0]?.(name),
    stops: () => stops,
    settle: () => draining.resolve(),
    fail: () => draining.reject(new Error('no')),
  };
}

it('the first signal drains, and the process leaves with 0 behind it', async () => {
  const { signal, exits, stops, settle } = stopping();
  signal('SIGTERM');
  expect([stops(), exits]).toEqual([1, []]);
  settle();
  await expect.poll(() => exits).toEqual([0]);
});

it('copies of one Ctrl-C, from the terminal and from npm, are one signal', () => {
  const { signal, exits, stops, clock } = stopping();
  signal('SIGINT');
  clock.advance(900);
  signal('SIGINT');
  signal('SIGTERM');
  expect([stops(), exits]).toEqual([1, []]);
});

it('a second signal stops at once', () => {
  const { signal, exits, clock } = stopping();
  signal('SIGINT');
  clock.advance(1_000);
  signal('SIGINT');
  expect(exits).toEqual([1]);
});

it('a stop that fails leaves with 1', async () => {
  const { signal, exits, fail } = stopping();
  signal('SIGTERM');
  fail();
  await expect.poll(() => exits).toEqual([1]);
});
