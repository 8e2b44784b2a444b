// What dead processes held under leases, by the names of these processes: every lease ends at once, so that the
// next process that looks takes it.

import { type RawBuilder, sql } from 'kysely';
import type { StoreContext, TransactionContext } from './store-context.ts';

/** Ends the leases of dead processes. Nobody else has their names: their rows are deleted in the same transaction, or the
 *  caller enters under one of them. `keepsPbxs`: their successor connects the PBXs within a second. */
export async function expireClaims(
  db: StoreContext['db'] | TransactionContext,
  { names, now, keepsPbxs = false }: DeadClaims,
): Promise<void> {
  if (names.length === 0) return;
  const dead = sql`any(${names}::text[])`;
  for (const { table, node, until, where } of LEASES) {
    if (keepsPbxs && table === PBXS) continue;
    await sql`
      update ${sql.table(table)} set ${sql.ref(until)} = ${now}
      where ${sql.ref(node)} = ${dead} and ${sql.ref(until)} > ${now} ${where}`.execute(db);
  }
}

interface DeadClaims {
  names: readonly string[];
  now: RawBuilder<Date>;
  keepsPbxs?: boolean;
}

interface Leases {
  table: string;
  /** Columns: the holder, and the end of its lease. */
  node: string;
  until: string;
  where: RawBuilder<unknown>;
}

const PBXS = 'configuration_leases';

const LEASES: readonly Leases[] = [
  {
    table: 'campaign_attempts',
    node: 'node',
    until: 'lease_until',
    where: sql`and state = 'claimed'`,
  },
  { table: PBXS, node: 'node', until: 'lease_until', where: sql`` },
  {
    table: 'campaigns',
    node: 'sync_node',
    until: 'sync_lease_until',
    where: sql`and source_sync = 'in_progress'`,
  },
  {
    table: 'text_chats',
    node: 'hold_node',
    until: 'hold_until',
    where: sql`and hold is not null`,
  },
  { table: 'places', node: 'node', until: 'until', where: sql`` },
  { table: 'afterworks', node: 'claimed_node', until: 'due_at', where: sql`` },
  {
    table: 'deliveries',
    node: 'claimed_node',
    until: 'due_at',
    where: sql`and state = 'sending'`,
  },
];
