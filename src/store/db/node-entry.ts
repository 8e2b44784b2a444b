// How a process acquires its node's name. The name is free where the database belongs to this process alone, or where
// the gateway with the name started this process. Otherwise a dead last owner is replaced: at once by its socket in the
// data folder, else if it writes no heartbeat in two intervals.

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { shifted } from './database-time.ts';
import { expireClaims } from './dead-claims.ts';
import { SERVER_PACE } from './presence-pace.ts';
import type { NodeIdentity, StoreContext, TransactionContext } from './store-context.ts';

/** Time without a heartbeat after which the owner of the wanted name is dead: two intervals, and half a second for slow
 *  ones. */
const SILENCE_MS = 2 * SERVER_PACE.beatMs + 500;
/** The same for a process of the version without epochs, whose heartbeat has 15 s by its own clock. */
const FORMER_SILENCE_MS = 16_000;
/** Time without a heartbeat after which such a process is dead for all. */
const FORMER_DEAD_MS = 60_000;
const LOOK_MS = 250;
/** Time that a killed process needs to end. */
const DYING_MS_MAX = 500;

export type EntryContext = NodeIdentity &
  Pick<StoreContext, 'db' | 'clock' | 'time' | 'formerEpochs' | 'address'>;

/** Another proof that a process is alive, besides heartbeats. */
export interface EpochWitness {
  /** Whether the process is alive; undefined if that is unknown. */
  isAlive(epoch: string): Promise<boolean | undefined>;
  /** Forgets a dead process, which will not be checked again. */
  forget(epoch: string): void;
}

/** Enters where no other process can use this database, so every other node is dead. */
export async function enterAlone(context: EntryContext): Promise<void> {
  const dead = await context.db.deleteFrom('nodes').returning('name').execute();
  await insertNode(context);
  await expireClaims(context.db, { names: dead.map(({ name }) => name), now: context.time() });
}

/** Enters a worker of `gateway`, whose predecessor is known to be dead. False if the gateway has lost its own name. */
export async function enterWorker(context: EntryContext, gateway: NodeIdentity): Promise<boolean> {
  const { db, time, node, epoch } = context;
  const { rows } = await sql`
    insert into nodes (name, epoch, started_at, seen_at)
    select ${node}, ${epoch}::bigint, ${time()}, ${time()} from nodes
    where ${isProcess(gateway)}
    on conflict (name) do update
      set epoch = excluded.epoch, process_epoch = null, started_at = excluded.started_at, seen_at = excluded.seen_at
    returning name`.execute(db);
  if (rows.length === 0) return false;
  await expireClaims(db, { names: [node], now: time(), keepsPbxs: true });
  return true;
}

/** Takes the name from a dead process, together with those of its workers, which ended with it. Returns the
 *  milliseconds that it waited; undefined if the name was free. Throws NODE_NAME_TAKEN. */
export async function enterNamed(
  context: EntryContext,
  witness: EpochWitness,
): Promise<number | undefined> {
  const from = context.clock.monotonicMs();
  const first = await signsOfLife(context.db, context);
  const seen = await untilDead(context, first, witness);
  const hasEntered = await context.db.transaction().execute(async (tx) => {
    // From here on none of them can write a heartbeat.
    const dead = await signsOfLife(tx, context, { isLocked: true });
    if (dead.some((sign) => isNew(sign, seen))) return false;
    await deleteNodes(tx, dead);
    // By their names: the process that enters has claimed nothing yet.
    await expireClaims(tx, { names: dead.map(({ name }) => name), now: context.time() });
    return insertNode({ ...context, db: tx });
  });
  if (!hasEntered) throw taken(context.node);
  for (const { processEpoch } of first) if (processEpoch !== null) witness.forget(processEpoch);
  return first.length === 0 ? undefined : Math.round(context.clock.monotonicMs() - from);
}

/** Enters a process again whose row is gone, as others declared it dead: open runs that none of them has taken belong
 *  to its new epoch. `wait`: the gateway of this worker must enter first. */
export async function reenter(
  context: EntryContext,
  { gateway, epoch: next }: { gateway: NodeIdentity | undefined; epoch: string },
): Promise<'entered' | 'wait' | 'replaced'> {
  const { db, node, epoch, time, formerEpochs = [] } = context;
  const first = formerEpochs[0] ?? epoch;
  const entry = await db.transaction().execute(async (tx) => {
    if (gateway !== undefined) {
      const there = await sql<{ own: boolean }>`
        select ${isProcess(gateway)} as own from nodes where name = ${gateway.node}`.execute(tx);
      const [row] = there.rows;
      if (row?.own !== true) return row === undefined ? 'wait' : 'replaced';
    }
    const { url = null, version = null } = context.address ?? {};
    const { rows } = await sql`
      insert into nodes (name, epoch, process_epoch, started_at, seen_at, url, version)
      values (${node}, ${next}, ${first}, ${time()}, ${time()}, ${url}, ${version})
      on conflict do nothing returning name`.execute(tx);
    if (rows.length === 0) return 'replaced';
    await sql`
      update runs set owner_epoch = ${next}
      where owner_node = ${node} and owner_epoch = ${epoch}
        and state <> 'completed' and not is_idle`.execute(tx);
    return 'entered';
  });
  if (entry !== 'entered') return entry;
  context.formerEpochs = [...formerEpochs, epoch];
  context.epoch = next;
  return entry;
}

