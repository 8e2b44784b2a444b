// Migration 021 counts the retries that earlier versions made.

import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { migrate, ownMigrations } from '../../../src/store/db/migrate.ts';
import { EmbeddedDatabase } from '../../../src/store/embedded/process-supervisor.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { startDatabase, TEST_CACHE, type TestDatabase } from '../databases.ts';

const { log } = quietLog();
let database: TestDatabase;
let embedded: EmbeddedDatabase | undefined;
let client: Client;

beforeAll(async () => {
  database = await startDatabase('embedded');
  const { dataFolder } = database;
  embedded = new EmbeddedDatabase({ dataFolder, cacheFolder: TEST_CACHE, clock: systemClock, log });
  await embedded.start();
  client = await database.connect();
}, 60_000);
afterAll(async () => {
  await client?.end();
  await embedded?.close();
  await database?.stop();
}, 60_000);

it('gives each contact the retries of its attempts, by reason', async () => {
  const upTo = (number: string) => ownMigrations().filter(({ name }) => name < `${number}x`);
  await migrate(database.target, upTo('020'), { clock: systemClock, log });
  // Contacts and attempts alone: parents of foreign keys do not matter here.
  await client.query(`
    set session_replication_role = replica;
    insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
      select 1, row_number, '+4712345678', '{}', now() from generate_series(2, 4) as row_number;
    insert into campaign_attempts
      (campaign_id, contact_id, number, retry_reason, state, node, lease_until, dial_at, outcome)
      select 1, contact_id, number, reason, 'ended', 'a', now(), now(), 'busy'
      from (values (1, 1, null), (1, 2, 'busy'), (1, 3, 'busy'), (1, 4, 'no_answer'),
        (2, 1, null), (2, 2, 'voicemail'), (2, 3, 'interrupted'), (3, 1, null)
      ) as made (contact_id, number, reason);
    set session_replication_role = origin;`);
  await migrate(database.target, upTo('021'), { clock: systemClock, log });
  const { rows } = await client.query(`
    select busy_retries as busy, no_answer_retries as no_answer, voicemail_retries as voicemail
    from campaign_contacts order by row_number`);
  expect(rows).toEqual([
    { busy: 2, no_answer: 1, voicemail: 0 },
    { busy: 0, no_answer: 0, voicemail: 1 },
    { busy: 0, no_answer: 0, voicemail: 0 },
  ]);
});
