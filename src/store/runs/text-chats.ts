// Text chats on PostgreSQL. A change names the revision that its client has seen: one statement compares and sets the
// row, so that of two writers on any nodes one wins and the other gets a conflict.

import { type RawBuilder, type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import { type DueClaim, dueIds, isFollowed } from '../db/due-rows.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { TextChatTable, TextChatTurnTable } from '../db/text-chat-tables.ts';
import { insertRow, type NewRun } from './run-insertion.ts';
import { toRun } from './runs.ts';
import type {
  ChatLease,
  DiscardedTurns,
  DueTextChat,
  NewTurn,
  Settled,
  TextChat,
  TextChatTurn,
} from './text-chat-records.ts';

const PENDING = 'pending_assistant_turn';

export type TextChatStore = Pick<TextChatRepository, keyof TextChatRepository>;

export class TextChatRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Creates a run without a phone call, its chat, and its first turn, which is pending: revision 1. */
  async create(
    input: NewRun & { annotations: Record<string, unknown> },
    turn: NewTurn,
    hold: ChatLease,
  ): Promise<TextChat> {
    const runId = await this.#context.db.transaction().execute(async (tx) => {
      const run = await insertRow(tx, this.#context, input, { isIdle: true });
      const now = this.#now();
      await tx
        .updateTable('runs')
        .set({
          state: 'running',
          started_at: now,
          annotations: jsonText(input.annotations),
        })
        .where('id', '=', run.id)
        .execute();
      await tx
        .insertInto('text_chats')
        .values({
          run_id: run.id,
          organization_id: input.organizationId,
          revision: 1,
          status: PENDING,
          event_seq: 0,
          ...this.#held(hold),
          created_at: now,
          updated_at: now,
        })
        .execute();
      await this.#addTurn(tx, run.id, turn);
      return run.id;
    });
    const chat = await this.find(runId);
    if (chat === undefined) throw new GatewayError('TEXT_CHAT_NOT_FOUND');
    return chat;
  }

  async get(organizationId: string, runId: string): Promise<TextChat | undefined> {
    const chat = await this.find(runId);
    return chat?.run.organizationId === organizationId ? chat : undefined;
  }

  /** Finds a chat for the idle check, which has no organization. */
  async find(runId: string): Promise<TextChat | undefined> {
    if (!isRowId(runId)) return undefined;
    // Row and turns must be read in one snapshot.
    return this.#context.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) => this.#read(tx, runId));
  }

  /** Claims a chat with that revision, with a new turn if one is given. Returns the new revision; undefined if
   *  it has another revision, is completed, or is claimed already. */
  take(
    runId: string,
    revision: number,
    hold: ChatLease,
    turn?: NewTurn,
  ): Promise<number | undefined> {
    return this.#context.db.transaction().execute(async (tx) => {
      const row = await tx
        .updateTable('text_chats')
        .set({
          revision: revision + 1,
          status: PENDING,
          ...(turn === undefined ? {} : { cursor_turn_id: null }),
          ...this.#held(hold),
          updated_at: this.#now(),
        })
        .where('run_id', '=', runId)
        .where('revision', '=', revision)
        .where('status', 'not in', [PENDING, 'completed'])
        .returning('revision')
        .executeTakeFirst();
      if (row !== undefined && turn !== undefined) await this.#addTurn(tx, runId, turn);
      return row?.revision;
    });
  }

  /** Settles a piece of work. False, without a change, if the chat has another revision. Throws STORE_UNAVAILABLE if
   *  events of the work are not stored. */
  settle(runId: string, revision: number, settled: Settled): Promise<boolean> {
    const { status, eventSeq, dueMs, turn, rewindTo } = settled;
    const dueAt = shifted(this.#context.time(), dueMs);
    return this.#context.db.transaction().execute(async (tx) => {
      const wasHeld = await this.#setFree(
        tx,
        { runId, revision },
        { status, eventSeq, dueAt, ...(rewindTo === undefined ? {} : { cursorTurnId: rewindTo }) },
      );
      if (!wasHeld) return false;
      if (turn !== undefined) await this.#endTurn(tx, { runId, eventSeq }, turn);
      if (typeof rewindTo === 'string') await this.#discardAfter(tx, runId, rewindTo);
      return true;
    });
  }

  /** Abandons unfinished work of another process: its turn has failed. False as for `settle`. */
  release(runId: string, revision: number, eventSeq: number): Promise<boolean> {
    return this.#context.db.transaction().execute(async (tx) => {
      const wasHeld = await this.#setFree(tx, { runId, revision }, { status: 'error', eventSeq });
      if (!wasHeld) return false;
      const { numUpdatedRows: failed } = await tx
        .updateTable('text_chat_turns')
        .set({ status: 'failed', event_seq: eventSeq })
        .where('run_id', '=', runId)
        .where('status', '=', 'pending')
        .executeTakeFirst();
      if (failed > 0n) return true;
      const chat = tx.updateTable('text_chats').set({ status: 'idle' });
      await chat.where('run_id', '=', runId).execute();
      return true;
    });
  }

  /** Claims chats that are due for a check: at most one of each organization. */
  async claimDue(claim: DueClaim): Promise<DueTextChat[]> {
    const now = this.#context.time();
    const of = { table: 'text_chats', id: 'run_id' };
    const due = dueIds(of, claim, now);
    const { rows } = await sql<Selectable<TextChatTable> & { is_followed: boolean }>`
      update text_chats set due_at = ${shifted(now, claim.leaseMs)} where run_id in (${due})
      returning *, ${isFollowed(of, now)} as is_followed`.execute(this.#context.db);
    return rows.map((row) => ({
      runId: row.run_id,
      organizationId: row.organization_id,
      revision: row.revision,
      isFollowed: row.is_followed,
    }));
  }

  /** Closes a chat whose end is carried out completely. */
  async close(runId: string): Promise<void> {
    await this.#context.db
      .updateTable('text_chats')
      .set({ due_at: null })
      .where('run_id', '=', runId)
      .where('status', '=', 'completed')
      .execute();
  }

  /** Ends the work on that revision. Throws STORE_UNAVAILABLE if its events are missing: a turn counts only with all of
   *  its events. */
  async #setFree(
    tx: TransactionContext,
    { runId, revision }: { runId: string; revision: number },
    to: {
      status: TextChat['status'];
      eventSeq: number;
      dueAt?: RawBuilder<Date>;
      cursorTurnId?: string | null;
    },
  ): Promise<boolean> {
    const row = await tx
      .updateTable('text_chats')
      .set({
        revision: revision + 1,
        status: to.status,
        event_seq: to.eventSeq,
        ...(to.cursorTurnId === undefined ? {} : { cursor_turn_id: to.cursorTurnId }),
        ...(to.dueAt === undefined ? {} : { due_at: to.dueAt }),
        hold: null,
        hold_node: null,
        hold_until: null,
        updated_at: this.#now(),
      })
      .where('run_id', '=', runId)
      .where('revision', '=', revision)
      .where('status', '=', PENDING)
      .returning('run_id')
      .executeTakeFirst();
    if (row === undefined) return false;
    const stored = await tx
      .selectFrom('run_events')
      .select(({ fn }) => fn.max('seq').as('seq'))
      .where('run_id', '=', runId)
      .executeTakeFirst();
    if (Number(stored?.seq ?? 0) < to.eventSeq) throw new GatewayError('STORE_UNAVAILABLE');
    return true;
  }

  #now(): Date {
    return new Date(this.#context.clock.now());
  }

  #held({ token, ms, idleMs }: ChatLease) {
    const { time, node } = this.#context;
    return {
      hold: token,
      hold_node: node,
      hold_until: shifted(time(), ms),
      due_at: shifted(time(), idleMs),
    };
  }

  async #addTurn(tx: TransactionContext, runId: string, { id, userText }: NewTurn): Promise<void> {
    const last = tx
      .selectFrom('text_chat_turns')
      .select(({ fn }) => sql<number>`coalesce(${fn.max('number')}, 0) + 1`.as('number'))
      .where('run_id', '=', runId);
    await tx
      .insertInto('text_chat_turns')
      .values({
        run_id: runId,
        number: last,
        id,
        status: 'pending',
        user_text: userText === null ? null : plainText(userText),
        events: '[]',
        usage: '{}',
        created_at: this.#now(),
      })
      .execute();
  }

  async #endTurn(
    tx: TransactionContext,
    { runId, eventSeq }: { runId: string; eventSeq: number },
    turn: NonNullable<Settled['turn']>,
  ): Promise<void> {
    const { status, assistantText, events, usage, state } = turn;
    await tx
      .updateTable('text_chat_turns')
      .set({
        status,
        assistant_text: assistantText === null ? null : plainText(assistantText),
        answered_at: assistantText === null ? null : this.#now(),
        event_seq: eventSeq,
        events: jsonText(events),
        usage: jsonText(usage),
        ...(state === undefined ? {} : { state: jsonText(state) }),
      })
      .where('run_id', '=', runId)
      .where('status', '=', 'pending')
      .execute();
  }

  async #discardAfter(tx: TransactionContext, runId: string, turnId: string): Promise<void> {
    await tx
      .updateTable('text_chat_turns')
      .set({ rewound_from: turnId, discarded_at: this.#now() })
      .where('run_id', '=', runId)
      .where('discarded_at', 'is', null)
      .where('number', '>', (of) =>
        of
          .selectFrom('text_chat_turns as kept')
          .select('kept.number')
          .where('kept.run_id', '=', runId)
          .where('kept.id', '=', turnId),
      )
      .execute();
  }

  async #read(tx: TransactionContext, runId: string): Promise<TextChat | undefined> {
    const row = await tx
      .selectFrom('text_chats')
      .selectAll()
      .select(sql<boolean | null>`hold_until <= ${this.#context.time()}`.as('is_hold_over'))
      .where('run_id', '=', runId)
      .executeTakeFirst();
    const run = await tx.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst();
    if (row === undefined || run === undefined) return undefined;
    const turns = await tx
      .selectFrom('text_chat_turns')
      .select(TURN_COLUMNS)
      .where('run_id', '=', runId)
      .orderBy('number')
      .execute();
    const last = await tx
      .selectFrom('text_chat_turns')
      .select('state')
      .where('run_id', '=', runId)
      .where('discarded_at', 'is', null)
      .where('state', 'is not', null)
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
    return {
      run: toRun(run),
      ...this.#headOf(row),
      turns: turns.filter((turn) => turn.discarded_at === null).map(toTurn),
      discarded: discardedOf(turns),
      state: last?.state ?? null,
    };
  }

  #headOf(row: Selectable<TextChatTable> & { is_hold_over: boolean | null }) {
    const { hold, is_hold_over: isOver, hold_node: node } = row;
    return {
      revision: row.revision,
      status: row.status,
      cursorTurnId: row.cursor_turn_id,
      eventSeq: row.event_seq,
      hold:
        hold === null || isOver === null
          ? null
          : { token: hold, isOver, isThisNode: node === this.#context.node },
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }
}

