// One use of a connection that the database closes.

import type { PoolClient } from 'pg';
import { expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { CheckedClient } from '../../../src/store/db/checked-client.ts';
import { WaitingReads } from '../../../src/store/db/waiting-reads.ts';

it('fails in words in a transaction whose connection is lost and comes back no more', async () => {
  const query = vi.fn((text: string) =>
    text === 'begin'
      ? Promise.resolve({ command: 'BEGIN', rows: [] })
      : Promise.reject(new Error('Connection terminated unexpectedly')),
  );
  const release = vi.fn();
  const endTurn = vi.fn();
  const connect = vi
    .fn<() => Promise<PoolClient>>()
    .mockResolvedValueOnce({ query, release } as unknown as PoolClient)
    .mockRejectedValue(new GatewayError('STORE_UNAVAILABLE'));
  const client = new CheckedClient({
    clock: systemClock,
    reads: new WaitingReads(systemClock),
    takeTurn: () => Promise.resolve(endTurn),
    connect,
  });
  await client.query('begin', []);
  for (const text of ['insert into runs values (1)', 'rollback']) {
    await expect(client.query(text, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }
  expect(release).toHaveBeenCalledExactlyOnceWith(true);
  client.release();
  expect(endTurn).toHaveBeenCalledOnce();
});
