// One piece of work on a text chat under its lease: a turn, an end or a rewind. Its events are stored before it is
// settled; if the process is killed at any point, the next reader abandons the work. Source: contract §11.1.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { textChatTurns } from '../../metrics/metrics.ts';
import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { TextChat } from '../../store/runs/text-chat-records.ts';
import type { Store } from '../../store/store.ts';
import { INITIAL_STATE } from '../../workflow/engine/state.ts';
import type { DialogueState } from '../../workflow/engine.ts';
import type { EndedBy, RunClosing } from '../end/closing/run-closing.ts';
import { type EventLog, effectiveEvents, type RunLog } from '../events/event-log.ts';
import { feedbackItems } from '../events/realtime-feedback.ts';
import { runOutcomeOf } from '../events/run-outcome.ts';
import type { DialogueInput } from '../session/dialogue/dialogue-runner.ts';
import type { OrganizationHttp } from '../session/dialogue/tool-request.ts';
import { withRunIds } from '../start/setup/call-context.ts';
import type { ChatPlan } from './chat-planner.ts';
import { runTurn, type TurnDeps, type TurnResult } from './text-chat-turn.ts';

/** Longest wait for a written answer. */
export const TURN_MS_MAX = 60_000;
/** Pause before a failed end is repeated. */
const FINISH_AGAIN_MS = 60_000;

export interface TextChatWorkDeps {
  store: Pick<Store, 'textChats'>;
  events: EventLog;
  closing: RunClosing;
  http: OrganizationHttp;
  clock: Clock;
  log: Log;
}

/** Work under a lease: settling it needs the revision that the claim returned. */
export interface LeasedChat {
  chat: TextChat;
  revision: number;
  idleMs: number;
  /** End of the lease. After it another process may have abandoned the work: nothing is written any more. */
  until: number;
  signal: AbortSignal;
}

/** How a chat ends that was not ended by its agent. */
export interface ChatEnding {
  reason: EndReason;
  by: EndedBy;
}

type Settled = Parameters<Store['textChats']['settle']>[2];

export class TextChatWork {
  readonly #deps: TextChatWorkDeps;

  constructor(deps: TextChatWorkDeps) {
    this.#deps = deps;
  }

  /** A turn: the caller's message, and everything that follows until the agent waits. A turn that fails does not
   *  count, and the chat continues from the state before it. Throws TEXT_CHAT_TURN_FAILED, GATEWAY_DRAINING,
   *  STORE_UNAVAILABLE. */
  answer(held: LeasedChat, plan: ChatPlan, text: string | null): Promise<void> {
    return this.#leased(held, (work) => work.answer(plan, text));
  }

  /** An end from outside: values are extracted, then the chat is completed. `plan` is undefined for a definition
   *  that cannot run any more. Throws STORE_UNAVAILABLE. */
  end(held: LeasedChat, plan: ChatPlan | undefined, how: ChatEnding): Promise<void> {
    return this.#leased(held, (work) => work.end(plan, how));
  }

  /** Discards the events after `toSeq` and the turns after `turnId`; null discards nothing. */
  rewind(held: LeasedChat, to: { turnId: string; toSeq: number } | null): Promise<void> {
    return this.#leased(held, (work) => work.rewind(to));
  }

