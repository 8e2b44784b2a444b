// The gateways that are alive, as others see them.

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { openStore } from '../../../src/store/open.ts';
import { openNode } from '../../../src/store/open-node.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines, startDatabase } from '../databases.ts';

describe.runIf(engines().includes('server'))('gateways on one server', () => {
  it('are known by name, URL and version while they report', async () => {
    const { log } = quietLog();
    const database = await startDatabase('server');
    const options = { ...database.options(log), clock: systemClock };
    const at = (name: string) => ({ url: `http://${name}:8000`, version: '1.2.3' });
    const keys = { secrets: { keys: Buffer.alloc(32, 1).toString('hex') } };
    const one = await openStore({ ...options, ...keys, node: 'one', address: at('one') });
    const other = await openNode({ ...options, ...keys, node: 'other', address: at('other') });
    const client = await database.connect();
    try {
      // The processes of a gateway have no address.
      await client.query(
        "insert into nodes (name, started_at, seen_at) values ('one#1', now(), now())",
      );
      expect(await one.gateways.living()).toEqual([
        { name: 'one', ...at('one') },
        { name: 'other', ...at('other') },
      ]);
      await client.query(
        "update nodes set seen_at = seen_at - interval '15 s' where name = 'other'",
      );
      // Its own heartbeat follows within two seconds.
      const living = (await one.gateways.living()).map(({ name }) => name);
      expect(living).toContain('one');
      await other.close();
      expect((await one.gateways.living()).map(({ name }) => name)).toEqual(['one']);
      await client.query('delete from nodes');
      expect(await one.gateways.living()).toEqual([]);
    } finally {
      await client.end();
      await one.close();
      await database.stop();
    }
  }, 60_000);
});