/** The row of this process, with any epoch. */
function isProcess({ node, epoch }: NodeIdentity): RawBuilder<SqlBool> {
  return sql<SqlBool>`(name = ${node} and coalesce(process_epoch, epoch) = ${epoch})`;
}

/** Deletes exactly these rows: another process may have taken their names since. */
async function deleteNodes(tx: TransactionContext, dead: readonly Sign[]): Promise<void> {
  const names = dead.map(({ name }) => name);
  const epochs = dead.map(({ epoch }) => epoch);
  await sql`
    delete from nodes using unnest(${names}::text[], ${epochs}::bigint[]) as dead (name, epoch)
    where nodes.name = dead.name and nodes.epoch is not distinct from dead.epoch`.execute(tx);
}

/** Inserts the row. False if the name is taken. */
export async function insertNode(context: EntryContext): Promise<boolean> {
  const { db, time, node, epoch, address } = context;
  const row = await db
    .insertInto('nodes')
    .values({ name: node, epoch, started_at: time(), seen_at: time(), ...address })
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Rows of the node and of its workers. */
function isNamed(node: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(name = ${node} or starts_with(name, ${`${node}#`}))`;
}

/** The row of one process. */
interface Sign {
  name: string;
  epoch: string | null;
  /** Epoch of the process's start, which its socket has. */
  processEpoch: string | null;
  /** Time of the last heartbeat, to the microsecond. */
  seenAt: string;
  /** Whether it is of the version without epochs, and perhaps alive. */
  isFormer: boolean;
}

async function signsOfLife(
  db: StoreContext['db'],
  { node, time }: Pick<EntryContext, 'node' | 'time'>,
  { isLocked } = { isLocked: false },
): Promise<Sign[]> {
  const { rows } = await sql<Sign>`
    select name, epoch, coalesce(process_epoch, epoch) as "processEpoch", seen_at::text as "seenAt",
      epoch is null and seen_at > ${shifted(time(), -FORMER_DEAD_MS)} as "isFormer"
    from nodes where ${isNamed(node)}
    order by name ${isLocked ? sql`for update` : sql``}`.execute(db);
  return rows;
}

/** Waits until all processes of the rows are dead. Returns the rows as they were then. */
async function untilDead(
  context: EntryContext,
  first: readonly Sign[],
  witness: EpochWitness,
): Promise<readonly Sign[]> {
  const { clock, db, node } = context;
  if (first.length === 0) return first;
  const own = first.find(({ name }) => name === node);
  // Its workers ended with it.
  if ((await isAlive(own?.processEpoch, witness, context)) === false) return first;
  const silenceMs = first.some(({ isFormer }) => isFormer) ? FORMER_SILENCE_MS : SILENCE_MS;
  const until = clock.monotonicMs() + silenceMs;
  for (;;) {
    await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    const latest = await signsOfLife(db, context);
    if (latest.some((sign) => isNew(sign, first))) throw taken(node);
    if (latest.length === 0 || clock.monotonicMs() >= until) return latest;
  }
}

/** Whether the process is alive by its socket. Throws NODE_NAME_TAKEN if it is. */
async function isAlive(
  epoch: string | null | undefined,
  witness: EpochWitness,
  { clock, node }: EntryContext,
): Promise<boolean | undefined> {
  if (typeof epoch !== 'string') return undefined;
  const until = clock.monotonicMs() + DYING_MS_MAX;
  for (;;) {
    const answer = await witness.isAlive(epoch);
    if (answer !== true) return answer;
    if (clock.monotonicMs() >= until) {
      throw new GatewayError('NODE_NAME_TAKEN', {
        node,
        sign: 'its process holds the data folder',
      });
    }
    await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
  }
}

function isNew({ name, epoch, seenAt }: Sign, before: readonly Sign[]): boolean {
  return !before.some(
    (sign) => sign.name === name && sign.epoch === epoch && sign.seenAt === seenAt,
  );
}

function taken(node: string): GatewayError {
  return new GatewayError('NODE_NAME_TAKEN', { node, sign: 'it reports to the database' });
}
