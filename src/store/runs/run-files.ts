// Files of runs that are on the disk of one gateway: recordings of killed gateways, and what waits for S3.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Runs in one answer. */
const PAGE = 1_000;

/** Calls that had media, are completed, and have no recording; the newest first, those before `beforeId`. */
export async function runsWithoutRecording(
  { db }: StoreContext,
  beforeId?: string,
): Promise<string[]> {
  // Exactly the condition of the index runs_without_recording.
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'completed')
    .where('recording_key', 'is', null)
    .where('started_at', 'is not', null)
    .where('mode', '<>', 'textchat')
    .$if(beforeId !== undefined, (all) => all.where('id', '<', beforeId ?? ''))
    .orderBy('id', 'desc')
    .limit(PAGE)
    .execute();
  return rows.map(({ id }) => id);
}

/** Gives a run its recording, which is on this gateway's disk. False if it has one. */
export async function addRecording(
  { db, filesNode }: StoreContext,
  id: string,
  key: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('runs')
    .set({ recording_key: key, files_node: sql`coalesce(files_node, ${filesNode ?? null}::text)` })
    .where('id', '=', id)
    .where('recording_key', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The completed runs among `ids`, and whether their recording is attached. */
export async function closedRuns(
  { db }: StoreContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { hasRecording: boolean }>> {
  const known = ids.filter(isRowId);
  if (known.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'recording_key'])
    .where('id', '=', (of) => of.fn.any(of.val(known)))
    .where('state', '=', 'completed')
    .execute();
  return new Map(
    rows.map(({ id, recording_key: key }) => [id, { hasRecording: key !== null }] as const),
  );
}

/** The files of the run are in S3. */
export async function filesStored({ db }: StoreContext, id: string): Promise<void> {
  await db
    .updateTable('runs')
    .set({ files_node: null })
    .where('id', '=', id)
    .where('files_node', 'is not', null)
    .execute();
}

/** Name of another gateway on whose disk files of the run wait for S3. Undefined: they wait nowhere, or here. */
export async function filesElsewhere(
  { db, filesNode }: StoreContext,
  id: string,
): Promise<string | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await db
    .selectFrom('runs')
    .select('files_node')
    .where('id', '=', id)
    .executeTakeFirst();
  const node = row?.files_node ?? undefined;
  return node === filesNode ? undefined : node;
}
