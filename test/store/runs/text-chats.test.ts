// Text chats, on both engines: compare and set by revision, what a kill leaves, going back. Source:
// contract §11.1.

import { describe, expect, it } from 'vitest';
import type { ChatLease, NewTurn, TextChat } from '../../../src/store/runs/text-chat-records.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

const HOLD: ChatLease = { token: 'a', ms: 90_000, idleMs: 1_800_000 };
const turn = (n: number, userText: string | null = 'hi'): NewTurn => ({
  id: `turn_00000000000${n}`,
  userText,
});

async function created(at: TestStore): Promise<TextChat> {
  const { workflowId, definitionId } = await runMaker(at);
  const run = {
    organizationId: at.owner.organizationId,
    workflowId,
    definitionId,
    name: 'WR-TEXT-1',
    mode: 'textchat',
    callType: 'inbound' as const,
    configurationId: null,
    providerCallId: null,
    initialContext: { a: 1 },
    gatheredContext: {},
    logs: {},
    annotations: { note: 'x' },
  };
  return at.store.textChats.create(run, turn(0, null), HOLD);
}

async function event(at: TestStore, runId: string, seq: number): Promise<void> {
  const body = { type: 'dtmf' as const, digit: '1' };
  await at.store.runs.appendEvents([{ runId, seq, at: at.clock.now(), mediaMs: 0, body }]);
}

/** A turn taken and settled; the chat then. */
async function turned(at: TestStore, chat: TextChat, n: number): Promise<TextChat> {
  const { textChats } = at.store;
  const { id } = chat.run;
  const revision = n === 0 ? chat.revision : await textChats.take(id, chat.revision, HOLD, turn(n));
  await event(at, id, n + 1);
  await textChats.settle(id, revision ?? 0, {
    status: 'idle',
    eventSeq: n + 1,
    dueMs: 60_000,
    turn: {
      status: 'completed',
      assistantText: `answer ${n}`,
      events: [{ type: 'x' }],
      usage: {},
      state: { step: n },
    },
  });
  const after = await textChats.find(id);
  if (after === undefined) throw new Error('no such chat');
  return after;
}

