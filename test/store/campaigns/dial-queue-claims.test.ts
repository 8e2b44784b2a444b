// Claims of the dial queue, in statements: a campaign of a hundred calls a second claims four times a second, and each
// statement of a transaction keeps the embedded engine from everybody else until the next one has come.

import { beforeEach, describe, expect, it } from 'vitest';
import { RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { statementsSent } from '../sent-statements.ts';
import { type Queue, queueOf, rows } from './dial-queue-fixture.ts';

const CONTACTS = 100;

describe.each(engines())('claims on the %s engine', (engine) => {
  const test = withStore(engine);
  let queue: Queue;

  beforeEach(async () => {
    queue = await queueOf(test, CONTACTS);
  });

  async function verbsOf(work: () => Promise<unknown>): Promise<string[]> {
    const sent = statementsSent();
    await work().finally(() => sent.stop());
    return sent.verbs;
  }

  it.each([
    ['without a pace of its account', null],
    ['with one', 1_000],
  ])('of a hundred contacts take six statements, %s', async (_, callsPerSecond) => {
    const configuration = { id: queue.configurationId, callsPerSecond };
    const claims: unknown[] = [];
    const sent = await verbsOf(async () => claims.push(...(await queue.claim({ configuration }))));
    expect(claims).toHaveLength(CONTACTS);
    // The campaign with its configuration, its open attempts, the contacts, and all that is written.
    expect(sent).toEqual(['begin', 'with', 'select', 'with', 'with', 'commit']);
    const paces = await test.sql(
      `select (select dial_next_at from campaigns)::timestamptz - $1::timestamptz as campaign,
        (select dial_next_at from telephony_configurations where id = $2) - $1 as account`,
      [new Date(test.clock.now()), queue.configurationId],
    );
    expect(paces).toEqual([
      {
        campaign: { milliseconds: CONTACTS },
        account: callsPerSecond === null ? null : { milliseconds: CONTACTS },
      },
    ]);
  });

  it('give retries their turns before first calls, and take no more than are asked for', async () => {
    await test.sql(
      `update campaign_contacts set state = 'waiting', attempts = 1, retry_reason = 'busy'
       where row_number > 98`,
    );
    const claims = await queue.claim({ count: 5 });
    expect(claims.map(({ rowNumber, number }) => [rowNumber, number])).toEqual([
      [99, 2],
      [100, 2],
      [101, 2],
      [2, 1],
      [3, 1],
    ]);
    expect(claims.map(({ waitMs }) => waitMs)).toEqual([0, 1, 2, 3, 4]);
    const counts = await test.sql(
      `select state, count(*)::int, sum(busy_retries)::int as busy from campaign_contacts
       group by state order by state`,
    );
    expect(counts).toEqual([
      { state: 'calling', count: 5, busy: 3 },
      { state: 'fresh', count: 95, busy: 0 },
    ]);
  });

  it('of a campaign that another process claims for are none, and wait for nothing', async () => {
    await test.sql('begin');
    await test.sql('select id from campaigns for update');
    const claimed = engine === 'server' ? await queue.claim() : [];
    expect(claimed).toEqual([]);
    await test.sql('commit');
  });

  it('of two campaigns over one account, by several processes at once, keep its pace and call nobody twice', async () => {
    const callsPerSecond = 50;
    const { contacts, campaigns } = test.store;
    const { organizationId, workflowId, configurationId } = queue;
    const other = await campaigns.create(organizationId, {
      name: 'other',
      workflowId,
      configurationId,
      retry: RETRY_DEFAULT,
      ratePerSecond: 1,

      sourceId: 'a.csv',
      maxConcurrency: null,
      schedule: null,
      breaker: null,
    });
    await contacts.add(other.id, rows(CONTACTS));
    await test.sql("update campaigns set state = 'running'");
    const limits = {
      count: 10,
      openMax: 100,
      ratePerSecond: 1_000,
      horizonMs: 1_000,
      leaseMs: 30_000,
      configuration: { id: configurationId, callsPerSecond },
    };
    for (let round = 0; round < 8; round++) {
      const ids = [queue.campaignId, other.id, queue.campaignId, other.id];
      await Promise.all(ids.map((id) => contacts.claim(id, limits)));
      test.clock.advance(250);
    }
    const attempts = await test.sql(
      `select count(*)::int as made, count(distinct contact_id)::int as people,
        (select min(gap)::float8 from (
          select extract(epoch from dial_at - lag(dial_at) over (order by dial_at)) * 1000 as gap
          from campaign_attempts) as gaps) as gap
       from campaign_attempts`,
    );
    // A second ahead at the first round, and 1.75 s in the next seven.
    expect(attempts).toEqual([{ made: 138, people: 138, gap: 1_000 / callsPerSecond }]);
  });

  it('that have lapsed are looked for by one statement', async () => {
    const { contacts } = test.store;
    await queue.claim({ count: 2 });
    expect(await verbsOf(() => contacts.releaseClaims(undefined))).toEqual(['select']);
    test.clock.advance(31_000);
    expect(await contacts.releaseClaims(undefined)).toBe(2);
  });
});
