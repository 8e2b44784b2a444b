import { describe, expect, it } from 'vitest';
import { FairQueue, HeavyRests } from '../../../src/api/admission/fair-queue.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const limits = { max: 4, ofNameMax: 3, waitingMax: 6, waitingOfNameMax: 4, waitMsMax: 1_000 };

/** Pieces of work that end when a test says so, by name in the order in which they began. */
function queueOf(clock = new FakeClock()) {
  const queue = new FairQueue(clock, limits);
  const begun: { name: string; end: () => void }[] = [];
  const refused: [string, unknown][] = [];
  const enter = async (name: string, signal = new AbortController().signal): Promise<void> => {
    try {
      begun.push({ name, end: await queue.enter(name, signal) });
    } catch (error) {
      refused.push([name, codeOf(error) ?? error]);
    }
  };
  const names = () => begun.map(({ name }) => name).join('');
  const end = async (at: number): Promise<void> => {
    begun[at]?.end();
    await settled();
  };
  return { queue, enter, names, end, refused, clock };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

async function enterAll(enter: (name: string) => Promise<void>, names: string): Promise<void> {
  for (const name of names) void enter(name);
  await settled();
}

describe('a fair queue', () => {
  it('holds no more pieces than it has places, and of one name fewer', async () => {
    const { queue, enter, names } = queueOf();
    await enterAll(enter, 'aaaabb');
    expect(names()).toBe('aaab');
    expect([queue.size, queue.waiting]).toEqual([4, 2]);
  });

  it('gives a free place to the name with the fewest under way, not to the first in line', async () => {
    const { enter, names, end } = queueOf();
    await enterAll(enter, 'aaabaab');
    await end(0);
    expect(names()).toBe('aaabb');
  });

  it('serves names in turn that have as many under way', async () => {
    const { enter, names, end } = queueOf();
    await enterAll(enter, 'abcdaaabb');
    for (const at of [2, 3, 4, 5]) await end(at);
    expect(names()).toBe('abcdabab');
  });

  it('refuses a name with too many waiting, and no other', async () => {
    const { enter, names, end, refused } = queueOf();
    await enterAll(enter, 'aaaaaaaab');
    expect(names()).toBe('aaab');
    expect(refused).toEqual([['a', 'TOO_MANY_REQUESTS']]);
    await enterAll(enter, 'c');
    await end(0);
    expect(names()).toBe('aaabc');
  });

  it('takes the newest from the longest line when all lines together are full', async () => {
    const { queue, enter, refused } = queueOf();
    await enterAll(enter, 'abcdaaaabb');
    expect(queue.waiting).toBe(6);
    await enterAll(enter, 'c');
    expect(refused).toEqual([['a', 'API_BUSY']]);
    await enterAll(enter, 'a');
    expect(refused.at(-1)).toEqual(['a', 'TOO_MANY_REQUESTS']);
    expect(queue.waiting).toBe(6);
  });

  it('refuses as busy what has waited too long, and keeps its place for others', async () => {
    const { queue, enter, refused, clock, end, names } = queueOf();
    await enterAll(enter, 'aaaba');
    await clock.advance(999);
    await enterAll(enter, 'c');
    await clock.advance(1);
    await settled();
    expect(refused).toEqual([['a', 'API_BUSY']]);
    expect(queue.waiting).toBe(1);
    await end(0);
    expect(names()).toBe('aaabc');
    expect(clock.timers).toBe(0);
  });

  it('removes a client that disconnects while it waits', async () => {
    const { queue, enter, refused, clock } = queueOf();
    const gone = new AbortController();
    await enterAll(enter, 'aaab');
    void enter('c', gone.signal);
    await settled();
    gone.abort(new Error('gone'));
    await settled();
    expect(refused).toEqual([['c', gone.signal.reason]]);
    expect([queue.waiting, clock.timers]).toEqual([0, 0]);
  });

  it('takes a place back from a piece that never ends', async () => {
    const { queue, enter, names, end, clock } = queueOf();
    await enterAll(enter, 'aaab');
    await clock.advance(149_999);
    await enterAll(enter, 'a');
    expect(names()).toBe('aaab');
    await clock.advance(1);
    await enterAll(enter, 'c');
    expect(names()).toBe('aaabca');
    await end(0);
    expect(queue.size).toBe(2);
  });

  it('keeps a name that rests waiting, however free it is, while others are served', async () => {
    const clock = new FakeClock();
    const rests = new HeavyRests(clock, () => true);
    rests.note('a');
    rests.note('b');
    const queue = new FairQueue(clock, limits, rests);
    const { signal } = new AbortController();
    const end = await queue.enter('a', signal);
    await clock.advance(100);
    end();
    let isAdmitted = false;
    const waiting = queue.enter('a', signal).then((endIt) => {
      isAdmitted = true;
      endIt();
    });
    (await queue.enter('b', signal))();
    await clock.advance(299);
    await settled();
    expect([isAdmitted, queue.waiting]).toEqual([false, 1]);
    await clock.advance(1);
    await waiting;
    // It worked for no time then: it rests no longer.
    expect([queue.waiting, clock.timers]).toEqual([0, 0]);
  });

  it('counts an end once', async () => {
    const { queue, enter, end } = queueOf();
    await enterAll(enter, 'ab');
    await end(0);
    await end(0);
    expect(queue.size).toBe(1);
  });
});
