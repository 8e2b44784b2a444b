// Counts of campaigns by their contacts, in pieces so that other statements can run in between; with a cache for
// completed campaigns, which do not change.

import { sql } from 'kysely';
import type { AttemptOutcome, CampaignCounts } from '../../model/campaign.ts';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { type ContactSpan, contactSpans } from './contact-spans.ts';

/** Contacts of one statement, for all campaigns together: some 15 ms of the embedded engine. */
const PIECE_ROWS_MAX = 5_000;
/** Completed campaigns in the cache, some 300 bytes each. */
const KEPT_MAX = 2_000;

type Database = Pick<StoreContext, 'db'>;

export class CampaignCountsCache {
  readonly #context: Database;
  /** Cached counts, the least recently used first. */
  readonly #kept = new Map<string, CampaignCounts>();
  /** Counts that have not begun, by campaign ids: requests for the same campaigns share one. */
  readonly #next = new Map<string, Promise<Map<string, CampaignCounts>>>();
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(context: Database) {
    this.#context = context;
  }

  async of(ids: readonly string[]): Promise<Map<string, CampaignCounts>> {
    const known = new Map<string, CampaignCounts>();
    for (const id of ids) {
      const counts = this.#kept.get(id);
      if (counts !== undefined) known.set(id, counts);
    }
    const others = ids.filter((id) => isRowId(id) && !known.has(id));
    const counted = others.length === 0 ? known : await this.#countOnce(others);
    for (const [id, counts] of known) this.#keep(id, counts);
    return new Map([...known, ...counted]);
  }

  /** Counts the same campaigns once at a time. A request during a count gets the next one, which sees all that is
   *  stored by now. */
  #countOnce(ids: readonly string[]): Promise<Map<string, CampaignCounts>> {
    const key = ids.join();
    const waiting = this.#next.get(key);
    if (waiting !== undefined) return waiting;
    const next = this.#countAfter(key, ids);
    this.#next.set(key, next);
    return next;
  }

  async #countAfter(key: string, ids: readonly string[]): Promise<Map<string, CampaignCounts>> {
    await this.#running.get(key)?.catch(() => undefined); // Its own readers handle the error.
    this.#next.delete(key);
    const running = this.#count(ids);
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      if (this.#running.get(key) === running) this.#running.delete(key);
    }
  }

  async #count(ids: readonly string[]): Promise<Map<string, CampaignCounts>> {
    // Read before the counts: a campaign that ends in between may have been counted too early.
    const completed = await this.#completedOf(ids);
    const counted = await countContacts(this.#context, ids);
    for (const id of completed) this.#keep(id, counted.get(id));
    return counted;
  }

  async #completedOf(ids: readonly string[]): Promise<string[]> {
    const rows = await this.#context.db
      .selectFrom('campaigns')
      .select('id')
      .where('id', 'in', ids)
      .where('state', '=', 'completed')
      .execute();
    return rows.map(({ id }) => id);
  }

  #keep(id: string, counts: CampaignCounts | undefined): void {
    if (counts === undefined) return;
    this.#kept.delete(id);
    this.#kept.set(id, counts);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Counts of each campaign, also of one without contacts. */
async function countContacts(
  context: Database,
  ids: readonly string[],
): Promise<Map<string, CampaignCounts>> {
  const pieces = new Map(ids.map((id) => [id, [] as Piece[]]));
  for await (const spans of contactSpans(context, ids, PIECE_ROWS_MAX)) {
    for (const piece of await readPieces(context, spans)) {
      pieces.get(piece.campaign_id)?.push(piece);
    }
  }
  return new Map([...pieces].map(([id, own]) => [id, countsOf(own)]));
}

/** Number of the campaign's stored contacts. */
export async function contactsStored(context: Database, campaignId: string): Promise<number> {
  return (await countContacts(context, [campaignId])).get(campaignId)?.contacts ?? 0;
}

/** Failed contacts of one campaign by the outcome of their last attempt, for those outcomes only. */
export async function countFailed(
  context: Database,
  campaignId: string,
  outcomes: readonly AttemptOutcome[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const [span] of contactSpans(context, [campaignId], PIECE_ROWS_MAX)) {
    if (span === undefined) break;
    const { rows } = await sql<{ outcome: AttemptOutcome; contacts: number }>`
      select last_outcome as outcome, count(*)::int as contacts from campaign_contacts
      where campaign_id = ${campaignId} and row_number > ${span.after} and row_number <= ${span.to}
        and state = 'failed' and last_outcome = any(${[...outcomes]})
      group by last_outcome`.execute(context.db);
    for (const { outcome, contacts } of rows) counts[outcome] = (counts[outcome] ?? 0) + contacts;
  }
  return counts;
}

interface Numbers {
  contacts: number;
  attempted: number;
  reached: number;
  failed: number;
  calling: number;
  attempts: number;
  again: number;
  waiting: number;
  busy: number;
  no_answer: number;
  voicemail: number;
}

type Piece = Numbers & { campaign_id: string };

/** Reads the counts of each span. A contact has the reasons of its retries; one that waits has that of its next. In a
 *  cancelled campaign none is called any more: its last call reached nobody. */
async function readPieces({ db }: Database, spans: readonly ContactSpan[]): Promise<Piece[]> {
  const ids = spans.map(({ id }) => id);
  const afters = spans.map(({ after }) => after);
  const ends = spans.map(({ to }) => to);
  const waits = sql`state = 'waiting' and campaigns.state <> 'cancelled'`;
  const isGivenUp = sql`state = 'waiting' and campaigns.state = 'cancelled'`;
  const retriesBy = (reason: 'busy' | 'no_answer' | 'voicemail') => sql`
    (coalesce(sum(${sql.ref(`${reason}_retries`)}), 0)
      + count(*) filter (where ${waits} and retry_reason = ${sql.lit(reason)}))::int`;
  const { rows } = await sql<Piece>`
    select of.id::text as campaign_id, piece.*
    from unnest(${ids}::bigint[], ${afters}::bigint[], ${ends}::bigint[]) as of (id, after, "to")
    join campaigns on campaigns.id = of.id,
    lateral (
      select count(*)::int as contacts,
        count(*) filter (where attempts > 0)::int as attempted,
        count(*) filter (where state = 'reached')::int as reached,
        count(*) filter (where state = 'failed' or ${isGivenUp})::int as failed,
        count(*) filter (where state = 'calling')::int as calling,
        coalesce(sum(attempts), 0)::int as attempts,
        coalesce(sum(greatest(attempts - 1, 0)), 0)::int as again,
        count(*) filter (where ${waits})::int as waiting,
        ${retriesBy('busy')} as busy,
        ${retriesBy('no_answer')} as no_answer,
        ${retriesBy('voicemail')} as voicemail
      from campaign_contacts
      where campaign_id = of.id and row_number > of.after and row_number <= of."to"
    ) as piece`.execute(db);
  return rows;
}

function countsOf(pieces: readonly Numbers[]): CampaignCounts {
  const of = (name: keyof Numbers): number => pieces.reduce((sum, each) => sum + each[name], 0);
  return {
    contacts: of('contacts'),
    attempted: of('attempted'),
    reached: of('reached'),
    failed: of('failed'),
    inFlight: of('calling'),
    executed: of('attempts') - of('calling'),
    attempts: of('contacts') + of('again') + of('waiting'),
    retries: of('again') + of('waiting'),
    retriesPending: of('waiting'),
    retriesBy: {
      busy: of('busy'),
      no_answer: of('no_answer'),
      voicemail: of('voicemail'),
    },
  };
}
