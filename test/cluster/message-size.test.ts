import { describe, expect, it } from 'vitest';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { MESSAGE_BYTES_MAX, messageBytes } from '../../src/cluster/ipc-message.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';

describe('a message between processes', () => {
  it('is counted by its strings, its bytes, its keys and its values', () => {
    expect(messageBytes('x'.repeat(91), 100)).toBe(100);
    expect(messageBytes('x'.repeat(92), 100)).toBeUndefined();
    expect(messageBytes({ key: Buffer.alloc(90) }, 100)).toBeUndefined();
    expect(
      messageBytes(
        Array.from({ length: 11 }, () => null),
        100,
      ),
    ).toBeUndefined();
    const circular: unknown[] = [];
    circular.push(circular);
    expect(messageBytes(circular, 100)).toBeUndefined();
  });

  it('is not sent if it is too large, and its request fails', async () => {
    const { links } = wires(3, new FakeClock());
    const [, one, two] = links as [IpcChannel, IpcChannel, IpcChannel];
    const taken: string[] = [];
    two.onNotification('note', () => taken.push('note'));
    two.onRequest('request', async () => 'x'.repeat(MESSAGE_BYTES_MAX));
    const large = 'x'.repeat(MESSAGE_BYTES_MAX);
    expect(one.notify(2, 'note', large)).toBe(false);
    await expect(one.request(2, 'request', large, 1_000)).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    await expect(one.request(2, 'request', {}, 1_000)).rejects.toMatchObject({
      code: 'WORKER_FAILED',
    });
    expect(taken).toEqual([]);
  });
});
