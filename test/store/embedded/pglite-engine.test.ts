// The embedded engine in this process: that it is durable, and that many connections take turns.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareCluster } from '../../../src/store/embedded/cluster-template.ts';
import {
  initialiseCluster,
  openPgliteEngine,
  type PgliteEngine,
  START_PARAMETERS,
} from '../../../src/store/embedded/pglite-engine.ts';
import { queryMessage, statusAfter } from '../../../src/store/embedded/wire-protocol.ts';
import { PostgresWireServer, type SlowStatement } from '../../../src/store/embedded/wire-server.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { TEST_CACHE } from '../databases.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'patchbay-engine-'));
  mkdirSync(TEST_CACHE, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function cluster(name: string): Promise<string> {
  const folder = join(root, name);
  await prepareCluster({ folder, cacheFolder: TEST_CACHE, initialise: initialiseCluster });
  return folder;
}

function succeeded(answer: Uint8Array): boolean {
  return answer[0] === 'C'.charCodeAt(0) && statusAfter(answer) === 'idle';
}

describe('a durable engine', () => {
  it('puts every commit on the disk before it acknowledges it', async () => {
    const engine = await openPgliteEngine(await cluster('durable'));
    expect(succeeded(engine.execute(queryMessage('create table t (n integer)')))).toBe(true);
    for (let n = 0; n < 20; n++) {
      const before = engine.fsyncs();
      expect(succeeded(engine.execute(queryMessage(`insert into t values (${n})`)))).toBe(true);
      expect(engine.fsyncs()).toBeGreaterThan(before);
    }
    await engine.close();
  });

  it('keeps nothing of its answers, and is in the same transaction all along', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const engine = await openPgliteEngine(await cluster('forgetful'));
    const settled = async (): Promise<number> => {
      await settle();
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await settled();
    engine.execute(queryMessage('begin'));
    engine.execute(queryMessage('create table t (n integer)'));
    for (let n = 0; n < 4_000; n++) {
      engine.execute(queryMessage(`insert into t values (${n}) returning repeat('x', 5000)`));
      if (n % 100 === 0) await settle();
    }
    expect((await settled()) - before).toBeLessThan(5e6); // Of 20 million.
    expect(statusAfter(engine.execute(queryMessage('rollback')))).toBe('idle');
    const answer = Buffer.from(engine.execute(queryMessage('select * from t')));
    expect(answer.toString('latin1')).toContain('does not exist');
    await engine.close();
  });

  it('is refused when its commits do not reach the disk', async () => {
    const parameters = [...START_PARAMETERS, '-c', 'fsync=off'];
    await expect(openPgliteEngine(await cluster('volatile'), { parameters })).rejects.toMatchObject(
      {
        code: 'STORE_NOT_DURABLE',
      },
    );
  });

  it('acknowledges nothing that the disk refused', async () => {
    const folder = await cluster('refusing');
    let isBroken = false;
    const engine = await openPgliteEngine(folder, {
      flush: () => {
        if (isBroken) throw new Error('EIO');
      },
    });
    engine.execute(queryMessage('create table t (n integer)'));
    isBroken = true;
    let answer: Uint8Array = new Uint8Array();
    try {
      answer = engine.execute(queryMessage('insert into t values (1)'));
    } catch {
      // The engine may end itself altogether.
    }
    expect(succeeded(answer)).toBe(false);
  });
});

describe('taking turns', () => {
  let engine: PgliteEngine;
  let server: PostgresWireServer;
  let clock: FakeClock;
  let folder = '';
  const faults: unknown[] = [];
  const slow: SlowStatement[] = [];
  const execute = (message: Uint8Array): Uint8Array => {
    if (Buffer.from(message).includes('slow')) clock.advance(51);
    return engine.execute(message);
  };
  const open: (Client | Pool)[] = [];

  beforeAll(async () => {
    folder = join(root, 'turns');
    mkdirSync(folder);
    engine = await openPgliteEngine(await cluster('turns/postgres'));
    clock = new FakeClock();
    const timed = { ...engine, execute: (message: Uint8Array) => execute(message) };
    const broken = (error: unknown): void => void faults.push(error);
    const onSlow = (statement: SlowStatement): void => void slow.push(statement);
    server = new PostgresWireServer({ engine: timed, clock, broken, onSlow });
    await server.listen(join(folder, '.s.PGSQL.5432'));
  });
  beforeEach(async () => {
    const client = await connected();
    await client.query(
      'drop table if exists t; create table t (n integer); insert into t values (0)',
    );
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.end().catch(() => undefined)));
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await server.close();
    await engine.close();
  });

  const settings = (applicationName: string) => ({
    host: folder,
    user: 'postgres',
    database: 'postgres',
    application_name: applicationName,
  });
  async function connected(name = 'patchbay'): Promise<Client> {
    const client = new Client(settings(name));
    client.on('error', () => undefined);
    await client.connect();
    open.push(client);
    return client;
  }
  async function begun(): Promise<Client> {
    const client = await connected();
    await client.query('begin');
    return client;
  }
  function pool(max: number): Pool {
    const made = new Pool({ ...settings('patchbay'), max });
    open.push(made);
    return made;
  }

  it('keeps transactions of many connections apart', async () => {
    const clients = pool(8);
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const client = await clients.connect();
        await client.query('begin');
        const { rows } = await client.query('select n from t');
        await client.query('update t set n = $1', [Number(rows[0].n) + 1]);
        await client.query('commit');
        client.release();
      }),
    );
    expect((await clients.query('select n from t')).rows).toEqual([{ n: 40 }]);
  });

  it('answers everybody when statements fail in between', async () => {
    const clients = pool(5);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        clients.query(i % 3 === 0 ? 'select $1::int / 0' : 'select $1::int', [i]).then(
          ({ rows }) => Object.values(rows[0])[0],
          (error: Error) => error.message,
        ),
      ),
    );
    answers.forEach((answer, i) => {
      expect(answer).toBe(i % 3 === 0 ? 'division by zero' : i);
    });
  });

  it('rolls back who leaves in the middle of a transaction, and serves the next', async () => {
    const leaver = await connected();
    await leaver.query('begin');
    await leaver.query('update t set n = 99');
    const next = await connected();
    const answer = next.query('select n from t');
    destroy(leaver);
    expect((await answer).rows).toEqual([{ n: 0 }]);
  });

  it('rolls back who leaves in the middle of a statement', async () => {
    const socket = connect(join(folder, '.s.PGSQL.5432'));
    const startup = Buffer.from('\0\0\0\0\0\x03\0\0application_name\0patchbay\0\0');
    startup.writeInt32BE(startup.length, 0);
    // A parse without the sync that ends it.
    const parse = Buffer.from('P\0\0\0\0\0update t set n = 77\0\0\0');
    parse.writeInt32BE(parse.length - 1, 1);
    await new Promise<void>((resolve) => {
      socket.once('data', () => socket.write(parse, () => resolve()));
      socket.write(startup);
    });
    await new Promise<void>((resolve) => {
      socket.once('data', () => resolve());
    });
    socket.destroy();
    const next = await connected();
    expect((await next.query('select n from t')).rows).toEqual([{ n: 0 }]);
  });

  it('serves others until the first statement of a transaction', async () => {
    const beginner = await connected();
    await beginner.query('begin');
    const next = await connected();
    await next.query('update t set n = 5');
    expect((await beginner.query('select n from t')).rows).toEqual([{ n: 5 }]);
    await beginner.query('update t set n = 6');
    await beginner.query('rollback');
    expect((await next.query('select n from t')).rows).toEqual([{ n: 5 }]);
  });

  it('ends a transaction without a statement, and one whose first statement fails', async () => {
    const client = await connected();
    for (const end of ['commit', 'rollback']) {
      await client.query('begin');
      await client.query(end);
    }
    await client.query('begin');
    await expect(client.query('select * from nothing')).rejects.toThrow('does not exist');
    await client.query('rollback');
    destroy(await begun());
    const next = await connected();
    expect((await next.query('select n from t')).rows).toEqual([{ n: 0 }]);
  });

  it('cuts off who holds a transaction and says nothing', async () => {
    const holder = await connected();
    await holder.query('begin');
    await holder.query('select n from t');
    const next = await connected();
    const answer = next.query('select n from t');
    clock.advance(14_999);
    await settle();
    const lost = new Promise((resolve) => holder.once('error', resolve));
    clock.advance(1);
    await lost;
    expect((await answer).rows).toEqual([{ n: 0 }]);
    expect(clock.timers).toBe(0);
  });

  it('serves calls before the API and the API before maintenance', async () => {
    const holder = await connected();
    await holder.query('begin');
    await holder.query('select n from t');
    const [maintenance, api, call] = [
      await connected('patchbay-maintenance'),
      await connected('patchbay'),
      await connected('patchbay-calls'),
    ];
    const order: string[] = [];
    const ask = (client: Client, name: string): Promise<unknown> =>
      client.query('select 1').then(() => order.push(name));
    const asked = [ask(maintenance, 'maintenance'), ask(api, 'api'), ask(call, 'call')];
    await connected(); // What was sent before has arrived.
    await holder.query('commit');
    await Promise.all(asked);
    expect(order).toEqual(['call', 'api', 'maintenance']);
  });

  it('reports a statement beside calls that everybody has waited for', async () => {
    slow.splice(0);
    const client = await connected();
    await client.query('select 1 as slow');
    await client.query('select $1::int as slow', [2]);
    await (await connected('psql')).query('select 3 as slow');
    expect(slow).toEqual([
      { traffic: 'api', ms: 51, sql: 'select 1 as slow' },
      { traffic: 'api', ms: 51, sql: 'select $1::int as slow' },
    ]);
  });

  it("ends a client's settings with its transaction", async () => {
    const stranger = await connected('psql');
    await stranger.query("set statement_timeout = '7s'");
    await stranger.query('create temporary table scratch (n integer)');
    const ours = await connected();
    expect((await ours.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '0' }]);
    await expect(ours.query('select * from scratch')).rejects.toThrow('does not exist');
    await stranger.query('begin; set statement_timeout = 7000; show statement_timeout');
    await stranger.query('commit');
  });

  it('takes a big statement in many pieces', async () => {
    const client = await connected();
    const text = 'x'.repeat(5_000_000);
    const { rows } = await client.query('select $1::text as text', [text]);
    expect(rows[0].text.length).toBe(text.length);
  });

  it('refuses more connections than it can hold', async () => {
    const clients = await Promise.all(Array.from({ length: 198 }, () => connected()));
    const errors = await Promise.all(
      [1, 2, 3, 4].map(() =>
        connected().then(
          () => 'connected',
          (error: Error) => error.message,
        ),
      ),
    );
    expect(errors).toContain('too many connections');
    expect((await clients[0]?.query('select 1 as one'))?.rows).toEqual([{ one: 1 }]);
  });

  it('drops who does not speak the protocol, and serves on', async () => {
    for (const noise of [
      'GET / HTTP/1.1\r\n\r\n',
      '\0\0\0\x08\x04\xd2\x16\x2e',
      '\xff\xff\xff\xff____',
    ]) {
      const socket = connect(join(folder, '.s.PGSQL.5432'));
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(Buffer.from(noise, 'latin1'));
      await closed;
    }
    expect((await (await connected()).query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

/** As if its process had been killed: no farewell. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy: () => void } } };
  connection.stream.destroy();
}
