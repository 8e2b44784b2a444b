// A gateway for process-supervisor.test.ts to kill: stores numbers one by one and tells each to its parent
// once the database has acknowledged it. Arguments: data folder, cache folder, last number stored.

import { sql } from 'kysely';
import { systemClock } from '../../../src/std/clock.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { EmbeddedDatabase } from '../../../src/store/embedded/process-supervisor.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const [dataFolder = '', cacheFolder = '', from = '0'] = process.argv.slice(2);
const { log } = quietLog();
const embedded = new EmbeddedDatabase({ dataFolder, cacheFolder, clock: systemClock, log });
await embedded.start();
const target = { kind: 'embedded', socketFolder: embedded.socketFolder } as const;
const db = openDatabase(target, { ready: () => embedded.ready(), clock: systemClock, log });
await sql`create table if not exists t (n integer primary key)`.execute(db);
for (let n = Number(from) + 1; n < 100_000; n++) {
  await sql`insert into t values (${n}) on conflict do nothing`.execute(db);
  process.send?.(n);
}
