// What there is to do for campaigns at the moment, in one statement: a dispatcher looks every half second, on each
// gateway, and mostly there is nothing. It may say too much, as each step looks for itself, but never too little.

import { type SqlBool, sql } from 'kysely';
import type { StoreContext } from '../db/store-context.ts';
import { type CampaignShard, isInShard } from './campaign-shards.ts';

export interface DispatchLook {
  /** A campaign of the shard runs. */
  isAnyRunning: boolean;
  /** An attempt of the shard's campaigns can be settled, or its call is to be looked up. */
  hasSettleable: boolean;
  /** A running campaign of the shard has no open contact. */
  hasDone: boolean;
  /** A claim has expired. */
  hasExpired: boolean;
  /** This process has begun an attempt whose answer may be lost. */
  hasStranded: boolean;
  /** A contact file is to be read. */
  hasUnreadFile: boolean;
}

export async function lookForWork(
  { db, time, node }: StoreContext,
  shard: CampaignShard | undefined,
): Promise<DispatchLook> {
  const now = time();
  const exists = (found: ReturnType<typeof sql>) => sql<SqlBool>`exists (select ${found})`;
  const { rows } = await sql<DispatchLook>`
    select
      ${exists(sql`from campaigns where state = 'running' and ${isInShard(sql`id`, shard)}`)}
        as "isAnyRunning",
      ${exists(sql`from campaign_attempts as attempt left join runs on runs.id = attempt.run_id
        where attempt.state in ('dialling', 'placed')
          and (runs.id is null or runs.state = 'completed' or attempt.doubt_since is not null)
          and ${isInShard(sql`attempt.campaign_id`, shard)}`)} as "hasSettleable",
      ${exists(sql`from campaigns where state = 'running' and ${isInShard(sql`campaigns.id`, shard)}
        and (select contact.id from campaign_contacts as contact
          where contact.campaign_id = campaigns.id
            and contact.state in ('fresh', 'waiting', 'calling') limit 1) is null`)} as "hasDone",
      ${exists(sql`from campaign_attempts
        where state = 'claimed' and lease_until < ${now}`)} as "hasExpired",
      ${exists(sql`from campaign_attempts
        where state = 'dialling' and node = ${node} and lease_until < ${now}
          and doubt_since is null`)} as "hasStranded",
      ${exists(sql`from campaigns where source_sync = 'in_progress' and (
        sync_lease_until is null or sync_lease_until <= ${now} or sync_missed_node <> ${node}
      )`)} as "hasUnreadFile"`.execute(db);
  const [row] = rows;
  return row ?? NOTHING;
}

const NOTHING: DispatchLook = {
  isAnyRunning: false,
  hasSettleable: false,
  hasDone: false,
  hasExpired: false,
  hasStranded: false,
  hasUnreadFile: false,
};
