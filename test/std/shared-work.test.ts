import { describe, expect, it } from 'vitest';
import { SharedWork } from '../../src/std/shared-work.ts';
import { settle } from '../fakes/fake-clock.ts';

/** Work that a test ends; how often it began, and with which signals. */
function setUp() {
  const shared = new SharedWork<string>();
  const ends: ((result: string | Error) => void)[] = [];
  const signals: AbortSignal[] = [];
  const work = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((resolve, reject) => {
      ends.push((result) => (typeof result === 'string' ? resolve(result) : reject(result)));
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const of = (key: string, signal?: AbortSignal) => shared.run(key, work, signal);
  return { shared, of, ends, signals };
}

describe('shared work', () => {
  it('runs once for all callers of a key that come while it runs, and again for a later one', async () => {
    const { shared, of, ends } = setUp();
    const [one, same, other] = [of('a'), of('a'), of('b')];
    expect(ends).toHaveLength(2);
    expect(shared.has('a')).toBe(true);
    ends[0]?.('first');
    ends[1]?.('of b');
    expect(await Promise.all([one, same, other])).toEqual(['first', 'first', 'of b']);
    expect(shared.has('a')).toBe(false);
    const later = of('a');
    ends[2]?.('second');
    expect(await later).toBe('second');
  });

  it('rejects all callers with its fault, and begins anew for the next one', async () => {
    const { of, ends } = setUp();
    const both = Promise.allSettled([of('a'), of('a')]);
    ends[0]?.(new Error('it failed'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = of('a');
    ends[1]?.('next');
    expect(await next).toBe('next');
  });

  it('goes on while one caller waits, and is aborted when none does', async () => {
    const { shared, of, ends, signals } = setUp();
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, two] = [of('a', first.signal), of('a', second.signal)];
    first.abort(new Error('hung up'));
    await expect(one).rejects.toThrow('hung up');
    expect(signals[0]?.aborted).toBe(false);
    second.abort(new Error('hung up too'));
    await expect(two).rejects.toThrow('hung up too');
    expect(signals[0]?.aborted).toBe(true);
    expect(shared.has('a')).toBe(false);
    const next = of('a', new AbortController().signal);
    await settle();
    expect(shared.has('a')).toBe(true);
    ends[1]?.('next');
    expect(await next).toBe('next');
  });

  it('begins nothing for a caller that has left', async () => {
    const { of, ends } = setUp();
    await expect(of('a', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(ends).toEqual([]);
  });
});
