// Text chats, with the same engine as calls: the API's interface, the lease of each change, and the end of idle chats. Any
// process may take any turn of a chat. text-chat-work does the work.
// Source: contract §11.1.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { ClaimLoop } from '../../std/claim-loop.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type {
  ChatLease,
  DueTextChat,
  NewTurn,
  TextChat,
} from '../../store/runs/text-chat-records.ts';
import type { Store } from '../../store/store.ts';
import { withoutReserved } from '../start/setup/call-context.ts';
import { resolveTestAgent } from '../start/setup/resolve-agent.ts';
import type { ChatPlan, ChatPlanner } from './chat-planner.ts';
import {
  type ChatEnding,
  type LeasedChat,
  type TextChatWork,
  TURN_MS_MAX,
} from './text-chat-work.ts';

/** Turns of a chat at most, including rewound ones: each is stored with its resulting state. */
export const TURNS_MAX = 200;
/** Characters of both sides in a chat at most: about a model's context. */
export const CHARACTERS_MAX = 200_000;
/** Concurrent turns in this process: each may wait for a model. */
const WORKS_MAX = 200;
/** Lease of a piece of work. Longer than a turn and the statements around it. */
const HOLD_MS = TURN_MS_MAX + 30_000;
/** Time for turns in progress when the process stops. */
const STOP_GRACE_MS = 5_000;
const SWEEP_MS = 300_000;
/** Chats that are ended concurrently, in all and for one organization: each may ask a model for its values. */
const SWEEP_SLOTS = 8;
const SWEEP_SLOTS_PER_ORGANIZATION = 4;
/** Reads of a reader that repairs a chat while others change it. */
const READS_MAX = 3;

interface NewTextChat {
  organizationId: string;
  workflowId: string;
  /** Name of the run; null: one is generated. */
  name: string | null;
  initialContext: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

export interface TextChatId {
  organizationId: string;
  workflowId: string;
  runId: string;
}

/** Every change throws TEXT_CHAT_CONFLICT, with the facts `expected` and `actual`, if the chat is not at the
 *  revision that the client expects (null expects none), or if another request is changing it. All but `create`
 *  throw TEXT_CHAT_NOT_FOUND and RUN_NOT_TEXT_CHAT. */
export interface TextChatService {
  /** Returns the chat with the agent's first words; with status `error` if they failed. Throws AGENT_NOT_FOUND,
   *  AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, WORKFLOW_INVALID. */
  create(wanted: NewTextChat): Promise<TextChat>;
  get(id: TextChatId): Promise<TextChat>;
  /** Sends the caller's words and returns the agent's answer. Throws TEXT_CHAT_ENDED, TEXT_CHAT_FULL,
   *  WORKFLOW_INVALID, TEXT_CHAT_TURN_FAILED. */
  say(id: TextChatId, text: string, expectedRevision: number | null): Promise<TextChat>;
  /** Ends the chat. A chat that has ended is unchanged. */
  end(id: TextChatId, expectedRevision: number | null): Promise<TextChat>;
  /** Returns to the state after that turn; null continues from the last one. Throws TEXT_CHAT_ENDED,
   *  TEXT_CHAT_TURN_NOT_FOUND. */
  rewind(id: TextChatId, turnId: string | null, expectedRevision: number | null): Promise<TextChat>;
}

interface TextChatsDeps {
  store: Pick<Store, 'textChats' | 'workflows' | 'runs'>;
  planner: ChatPlanner;
  work: TextChatWork;
  clock: Clock;
  random: Random;
  log: Log;
}

export class TextChats implements TextChatService {
  readonly #deps: TextChatsDeps;
  readonly #abort = new AbortController();
  readonly #sweep: ClaimLoop<DueTextChat>;
  /** Work in progress in this process, by the token of its lease. */
  readonly #works = new Map<string, Promise<unknown>>();
  #hasStopped = false;

