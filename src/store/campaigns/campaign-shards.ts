// Division of campaigns among the processes that dial them, by rendezvous hashing: each campaign has the process with the
// highest hash of both, so that a process that joins or dies moves only its own campaigns. While processes see different
// members, two may have a campaign: claims allow that.

import { createHash } from 'node:crypto';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** The processes that dial, and the one that asks. Undefined: it has all campaigns. */
export interface CampaignShard {
  own: string;
  all: readonly string[];
}

/** Condition for the campaigns of the shard; `campaignId` is a column. The database computes the hashes, so that all
 *  processes have the same. */
export function isInShard(
  campaignId: RawBuilder<unknown>,
  shard: CampaignShard | undefined,
): RawBuilder<SqlBool> {
  if (shard === undefined) return sql<SqlBool>`true`;
  const seeds = shard.all.map(seedOf);
  return sql<SqlBool>`(
    select seed from unnest(${seeds}::bigint[]) as seeds (seed)
    order by hashint8extended(${campaignId}, seed) desc, seed limit 1
  ) = ${seedOf(shard.own)}::bigint`;
}

/** 64 bits of a process's name, as digits. */
function seedOf(name: string): string {
  return String(createHash('sha256').update(name).digest().readBigInt64BE());
}
