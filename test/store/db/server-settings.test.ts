// What a connection to a PostgreSQL server sets for its session.

import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { connectionConfig, openDatabase } from '../../../src/store/db/connections.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines, startServer, type TestServer } from '../databases.ts';

describe.runIf(engines().includes('server'))('a connection to a server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  }, 60_000);
  afterAll(() => server?.stop());

  async function settings(extra = ''): Promise<Record<string, string>> {
    const target = { kind: 'server', url: `${server.url}${extra}` } as const;
    const { max: _, ...config } = connectionConfig(target, 'calls');
    const client = new Client(config);
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string; setting: string }>(
        `select name, setting from pg_settings
         where name in ('jit', 'max_parallel_workers_per_gather', 'random_page_cost', 'work_mem',
           'statement_timeout', 'idle_in_transaction_session_timeout')`,
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    } finally {
      await client.end();
    }
  }

  it('compiles no statement, splits none between processes, and has timeouts', async () => {
    expect(await settings()).toMatchObject({
      jit: 'off',
      max_parallel_workers_per_gather: '0',
      random_page_cost: '1.1',
      statement_timeout: '9000',
      idle_in_transaction_session_timeout: '15000',
    });
  });

  it('has the options of its address too, which go before', async () => {
    const options = encodeURIComponent('-c work_mem=8MB');
    expect(await settings(`&options=${options}`)).toMatchObject({ jit: 'off', work_mem: '8192' });
    expect(await settings(`&options=${encodeURIComponent('-c jit=on')}`)).toMatchObject({
      jit: 'on',
    });
  });

  it('sends no option to a pooler', async () => {
    const target = { kind: 'server', url: `${server.url}&pgbouncer=1` } as const;
    expect(connectionConfig(target, 'calls')).not.toHaveProperty('options');
    expect(await settings('&pgbouncer=1')).toMatchObject({ statement_timeout: '0' });
  });

  it('is waited for where the server has no place for another', async () => {
    const { max: _, ...config } = connectionConfig({ kind: 'server', url: server.url }, 'api');
    const owner = new Client(config);
    await owner.connect();
    await owner.query('create role narrow login connection limit 2');
    const url = server.url.replace('postgres@', 'narrow@');
    const { log } = quietLog();
    const ready = () => Promise.resolve();
    const db = openDatabase({ kind: 'server', url }, { ready, clock: systemClock, log });
    try {
      const asked = [1, 2, 3, 4, 5, 6].map(() => sql`select pg_sleep(0.05)`.execute(db));
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.map(({ status }) => status)).toEqual(asked.map(() => 'fulfilled'));
    } finally {
      await db.destroy();
      await owner.query('drop role narrow');
      await owner.end();
    }
  });
});