  constructor(deps: TextChatsDeps) {
    this.#deps = deps;
    const { clock, random, log, store } = deps;
    this.#sweep = new ClaimLoop<DueTextChat>({
      name: 'text chats',
      clock,
      random,
      log,
      everyMs: SWEEP_MS,
      slots: SWEEP_SLOTS,
      slotsPerOwner: SWEEP_SLOTS_PER_ORGANIZATION,
      claim: (limit, except) => store.textChats.claimDue({ limit, except, leaseMs: HOLD_MS }),
      ownerOf: ({ organizationId }) => organizationId,
      isFollowed: (due) => due.isFollowed,
      perform: (due) => this.#lookAfter(due),
      giveBack: async () => undefined, // It becomes due again.
    });
  }

  /** Starts the search for idle chats. */
  start(): void {
    this.#sweep.start();
  }

  /** Accepts no more work; turns in progress may finish within a few seconds, then they fail. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    const grace = this.#deps.clock.after(STOP_GRACE_MS, () => this.#abort.abort());
    await Promise.allSettled([this.#sweep.stop(), ...this.#works.values()]);
    grace.cancel();
  }

  async create(wanted: NewTextChat): Promise<TextChat> {
    const { store, random } = this.#deps;
    const { organizationId } = wanted;
    const { workflow, version } = await resolveTestAgent(
      this.#deps,
      organizationId,
      wanted.workflowId,
    );
    const initialContext = {
      ...version.templateContextVariables,
      ...withoutReserved(wanted.initialContext),
    };
    const of = { organizationId, workflowId: workflow.id, initialContext };
    const plan = await this.#deps.planner.plan(of, version);
    const run = {
      organizationId,
      workflowId: workflow.id,
      definitionId: version.id,
      name: wanted.name ?? `WR-TEXT-${random.bytes(3).toString('hex').toUpperCase()}`,
      mode: 'textchat',
      callType: 'inbound' as const,
      configurationId: null,
      providerCallId: null,
      initialContext,
      gatheredContext: {},
      logs: {},
      annotations: wanted.annotations,
    };
    return this.#work(plan.settings.text_chat_inactivity_timeout_seconds, async (hold) => {
      const chat = await store.textChats.create(run, this.#newTurn(null), hold);
      await this.#deps.work
        .answer(this.#held(chat, chat.revision, hold), plan, null)
        .catch((error: unknown) => {
          // The chat can continue all the same: the next message gets the opening first.
          if (codeOf(error) !== 'TEXT_CHAT_TURN_FAILED') throw error;
        });
      return this.#ended(chat.run.id);
    });
  }

  async get(id: TextChatId): Promise<TextChat> {
    return this.#usable(() => this.#find(id));
  }

  async say(id: TextChatId, text: string, expectedRevision: number | null): Promise<TextChat> {
    const chat = await this.#forChange(id, expectedRevision);
    if (chat.status === 'completed') throw new GatewayError('TEXT_CHAT_ENDED');
    refuseFull(chat, text);
    const plan = await this.#planOf(chat);
    return this.#take(chat, plan, this.#newTurn(text), async (held) => {
      await this.#deps.work.answer(held, plan, text);
      return this.#ended(id.runId);
    });
  }

  async end(id: TextChatId, expectedRevision: number | null): Promise<TextChat> {
    const chat = await this.#forChange(id, expectedRevision);
    if (chat.status === 'completed') {
      return chat.run.state === 'completed' ? chat : this.#ended(id.runId);
    }
    return this.#end(chat, { reason: 'user_hangup', by: 'caller' });
  }

  async rewind(
    id: TextChatId,
    turnId: string | null,
    expectedRevision: number | null,
  ): Promise<TextChat> {
    const chat = await this.#forChange(id, expectedRevision);
    if (chat.status === 'completed') throw new GatewayError('TEXT_CHAT_ENDED');
    const turn = chat.turns.find((each) => each.id === turnId);
    if (turnId !== null && turn === undefined) throw new GatewayError('TEXT_CHAT_TURN_NOT_FOUND');
    const to = turn === undefined ? null : { turnId: turn.id, toSeq: turn.eventSeq ?? 0 };
    const plan = await this.#planOf(chat).catch(noPlan);
    return this.#take(chat, plan, undefined, async (held) => {
      await this.#deps.work.rewind(held, to);
      return this.#read(id.runId);
    });
  }

  /** Ends an idle chat, abandons lost work, or repeats an end that failed. */
  async #lookAfter({ runId, revision }: DueTextChat): Promise<void> {
    const found = await this.#read(runId);
    if (found.status === 'completed') {
      await this.#deps.work.finish(found);
      return;
    }
    if (found.revision !== revision || (isPending(found) && !this.#isLost(found))) return;
    const chat = await this.#usable(() => this.#read(runId));
    if (isPending(chat)) return;
    await this.#end(chat, { reason: 'user_idle_max_duration_exceeded', by: 'gateway' }).catch(
      (error: unknown) => {
        if (codeOf(error) !== 'TEXT_CHAT_CONFLICT') throw error; // Another process has written meanwhile.
      },
    );
  }

  async #end(chat: TextChat, how: ChatEnding): Promise<TextChat> {
    const plan = await this.#planOf(chat).catch(noPlan);
    return this.#take(chat, plan, undefined, async (held) => {
      await this.#deps.work.end(held, plan, how);
      return this.#ended(chat.run.id);
    });
  }

  /** The chat. Throws TEXT_CHAT_NOT_FOUND, RUN_NOT_TEXT_CHAT. */
  async #find({ organizationId, workflowId, runId }: TextChatId): Promise<TextChat> {
    const { store } = this.#deps;
    const chat = await store.textChats.get(organizationId, runId);
    if (chat?.run.workflowId === workflowId) return chat;
    const run = chat === undefined ? await store.runs.get(organizationId, runId) : undefined;
    const isOther = run?.workflowId === workflowId && run.mode !== 'textchat';
    throw new GatewayError(isOther ? 'RUN_NOT_TEXT_CHAT' : 'TEXT_CHAT_NOT_FOUND');
  }

  async #read(runId: string): Promise<TextChat> {
    const chat = await this.#deps.store.textChats.find(runId);
    if (chat === undefined) throw new GatewayError('TEXT_CHAT_NOT_FOUND');
    return chat;
  }

  /** Reads a chat, and frees it if a killed process held it. */
  async #usable(read: () => Promise<TextChat>): Promise<TextChat> {
    for (let reads = 1; ; reads += 1) {
      const chat = await read();
      if (!isPending(chat) || !this.#isLost(chat) || reads > READS_MAX) return chat;
      await this.#deps.work.abandon(chat);
    }
  }

  #isLost({ hold }: TextChat): boolean {
    if (hold === null) return true;
    if (hold.isThisNode) return !this.#works.has(hold.token);
    return hold.isOver;
  }

  /** Reads a chat for a change. A chat that has ended may have any revision. Throws TEXT_CHAT_CONFLICT. */
  async #forChange(id: TextChatId, expectedRevision: number | null): Promise<TextChat> {
    const chat = await this.get(id);
    if (chat.status === 'completed') return chat;
    const { revision } = chat;
    // Without an expected revision, the one before the work in progress counts.
    const expected = expectedRevision ?? (isPending(chat) ? revision - 1 : revision);
    if (isPending(chat) || expected !== revision) throw conflict(expected, revision);
    return chat;
  }

  /** Plans the chat's engine and model. Throws WORKFLOW_INVALID. */
  async #planOf({ run }: TextChat): Promise<ChatPlan> {
    const version = await this.#deps.store.workflows.version(run.workflowId, run.definitionId);
    if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    return this.#deps.planner.plan(run, version);
  }

  /** Claims the chat for `work`. Throws TEXT_CHAT_CONFLICT if another request was first. */
  #take(
    chat: TextChat,
    plan: ChatPlan | undefined,
    turn: NewTurn | undefined,
    work: (held: LeasedChat) => Promise<TextChat>,
  ): Promise<TextChat> {
    return this.#work(plan?.settings.text_chat_inactivity_timeout_seconds, async (hold) => {
      const { run, revision } = chat;
      const taken = await this.#deps.store.textChats.take(run.id, revision, hold, turn);
      if (taken === undefined) throw conflict(revision, (await this.#read(run.id)).revision);
      return work(this.#held(chat, taken, hold));
    });
  }

  #held(chat: TextChat, revision: number, { idleMs, until }: OwnHold): LeasedChat {
    return { chat, revision, idleMs, until, signal: this.#abort.signal };
  }

  /** Runs `work` under a lease. Throws GATEWAY_DRAINING, QUEUE_FULL. */
  async #work(
    idleS = HOLD_MS / 1_000,
    work: (hold: OwnHold) => Promise<TextChat>,
  ): Promise<TextChat> {
    if (this.#hasStopped) throw new GatewayError('GATEWAY_DRAINING');
    if (this.#works.size >= WORKS_MAX)
      throw new GatewayError('QUEUE_FULL', { queue: 'text chats' });
    const token = this.#deps.random.uuid();
    const until = this.#deps.clock.now() + HOLD_MS;
    // Registered here before it is stored: a lease of this process that is not registered is lost.
    const running = Promise.resolve().then(() =>
      work({ token, ms: HOLD_MS, idleMs: idleS * 1_000, until }),
    );
    this.#works.set(token, running);
    try {
      return await running;
    } finally {
      this.#works.delete(token);
    }
  }

  /** The current chat; if it has ended, its end is carried out first. */
  async #ended(runId: string): Promise<TextChat> {
    const chat = await this.#read(runId);
    if (chat.status !== 'completed') return chat;
    try {
      await this.#deps.work.finish(chat);
    } catch (error) {
      this.#deps.log.error({ err: error, runId }, 'end of a text chat not carried out yet');
    }
    return this.#read(runId);
  }

  #newTurn(userText: string | null): NewTurn {
    return { id: `turn_${this.#deps.random.bytes(6).toString('hex')}`, userText };
  }
}

