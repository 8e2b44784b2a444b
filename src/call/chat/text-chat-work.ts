// One piece of work on a text chat under its lease, until it is settled: a turn, an end, a rewind. Its events are
// stored before it counts; after a kill at any line the next reader abandons the work. Source: contract §11.1.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { textChatTurns } from '../../metrics/metrics.ts';
import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import type { WorkflowConfigurations, WorkflowVersion } from '../../model/workflow.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Random } from '../../std/random.ts';
import type { TextChat } from '../../store/runs/text-chat.ts';
import type { Store } from '../../store/store.ts';
import { clipRefsOf } from '../../workflow/engine/clip-refs.ts';
import { linesFor } from '../../workflow/engine/language-lines.ts';
import { INITIAL_STATE } from '../../workflow/engine/state.ts';
import { createEngine, type DialogueEngine, type DialogueState } from '../../workflow/engine.ts';
import { parseGraph } from '../../workflow/graph/graph.ts';
import { toolClipRefs } from '../../workflow/llm/tool-announcement.ts';
import { NO_TOOLS } from '../../workflow/tools/offered-functions.ts';
import type { EndedBy, RunClosing } from '../closing/run-closing.ts';
import type { DialogueInput } from '../dialogue/dialogue-runner.ts';
import type { OrganizationHttp } from '../http/tool-request.ts';
import type { EventLog, RunLog } from '../log/event-log.ts';
import { feedbackItems } from '../log/realtime-feedback.ts';
import { runOutcomeOf } from '../log/run-outcome.ts';
import { withRunIds } from '../setup/call-context.ts';
import { policyOf, turnSettingsOf } from '../setup/call-plan.ts';
import type { LanguageModelSource } from '../setup/call-services.ts';
import { planTools } from '../setup/plan-tools.ts';
import { runTurn, type TurnResult } from './text-chat-turn.ts';

/** Longest wait for a written answer. */
export const TURN_MS_MAX = 60_000;
/** Time after which a failed end is repeated. */
const FINISH_AGAIN_MS = 60_000;

export interface TextChatDeps {
  store: Store;
  events: EventLog;
  closing: RunClosing;
  clock: Clock;
  random: Random;
  log: Log;
  models: LanguageModelSource;
  http: OrganizationHttp;
}

export interface ChatPlan {
  engine: DialogueEngine;
  settings: WorkflowConfigurations;
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
}

/** Throws WORKFLOW_INVALID. */
export async function planChat(
  deps: TextChatDeps,
  of: Pick<Run, 'organizationId' | 'initialContext'> & { id?: string },
  version: WorkflowVersion,
): Promise<ChatPlan> {
  const settings = turnSettingsOf(version.configurations);
  const graph = parseGraph(version.definition);
  // Clips are replaced by their texts.
  const { configurations } = version;
  const { organizationId } = of;
  const llm = await deps.models.languageModelOf({ organizationId, configurations });
  const policy = policyOf({ llm });
  const tools = policy === 'model' ? await planTools(deps, of, version.definition) : NO_TOOLS;
  const refs = [...clipRefsOf(version.definition, of.initialContext), ...toolClipRefs(tools)];
  const rows = refs.length === 0 ? [] : await deps.store.clips.find(of.organizationId, refs);
  const engine = createEngine({
    graph,
    policy,
    tools,
    settings,
    lines: linesFor(settings.agent_language),
    clips: ({ by, value }) => rows.find((clip) => clip[by] === value),
  });
  return { engine, settings, llm };
}

/** Work under a lease: settling it needs the revision that the claim returned. */
export interface LeasedChat {
  chat: TextChat;
  revision: number;
  idleMs: number;
  /** From then on another process may have abandoned it: nothing is written any more. */
  until: number;
  signal: AbortSignal;
}

/** A turn: the caller's message, and everything that follows until the agent waits. A turn that fails does not
 *  count, and the chat continues from the state before it. Throws TEXT_CHAT_TURN_FAILED, GATEWAY_DRAINING,
 *  STORE_UNAVAILABLE. */
