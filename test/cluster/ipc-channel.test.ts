import { describe, expect, it } from 'vitest';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';

function two() {
  const clock = new FakeClock();
  const made = wires(2, clock);
  const [one, other] = made.links as [IpcChannel, IpcChannel];
  return { ...made, clock, one, other };
}

describe('a request between processes', () => {
  it('is answered by whoever knows its topic', async () => {
    const { one, other } = two();
    other.onRequest('double', async (body) => Number(body) * 2);
    expect(await one.request(1, 'double', 21, 1_000)).toBe(42);
  });

  it('brings our errors back with their code and facts, and no other', async () => {
    const { one, other, lines } = two();
    other.onRequest('ours', () => Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'q' })));
    other.onRequest('bug', () => Promise.reject(new Error('secret')));
    await expect(one.request(1, 'ours', {}, 1_000)).rejects.toMatchObject({
      code: 'QUEUE_FULL',
      message: 'The queue q is full',
    });
    const bug = one.request(1, 'bug', {}, 1_000);
    await expect(bug).rejects.toMatchObject({ code: 'WORKER_FAILED', facts: { worker: 1 } });
    await expect(one.request(1, 'unknown', {}, 1_000)).rejects.toMatchObject({
      code: 'WORKER_FAILED',
    });
    expect(lines().filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  it('fails at once if nobody is there, or leaves meanwhile', async () => {
    const { one, other, cut, clock } = two();
    other.onRequest('wait', () => new Promise(() => undefined));
    const waiting = one.request(1, 'wait', {}, 1_000);
    one.peerLost(1);
    await expect(waiting).rejects.toMatchObject({ code: 'WORKER_GONE' });
    cut(1);
    await expect(one.request(1, 'wait', {}, 1_000)).rejects.toMatchObject({ code: 'WORKER_GONE' });
    expect(clock.timers).toBe(0);
  });

  it('has its time, and what comes later is dropped', async () => {
    const { one, other, clock } = two();
    let answer: (body: unknown) => void = () => undefined;
    other.onRequest('slow', () => new Promise((resolve) => (answer = resolve)));
    const waiting = one.request(1, 'slow', {}, 1_000);
    clock.advance(1_000);
    await expect(waiting).rejects.toMatchObject({ code: 'TIMED_OUT' });
    answer('late');
    await Promise.resolve();
  });
});

describe('a note between processes', () => {
  it('comes with who sent it', () => {
    const { one, other } = two();
    const taken: unknown[] = [];
    other.onNotification('news', (body, { from }) => taken.push([body, from]));
    expect(one.notify(1, 'news', { bytes: Buffer.from('ab') })).toBe(true);
    expect(one.notify(1, 'nobody listens', {})).toBe(true);
    expect(taken).toEqual([[{ bytes: expect.anything() }, 0]]);
  });

  it('that is none is logged, and nothing breaks', () => {
    const clock = new FakeClock();
    const made = wires(1, clock);
    for (const junk of [undefined, 7, {}, { kind: 'note' }, { kind: 'reply', id: -1 }]) {
      made.links[0]?.notify(0, 'x', junk); // A body may be anything.
    }
    expect(made.lines()).toEqual([]);
  });
});