  /** Abandons work that another process has left unfinished. Returns false if another process did so first. */
  abandon(chat: TextChat): Promise<boolean> {
    const { events, store, clock, log } = this.#deps;
    const { run, revision, eventSeq } = chat;
    return this.#logged(chat, async (runLog) => {
      if (lastSeq(runLog) > eventSeq) forget(runLog, eventSeq, sinceStart(clock, run));
      await events.flush();
      const isOurs = await store.textChats.release(run.id, revision, lastSeq(runLog));
      if (isOurs) log.warn({ runId: run.id }, 'text chat was left in the middle of a turn');
      return isOurs;
    });
  }

  /** Stores outcome, transcript and state of an ended chat. Safe to repeat. */
  async finish({ run }: TextChat): Promise<void> {
    await this.#deps.closing.finish(run, { reason: 'user_hangup' });
    await this.#deps.store.textChats.close(run.id);
  }

  #leased(held: LeasedChat, perform: (work: LeasedWork) => Promise<void>): Promise<void> {
    return this.#logged(held.chat, (runLog) => perform(new LeasedWork(this.#deps, held, runLog)));
  }

  async #logged<T>({ run }: TextChat, work: (runLog: RunLog) => Promise<T>): Promise<T> {
    const runLog = await this.#deps.events.open(run.id);
    try {
      return await work(runLog);
    } finally {
      // Another process may take the next turn.
      this.#deps.events.release(run.id);
    }
  }
}

/** One piece of work: its lease and the run's open log. */
class LeasedWork {
  readonly #deps: TextChatWorkDeps;
  readonly #held: LeasedChat;
  readonly #runLog: RunLog;

  constructor(deps: TextChatWorkDeps, held: LeasedChat, runLog: RunLog) {
    this.#deps = deps;
    this.#held = held;
    this.#runLog = runLog;
  }