describe.each(engines())('text chats on %s', (engine) => {
  const at = withStore(engine);
  const chats = () => at.store.textChats;

  it('begin with a run that takes no place of a call and that crash recovery leaves alone', async () => {
    const chat = await created(at);
    expect(chat).toMatchObject({
      revision: 1,
      status: 'pending_assistant_turn',
      run: { mode: 'textchat', state: 'running', annotations: { note: 'x' } },
      turns: [{ status: 'pending', userText: null }],
      state: null,
      hold: { token: 'a', isThisNode: true },
    });
    expect(await at.store.runs.countOpen()).toBe(0);
    expect(await at.store.runs.takeOrphaned()).toEqual([]);
    const page = { limit: 10, offset: 0 };
    const { calls } = await at.store.runs.activeCalls(at.owner.organizationId, page);
    expect(calls).toEqual([]);
  });

  it('cannot become a phone call', async () => {
    const { run } = await created(at);
    const call = {
      organizationId: at.owner.organizationId,
      workflowId: run.workflowId,
      runId: run.id,
      mode: 'twilio' as const,
      configurationId: '1',
      initialContext: {},
      gatheredContext: {},
    };
    await expect(at.store.starts.startIdle(call, undefined)).rejects.toMatchObject({
      code: 'RUN_HAS_CALL',
    });
  });

  it('are taken by one of many who have seen the same revision', async () => {
    const chat = await turned(at, await created(at), 0);
    const taken = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => chats().take(chat.run.id, chat.revision, HOLD, turn(n))),
    );
    expect(taken.filter((revision) => revision !== undefined)).toEqual([chat.revision + 1]);
    const after = await chats().find(chat.run.id);
    expect(after?.turns).toHaveLength(2);
    expect(await chats().take(chat.run.id, chat.revision + 1, HOLD, turn(7))).toBeUndefined();
  });

  it('are not settled by a process whose work was given up', async () => {
    const { run, revision } = await created(at);
    expect(await chats().release(run.id, revision, 0)).toBe(true);
    const settled = { status: 'idle' as const, eventSeq: 0, dueMs: 1 };
    expect(await chats().settle(run.id, revision, settled)).toBe(false);
    expect(await chats().release(run.id, revision, 0)).toBe(false);
    const after = await chats().find(run.id);
    expect(after).toMatchObject({ status: 'error', hold: null, turns: [{ status: 'failed' }] });
  });

  it('that were held without a turn are idle again', async () => {
    const chat = await turned(at, await created(at), 0);
    const held = await chats().take(chat.run.id, chat.revision, HOLD);
    expect(await chats().release(chat.run.id, held ?? 0, chat.eventSeq)).toBe(true);
    expect((await chats().find(chat.run.id))?.status).toBe('idle');
  });

  it('count no turn whose events are not stored', async () => {
    const { run, revision } = await created(at);
    const settled = { status: 'idle' as const, eventSeq: 3, dueMs: 1 };
    await expect(chats().settle(run.id, revision, settled)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    expect((await chats().find(run.id))?.revision).toBe(revision);
  });

  it('go back to a turn: the later ones are kept apart, its state counts', async () => {
    let chat = await created(at);
    for (const n of [0, 1, 2]) chat = await turned(at, chat, n);
    expect(chat.state).toEqual({ step: 2 });
    const to = chat.turns[0];
    const held = await chats().take(chat.run.id, chat.revision, HOLD);
    await chats().settle(chat.run.id, held ?? 0, {
      status: 'rewound',
      eventSeq: 3,
      dueMs: 1,
      rewindTo: to?.id ?? '',
    });
    const after = await chats().find(chat.run.id);
    expect(after).toMatchObject({
      status: 'rewound',
      cursorTurnId: to?.id,
      turns: [{ id: to?.id, eventSeq: 1 }],
      discarded: [{ rewoundFromTurnId: to?.id, turns: [{ id: turn(1).id }, { id: turn(2).id }] }],
      state: { step: 0 },
    });
    const again = await turned(at, after as TextChat, 3);
    expect(again.cursorTurnId).toBeNull();
    expect(again.turns.map(({ id }) => id)).toEqual([to?.id, turn(3).id]);
  });

  it('are due once they have been silent, for one who asks', async () => {
    const chat = await turned(at, await created(at), 0);
    const claim = { limit: 10, except: [], leaseMs: 60_000 };
    expect(await chats().claimDue(claim)).toEqual([]);
    at.clock.advance(60_000);
    const both = await Promise.all([chats().claimDue(claim), chats().claimDue(claim)]);
    expect(both.flat()).toEqual([
      {
        runId: chat.run.id,
        organizationId: at.owner.organizationId,

        revision: chat.revision,
        isFollowed: false,
      },
    ]);
    at.clock.advance(60_000);
    expect(await chats().claimDue({ ...claim, except: [at.owner.organizationId] })).toEqual([]);
    expect(await chats().claimDue(claim)).toHaveLength(1);
  });

  it('that are over are due no more', async () => {
    const chat = await turned(at, await created(at), 0);
    const held = await chats().take(chat.run.id, chat.revision, HOLD);
    await chats().settle(chat.run.id, held ?? 0, { status: 'completed', eventSeq: 1, dueMs: 0 });
    const claim = { limit: 10, except: [], leaseMs: 0 };
    expect(await chats().claimDue(claim)).toHaveLength(1);
    await chats().close(chat.run.id);
    expect(await chats().claimDue(claim)).toEqual([]);
    expect(await chats().take(chat.run.id, chat.revision + 2, HOLD, turn(5))).toBeUndefined();
  });

  it('are private to their organization', async () => {
    const { run } = await created(at);
    expect(await chats().get('999999', run.id)).toBeUndefined();
    expect((await chats().get(at.owner.organizationId, run.id))?.run.id).toBe(run.id);
    for (const id of ['x', '0', '', '9'.repeat(30)]) {
      expect(await chats().get(at.owner.organizationId, id)).toBeUndefined();
    }
  });

  it('keep any text of a client unchanged', async () => {
    const { run, revision } = await turned(at, await created(at), 0);
    const odd = 'a\u0000b \ud800 \u202e';
    await chats().take(run.id, revision, HOLD, turn(1, odd));
    const after = await chats().find(run.id);
    expect(after?.turns.at(-1)?.userText).toContain('ab');
  });
});
