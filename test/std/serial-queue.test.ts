import { describe, expect, it } from 'vitest';
import { SerialQueue, SerialQueues } from '../../src/std/serial-queue.ts';

describe('turns', () => {
  it('come one after the other, whatever became of those before', async () => {
    const turns = new SerialQueue('work', 10);
    const order: string[] = [];
    let release: () => void = () => undefined;
    const first = turns.run(async () => {
      order.push('first begins');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push('first ends');
      throw new Error('broken');
    });
    const second = turns.run(async () => order.push('second'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['first begins']);
    release();
    await expect(first).rejects.toThrow('broken');
    await second;
    expect(order).toEqual(['first begins', 'first ends', 'second']);
  });

  it('are refused when too many wait', async () => {
    const turns = new SerialQueue('work', 1);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const taken = [turns.run(() => blocked), turns.run(() => blocked)];
    await expect(turns.run(() => blocked)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    release();
    await Promise.all(taken);
    await expect(turns.run(() => Promise.resolve(1))).resolves.toBe(1);
  });
});

describe('turns of a key', () => {
  it('come one after the other, beside those of other keys, and leave nothing behind', async () => {
    const turns = new SerialQueues('work', 1);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const order: string[] = [];
    const first = turns.run('a', () => blocked.then(() => order.push('first of a')));
    const second = turns.run('a', async () => order.push('second of a'));
    await expect(turns.run('a', () => blocked)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await turns.run('b', async () => order.push('of b'));
    expect(turns.size).toBe(1);
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['of b', 'first of a', 'second of a']);
    expect(turns.size).toBe(0);
    await expect(turns.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow();
    expect(turns.size).toBe(0);
  });
});