/** All columns but the state, which is large. */
const TURN_COLUMNS = [
  'id',
  'status',
  'user_text',
  'assistant_text',
  'answered_at',
  'events',
  'usage',
  'event_seq',
  'rewound_from',
  'discarded_at',
  'created_at',
] as const;

type TurnRow = Pick<Selectable<TextChatTurnTable>, (typeof TURN_COLUMNS)[number]>;

function toTurn(row: TurnRow): TextChatTurn {
  return {
    id: row.id,
    status: row.status,
    userText: row.user_text,
    assistantText: row.assistant_text,
    answeredAt: row.answered_at,
    events: row.events,
    usage: row.usage,
    eventSeq: row.event_seq,
    createdAt: row.created_at,
  };
}

/** Turns that were rewound together. */
function discardedOf(rows: readonly TurnRow[]): DiscardedTurns[] {
  const all = new Map<string, DiscardedTurns>();
  for (const row of rows) {
    if (row.rewound_from === null || row.discarded_at === null) continue;
    const key = `${row.discarded_at.getTime()} ${row.rewound_from}`;
    const known = all.get(key) ?? {
      rewoundFromTurnId: row.rewound_from,
      discardedAt: row.discarded_at,
      turns: [],
    };
    known.turns.push(toTurn(row));
    all.set(key, known);
  }
  return [...all.values()].sort(
    (one, other) => Number(one.discardedAt) - Number(other.discardedAt),
  );
}
