import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/std/serial-queue.ts';

describe('turns', () => {
  it('come one after the other, whatever became of those before', async () => {
    const turns = new Turns('work', 10);
    const order: string[] = [];
    let release: () => void = () => undefined;
    const first = turns.take(async () => {
      order.push('first begins');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push('first ends');
      throw new Error('broken');
    });
    const second = turns.take(async () => order.push('second'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['first begins']);
    release();
    await expect(first).rejects.toThrow('broken');
    await second;
    expect(order).toEqual(['first begins', 'first ends', 'second']);
  });

  it('are refused when too many wait', async () => {
    const turns = new Turns('work', 1);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const taken = [turns.take(() => blocked), turns.take(() => blocked)];
    await expect(turns.take(() => blocked)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    release();
    await Promise.all(taken);
    await expect(turns.take(() => Promise.resolve(1))).resolves.toBe(1);
  });
});