  get #chat(): TextChat {
    return this.#held.chat;
  }

  async answer(plan: ChatPlan, text: string | null): Promise<void> {
    const result = await this.#converse(plan, text).catch(async (error) => {
      this.#deps.log.error({ err: error, runId: this.#chat.run.id }, 'turn of a text chat failed');
      textChatTurns.inc({ result: 'failed' });
      await this.#settleFailure();
      throw this.#failureOf(error);
    });
    if (result.ended !== null) this.#noteEnd({ reason: result.ended, by: 'agent' });
    await this.#settleTurn(result);
    textChatTurns.inc({ result: 'answered' });
  }

  async end(plan: ChatPlan | undefined, how: ChatEnding): Promise<void> {
    const { signal, chat } = this.#held;
    if (plan !== undefined) {
      const ending: DialogueInput = { type: 'ending', reason: how.reason };
      const turn = runTurn(this.#turnDeps(plan), stateOf(chat), [ending], signal);
      await turn.catch((error: unknown) => {
        const { log } = this.#deps;
        log.error({ err: error, runId: chat.run.id }, 'text chat ended without its last values');
      });
    }
    this.#noteEnd(how);
    await this.#settle({ status: 'completed' });
  }

  async rewind(to: { turnId: string; toSeq: number } | null): Promise<void> {
    if (to !== null) this.#forget(to.toSeq);
    const status = to === null ? 'idle' : 'rewound';
    await this.#settle({ status, rewindTo: to?.turnId ?? null });
  }

  async #converse(plan: ChatPlan, text: string | null): Promise<TurnResult> {
    const { chat, signal } = this.#held;
    const { run } = chat;
    const { initialContext } = withRunIds(run);
    const events: DialogueInput[] = [];
    // True also after an interrupted opening.
    if (chat.state === null)
      events.push({ type: 'started', direction: run.callType, initialContext });
    if (text !== null) events.push({ type: 'caller-turn', text, confidence: null, source: 'chat' });
    const deadline = deadlineSignal(this.#deps.clock, TURN_MS_MAX, 'text chat turn', signal);
    try {
      return await runTurn(this.#turnDeps(plan), stateOf(chat), events, deadline.signal);
    } finally {
      deadline.done();
    }
  }

  #turnDeps({ engine, models }: ChatPlan): TurnDeps {
    const { run } = this.#chat;
    const { clock, http } = this.#deps;
    const mediaMs = (): number => sinceStart(clock, run);
    const note = (body: CallEventBody): void => {
      if (clock.now() >= this.#held.until) throw this.#lost();
      this.#runLog.append(body, mediaMs());
    };
    const log = this.#deps.log.child({ runId: run.id });
    const noted = () => effectiveEvents(this.#runLog.events);
    const runLog = { note, noted, mediaMs };
    return { models, run, engine, clock, log, toolRequests: http, runLog };
  }

  #failureOf(error: unknown): GatewayError {
    if (this.#held.signal.aborted) return new GatewayError('GATEWAY_DRAINING');
    if (codeOf(error) === 'TEXT_CHAT_TURN_FAILED') return error as GatewayError; // By its code.
    const reason = error instanceof GatewayError ? error.message : 'unexpected error';
    return new GatewayError('TEXT_CHAT_TURN_FAILED', { reason }, error);
  }

  async #settleFailure(): Promise<void> {
    if (this.#deps.clock.now() >= this.#held.until) throw this.#lost();
    const { eventSeq } = this.#chat;
    if (lastSeq(this.#runLog) > eventSeq) this.#forget(eventSeq);
    const turn = { status: 'failed' as const, assistantText: null, events: [], usage: {} };
    await this.#settle({ status: 'error', turn });
  }

  #settleTurn({ state, said, ended }: TurnResult): Promise<void> {
    const events = this.#runLog.events.filter(({ seq }) => seq > this.#chat.eventSeq);
    const { initialContext: _, ...kept } = state;
    return this.#settle({
      status: ended === null ? 'idle' : 'completed',
      turn: {
        status: 'completed',
        assistantText: said.length === 0 ? null : said.join('\n'),
        events: itemsOf(events),
        usage: usageOf(events),
        state: kept,
      },
    });
  }

  /** Throws TEXT_CHAT_CONFLICT if the work was abandoned meanwhile. */
  async #settle(settled: Pick<Settled, 'status' | 'turn' | 'rewindTo'>): Promise<void> {
    const { revision, idleMs } = this.#held;
    const { events, store } = this.#deps;
    await events.flush();
    const isSettled = await store.textChats.settle(this.#chat.run.id, revision, {
      ...settled,
      eventSeq: lastSeq(this.#runLog),
      dueMs: settled.status === 'completed' ? FINISH_AGAIN_MS : idleMs,
    });
    if (!isSettled) throw this.#lost();
  }

  #noteEnd({ reason, by }: ChatEnding): void {
    const { run, updatedAt } = this.#chat;
    // The silence before the check is not part of the conversation.
    const ms =
      by === 'gateway'
        ? updatedAt.getTime() - run.createdAt.getTime()
        : sinceStart(this.#deps.clock, run);
    this.#runLog.append({ type: 'call.ended', reason, by, durationS: ms / 1_000 }, ms);
  }

  #forget(toSeq: number): void {
    forget(this.#runLog, toSeq, sinceStart(this.#deps.clock, this.#chat.run));
  }

  #lost(): GatewayError {
    const { revision } = this.#held;
    return new GatewayError('TEXT_CHAT_CONFLICT', { expected: revision, actual: revision + 1 });
  }
}

function sinceStart(clock: Clock, run: Run): number {
  return Math.max(0, clock.now() - run.createdAt.getTime());
}

function forget(runLog: RunLog, toSeq: number, ms: number): void {
  runLog.append({ type: 'chat.rewound', toSeq }, ms);
}

function lastSeq({ events }: RunLog): number {
  return events.at(-1)?.seq ?? 0;
}

/** The stored dialogue state. Only `settleTurn` writes it; fields that it lacks (of a later version) get their
 *  initial values. */
function stateOf({ run, state }: TextChat): DialogueState {
  if (state === null) return INITIAL_STATE;
  return { ...INITIAL_STATE, ...state, initialContext: withRunIds(run).initialContext };
}

function itemsOf(events: readonly CallEvent[]): Record<string, unknown>[] {
  return feedbackItems(events).map((item) => ({ ...item }));
}

/** Usage of a turn, in the form of a run's usage. */
function usageOf(events: readonly CallEvent[]): Record<string, unknown> {
  const { llm } = runOutcomeOf(events, 'unknown').usageInfo;
  return { llm };
}