export function answerChat(
  deps: TextChatDeps,
  held: LeasedChat,
  plan: ChatPlan,
  text: string | null,
): Promise<void> {
  return logged(deps, held.chat, async (runLog) => {
    const result = await converse(deps, held, { plan, text, runLog }).catch(async (error) => {
      deps.log.error({ err: error, runId: held.chat.run.id }, 'turn of a text chat failed');
      textChatTurns.inc({ result: 'failed' });
      await settleFailure(deps, held, runLog);
      throw failureOf(held, error);
    });
    if (result.ended !== null) {
      noteEnd(deps, held.chat, runLog, { reason: result.ended, by: 'agent' });
    }
    await settleTurn(deps, held, runLog, result);
    textChatTurns.inc({ result: 'answered' });
  });
}

async function converse(
  deps: TextChatDeps,
  held: LeasedChat,
  { plan, text, runLog }: { plan: ChatPlan; text: string | null; runLog: RunLog },
): Promise<TurnResult> {
  const { chat, signal } = held;
  const { run } = chat;
  const { initialContext } = withRunIds(run);
  const events: DialogueInput[] = [];
  // Also if the opening was interrupted.
  if (chat.state === null)
    events.push({ type: 'started', direction: run.callType, initialContext });
  if (text !== null) events.push({ type: 'caller-turn', text, confidence: null, source: 'chat' });
  const deadline = deadlineSignal(deps.clock, TURN_MS_MAX, 'text chat turn', signal);
  try {
    const turn = turnDeps(deps, held, plan, runLog);
    return await runTurn(turn, stateOf(chat), events, deadline.signal);
  } finally {
    deadline.done();
  }
}

function failureOf({ signal }: LeasedChat, error: unknown): GatewayError {
  if (signal.aborted) return new GatewayError('GATEWAY_DRAINING');
  if (codeOf(error) === 'TEXT_CHAT_TURN_FAILED') return error as GatewayError; // By its code.
  const reason = error instanceof GatewayError ? error.message : 'unexpected error';
  return new GatewayError('TEXT_CHAT_TURN_FAILED', { reason }, error);
}

/** An end from outside: values are extracted, then the chat is completed. `plan` is undefined for a definition
 *  that cannot run any more. Throws STORE_UNAVAILABLE. */
export function endChat(
  deps: TextChatDeps,
  held: LeasedChat,
  plan: ChatPlan | undefined,
  how: { reason: EndReason; by: EndedBy },
): Promise<void> {
  const { chat, signal } = held;
  return logged(deps, chat, async (runLog) => {
    if (plan !== undefined) {
      const turn = turnDeps(deps, held, plan, runLog);
      const ending: DialogueInput = { type: 'ending', reason: how.reason };
      await runTurn(turn, stateOf(chat), [ending], signal).catch((error: unknown) => {
        deps.log.error(
          { err: error, runId: chat.run.id },
          'text chat ended without its last values',
        );
      });
    }
    noteEnd(deps, chat, runLog, how);
    await settle(deps, held, runLog, { status: 'completed' });
  });
}

/** The events after `toSeq` no longer count, nor do the turns after `turnId`; null discards nothing. */
export function rewindChat(
  deps: TextChatDeps,
  held: LeasedChat,
  to: { turnId: string; toSeq: number } | null,
): Promise<void> {
  return logged(deps, held.chat, async (runLog) => {
    if (to !== null) forget(deps, held.chat, runLog, to.toSeq);
    const status = to === null ? 'idle' : 'rewound';
    await settle(deps, held, runLog, { status, rewindTo: to?.turnId ?? null });
  });
}

/** Abandons work that another process has left unfinished. False if another process was first. */
export async function abandonChat(deps: TextChatDeps, chat: TextChat): Promise<boolean> {
  return logged(deps, chat, async (runLog) => {
    if (lastSeq(runLog) > chat.eventSeq) forget(deps, chat, runLog, chat.eventSeq);
    await deps.events.flush();
    const isOurs = await deps.store.textChats.release(chat.run.id, chat.revision, lastSeq(runLog));
    if (isOurs) deps.log.warn({ runId: chat.run.id }, 'text chat was left in the middle of a turn');
    return isOurs;
  });
}

/** Stores outcome, transcript and state of a chat that has ended. May be repeated. */
export async function finishChat(deps: TextChatDeps, { run }: TextChat): Promise<void> {
  await deps.closing.finish(run, { reason: 'user_hangup' });
  await deps.store.textChats.close(run.id);
}

