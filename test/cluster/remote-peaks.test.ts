import { describe, expect, it } from 'vitest';
import { answerPeaks, peaksAt } from '../../src/cluster/remote-peaks.ts';
import type { Peaks, PeaksWanted } from '../../src/store/files/recording-peaks.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { linkedGateways } from './linked-gateways.ts';

const wanted = { fromMs: 0, bins: 2 };
const found: Peaks = {
  durationMs: 40.125,
  fromMs: 0,
  binMs: 20,
  bins: 2,
  etag: '"e"',
  values: new Int8Array([-128, 127, 0, 1, -1, 2, -3, 4]),
};

function two(read: (key: string, wanted: PeaksWanted) => Promise<Peaks | undefined>) {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const here = on.join('a');
  const there = on.join('b');
  answerPeaks(there, { read });
  const ask = (node: string, key = 'recordings/7.wav') =>
    peaksAt({ bus: here, isKnown: (name) => name !== 'unknown' }, node, { key, ...wanted });
  return { clock, on, ask };
}

describe('peaks at another gateway', () => {
  it('come as they are measured there, for a process of it', async () => {
    const keys: string[] = [];
    const { ask } = two(async (key, how) => {
      keys.push(key);
      expect(how).toEqual(wanted);
      return found;
    });
    expect(await ask('b#2')).toEqual(found);
    expect(keys).toEqual(['recordings/7.wav']);
  });

  it('are undefined without the file, and for a gateway that is unknown, gone or silent', async () => {
    const { ask, clock, on } = two(async () => undefined);
    expect(await ask('b#1')).toBeUndefined();
    expect(await ask('unknown#1')).toBeUndefined();
    on.join('c');
    expect(await ask('c#1')).toBeUndefined();
    const silent = two(() => new Promise(() => undefined));
    const asking = silent.ask('b');
    await settle();
    silent.clock.advance(8_000);
    expect(await asking).toBeUndefined();
    on.cut('a');
    expect(await ask('b')).toBeUndefined();
    expect(clock.now()).toBeGreaterThan(0);
  });

  it('are of recordings of runs only', async () => {
    const read: string[] = [];
    const { ask } = two(async (key) => {
      read.push(key);
      return found;
    });
    expect(await ask('b', 'campaigns/1/list.csv')).toBeUndefined();
    expect(read).toEqual([]);
  });
});
