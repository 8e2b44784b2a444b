// Whose share work takes, through what it awaits and begins.

import { describe, expect, it } from 'vitest';
import { JobLoop } from '../../src/std/job-loop.ts';
import { currentShare, inOwnShare, inShare, organizationShare } from '../../src/std/work-share.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';

const one = organizationShare('1');
const two = organizationShare('2');

async function* names(): AsyncGenerator<string | undefined> {
  for (let piece = 0; piece < 2; piece++) {
    await Promise.resolve();
    yield currentShare()?.name;
  }
}

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const pieces: T[] = [];
  for await (const piece of source) pieces.push(piece);
  return pieces;
}

describe("an organization's share", () => {
  it('follows its work through what is awaited, and is nobody else’s', async () => {
    const nameLater = async (): Promise<string | undefined> => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentShare()?.name;
    };
    const asked = [inShare(one, nameLater), inShare(two, nameLater), nameLater()];
    expect(await Promise.all(asked)).toEqual([one.name, two.name, undefined]);
  });

  it('makes the pieces of a stream, whoever reads them', async () => {
    const pieces = inShare(one, () => inOwnShare(names()));
    expect(await inShare(two, () => allOf(pieces))).toEqual([one.name, one.name]);
    expect(await allOf(inOwnShare(names()))).toEqual([undefined, undefined]);
  });

  it('ends a stream that is not read to its end', async () => {
    let hasEnded = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) yield 1;
      } finally {
        hasEnded = true;
      }
    }
    for await (const piece of inShare(one, () => inOwnShare(endless()))) {
      expect(piece).toBe(1);
      break;
    }
    expect(hasEnded).toBe(true);
  });

  it('is not that of a background job that its work wakes, nor of the runs after it', async () => {
    const clock = new FakeClock();
    const seen: (string | undefined)[] = [];
    const run = async (): Promise<void> => {
      seen.push(currentShare()?.name);
    };
    const loop = new JobLoop({ clock, everyMs: 1_000, run, onError: () => undefined });
    await loop.start();
    await inShare(one, () => loop.wake());
    clock.advance(1_000);
    await settle();
    expect(seen).toEqual([undefined, undefined, undefined]);
    await loop.stop();
  });
});