async function logged<T>(
  deps: TextChatDeps,
  chat: TextChat,
  work: (runLog: RunLog) => Promise<T>,
): Promise<T> {
  const runLog = await deps.events.open(chat.run.id);
  try {
    return await work(runLog);
  } finally {
    // Another process may take the next turn.
    deps.events.release(chat.run.id);
  }
}

async function settleFailure(deps: TextChatDeps, held: LeasedChat, runLog: RunLog): Promise<void> {
  if (deps.clock.now() >= held.until) throw lostTo(held);
  if (lastSeq(runLog) > held.chat.eventSeq) forget(deps, held.chat, runLog, held.chat.eventSeq);
  const turn = { status: 'failed' as const, assistantText: null, events: [], usage: {} };
  await settle(deps, held, runLog, { status: 'error', turn });
}

function settleTurn(
  deps: TextChatDeps,
  held: LeasedChat,
  runLog: RunLog,
  { state, said, ended }: TurnResult,
): Promise<void> {
  const events = runLog.events.filter(({ seq }) => seq > held.chat.eventSeq);
  const { initialContext: _, ...kept } = state;
  return settle(deps, held, runLog, {
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
async function settle(
  deps: TextChatDeps,
  held: LeasedChat,
  runLog: RunLog,
  settled: Pick<
    Parameters<TextChatDeps['store']['textChats']['settle']>[2],
    'status' | 'turn' | 'rewindTo'
  >,
): Promise<void> {
  const { chat, revision, idleMs } = held;
  await deps.events.flush();
  const isSettled = await deps.store.textChats.settle(chat.run.id, revision, {
    ...settled,
    eventSeq: lastSeq(runLog),
    dueMs: settled.status === 'completed' ? FINISH_AGAIN_MS : idleMs,
  });
  if (isSettled) return;
  throw lostTo(held);
}

function lostTo({ revision }: LeasedChat): GatewayError {
  return new GatewayError('TEXT_CHAT_CONFLICT', { expected: revision, actual: revision + 1 });
}

function turnDeps(deps: TextChatDeps, held: LeasedChat, plan: ChatPlan, runLog: RunLog) {
  const { run } = held.chat;
  const { engine, llm } = plan;
  const { clock, http } = deps;
  const mediaMs = (): number => sinceStart(deps, run);
  const note = (body: CallEventBody): void => {
    if (clock.now() >= held.until) throw lostTo(held);
    runLog.append(body, mediaMs());
  };
  const log = deps.log.child({ runId: run.id });
  return { run, engine, llm, clock, log, toolRequests: http, note, mediaMs };
}

function sinceStart({ clock }: Pick<TextChatDeps, 'clock'>, run: Run): number {
  return Math.max(0, clock.now() - run.createdAt.getTime());
}

function noteEnd(
  deps: TextChatDeps,
  { run, updatedAt }: TextChat,
  runLog: RunLog,
  { reason, by }: { reason: EndReason; by: EndedBy },
): void {
  // The silence before the check is not part of the conversation.
  const ms =
    by === 'gateway' ? updatedAt.getTime() - run.createdAt.getTime() : sinceStart(deps, run);
  runLog.append({ type: 'call.ended', reason, by, durationS: ms / 1_000 }, ms);
}

function forget(deps: TextChatDeps, { run }: TextChat, runLog: RunLog, toSeq: number): void {
  runLog.append({ type: 'chat.rewound', toSeq }, sinceStart(deps, run));
}

function lastSeq({ events }: RunLog): number {
  return events.at(-1)?.seq ?? 0;
}

/** Only `settleTurn` writes the stored state; fields of a later version have their initial values. */
function stateOf({ run, state }: TextChat): DialogueState {
  if (state === null) return INITIAL_STATE;
  return { ...INITIAL_STATE, ...state, initialContext: withRunIds(run).initialContext };
}

function itemsOf(events: readonly CallEvent[]): Record<string, unknown>[] {
  return feedbackItems(events).map((item) => ({ ...item }));
}

/** In the form of a run's usage. */
function usageOf(events: readonly CallEvent[]): Record<string, unknown> {
  const { llm } = runOutcomeOf(events, 'unknown').usageInfo;
  return { llm };
}