/** A lease of this process. Its expiry is counted by this process's clock from before it was stored, so that it ends
 *  here first. */
interface OwnHold extends ChatLease {
  until: number;
}

function isPending({ status }: TextChat): boolean {
  return status === 'pending_assistant_turn';
}

function conflict(expected: number, actual: number): GatewayError {
  return new GatewayError('TEXT_CHAT_CONFLICT', { expected, actual });
}

/** Undefined for WORKFLOW_INVALID: a chat whose definition cannot run any more can still be ended. */
function noPlan(error: unknown): undefined {
  if (codeOf(error) !== 'WORKFLOW_INVALID') throw error;
  return undefined;
}

/** Throws TEXT_CHAT_FULL if the chat cannot take `text`. */
function refuseFull({ turns, discarded }: TextChat, text: string): void {
  const all = [...turns, ...discarded.flatMap((each) => each.turns)];
  if (all.length >= TURNS_MAX) {
    throw new GatewayError('TEXT_CHAT_FULL', { max: TURNS_MAX, what: 'turns' });
  }
  const characters = all.reduce(
    (sum, turn) => sum + (turn.userText?.length ?? 0) + (turn.assistantText?.length ?? 0),
    text.length,
  );
  if (characters > CHARACTERS_MAX) {
    throw new GatewayError('TEXT_CHAT_FULL', { max: CHARACTERS_MAX, what: 'characters' });
  }
}
