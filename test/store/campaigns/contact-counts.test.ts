import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CampaignCountsCache } from '../../../src/store/campaigns/contact-counts.ts';
import { connectionConfig } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { withCampaigns } from './campaign-harness.ts';

/** Rows that one statement may read. */
const PIECE_ROWS = 5_000;
describe.each(engines())('counts of campaigns on %s', (engine) => {
  const test = withStore(engine);
  const harness = withCampaigns(test);
  let db: Kysely<Tables>;
  const statements: { sql: string; parameters: readonly unknown[] }[] = [];
  beforeEach(() => {
    const pool = new Pool({ ...connectionConfig(test.target(), 'api'), max: 4 });
    const log = ({ query }: { query: (typeof statements)[number] }): void =>
      void statements.push(query);
    db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log });
    statements.splice(0);
  });
  afterEach(() => db.destroy());

  const contactsOf = async (id: string): Promise<number | undefined> =>
    (await test.store.contacts.counts([id])).get(id)?.contacts;

  /** Stores contacts: of each five, two are fresh, one is reached, one failed after two attempts, one waits. */
  async function seed(campaignId: string, contacts: number): Promise<void> {
    await test.sql(
      `insert into campaign_contacts
         (campaign_id, row_number, phone_number, variables, state, attempts, due_at, retry_reason,
          no_answer_retries)
       select $1, n + 1, '+1415' || (2000000 + n), '{}',
         (array['fresh', 'fresh', 'reached', 'failed', 'waiting'])[1 + n % 5],
         (array[0, 0, 1, 2, 1])[1 + n % 5], now(), case when n % 5 = 4 then 'busy' end,
         (n % 5 = 3)::int
       from generate_series(1, $2::int) n`,
      [campaignId, contacts],
    );
  }

  it('are taken again while a campaign can change, and once when it cannot', async () => {
    const { id } = await harness.create();
    await harness.contacts(id, 3);
    for (const state of ['created', 'syncing', 'running', 'paused', 'failed']) {
      await test.sql('update campaigns set state = $1', [state]);
      await test.sql('delete from campaign_contacts where row_number = 4');
      expect(await contactsOf(id), state).toBe(2);
      await harness.contacts(id, 3);
      expect(await contactsOf(id), state).toBe(3);
    }
    await test.sql("update campaigns set state = 'completed'");
    expect(await contactsOf(id)).toBe(3);
    const { id: other } = await harness.create();
    await harness.contacts(other, 1);
    await test.sql('delete from campaign_contacts where campaign_id = $1', [id]);
    const both = await test.store.contacts.counts([other, id, 'x']);
    expect([both.get(id)?.contacts, both.get(other)?.contacts, both.size]).toEqual([3, 1, 2]);
  });

  it('read a bounded number of rows in each statement, of any number of campaigns', async () => {
    const campaigns = [await harness.create(), await harness.create(), await harness.create()];
    const [large, small, empty] = campaigns.map(({ id }) => id) as [string, string, string];
    await seed(large, 4 * PIECE_ROWS + 100);
    await seed(small, 50);
    const counts = await new CampaignCountsCache({ db }).of([large, small, empty]);
    expect(counts.get(large)).toEqual({
      contacts: 20_100,
      attempted: 12_060,
      reached: 4_020,
      failed: 4_020,
      inFlight: 0,
      executed: 16_080,
      attempts: 28_140,
      retries: 8_040,
      retriesPending: 4_020,
      retriesBy: { busy: 4_020, no_answer: 4_020, voicemail: 0 },
    });
    expect(counts.get(small)).toMatchObject({ contacts: 50, reached: 10, retries: 20 });
    expect(counts.get(empty)).toMatchObject({ contacts: 0, attempts: 0, retries: 0 });
    await test.sql('vacuum analyze campaign_contacts');
    const read: number[] = [];
    for (const statement of statements.splice(0)) read.push(await rowsRead(statement));
    expect(Math.max(...read)).toBeGreaterThan(PIECE_ROWS / 2);
    expect(Math.max(...read)).toBeLessThanOrEqual(PIECE_ROWS);
  }, 60_000);

  it('are taken once for all who ask at the same moment, and again for who asks later', async () => {
    const { id } = await harness.create();
    await harness.contacts(id, 3);
    const cache = new CampaignCountsCache({ db });
    const first = Array.from({ length: 20 }, () => cache.of([id]));
    await first[0];
    await Promise.all(first);
    const once = statements.splice(0).length;
    const begun = cache.of([id]);
    await new Promise((resolve) => setImmediate(resolve));
    await harness.contacts(id, 5);
    const later = await Promise.all(Array.from({ length: 20 }, () => cache.of([id])));
    expect(later.map((counts) => counts.get(id)?.contacts)).toEqual(later.map(() => 5));
    await begun;
    expect(statements.length).toBe(2 * once);
  });

  it('go on after one that failed', async () => {
    const { id } = await harness.create();
    const broken = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new Pool({ host: '/nowhere' }) }),
    });
    const context = { db: broken };
    const cache = new CampaignCountsCache(context);
    await expect(cache.of([id])).rejects.toThrow();
    context.db = db;
    expect((await cache.of([id])).get(id)?.contacts).toBe(0);
    await broken.destroy();
  });

  /** Those that its scans of contacts and attempts give, by the plan that was carried out. */
  async function rowsRead(statement: (typeof statements)[number]): Promise<number> {
    const lines = await test.sql(`explain (analyze, costs off, timing off) ${statement.sql}`, [
      ...statement.parameters,
    ]);
    return lines.reduce((sum, line) => {
      const scan = /Scan .*on campaign_\w+ .*actual rows=(\d+)(?:\.\d+)? loops=(\d+)/.exec(
        String(line['QUERY PLAN']),
      );
      return sum + Number(scan?.[1] ?? 0) * Number(scan?.[2] ?? 0);
    }, 0);
  }
});
