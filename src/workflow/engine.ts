// The dialogue engine: a pure state machine that takes events and returns actions, node by node. The same for phone
// calls, text chat, tests and replays. Source: contract §8.

import type { AnswerHandling } from '../model/answer-handling.ts';
import { isGoodbye, isGreeting } from '../model/control-phrases.ts';
import type { EndReason } from '../model/end-reason.ts';
import { trustIn } from '../model/word-trust.ts';
import { type AgentOptions, agentParts } from './engine/agent-parts.ts';
import {
  answered,
  answeringWaited,
  isAnsweredByMachine,
  isGreetedAlready,
  resumeAnswering,
} from './engine/answering.ts';
import { greetingOf } from './engine/clip-lines.ts';
import { type FindClip, NO_CLIPS } from './engine/clip-refs.ts';
import type { DialogueAction, DialogueEvent } from './engine/dialogue-events.ts';
import {
  abandonRequest,
  closingWaited,
  endDialogue,
  endFromOutside,
  endIfExtracted,
  endIfHeard,
  lastWordsComplete,
  settleLastWords,
  startClosing,
  startFarewell,
  withdrawGoodbye,
} from './engine/ending.ts';
import { dropExtraction, takeExtracted } from './engine/extraction.ts';
import { handOver } from './engine/hand-over.ts';
import { collectionIn, noteLostDigits } from './engine/hidden-digits.ts';
import { addCallerText, lastSpoken, setHeard } from './engine/history.ts';
import { languageOf } from './engine/language.ts';
import { enterNode } from './engine/node-transition.ts';
import type { CallerTurnEvent, DialoguePolicyHandler } from './engine/policy.ts';
import { resumeDialogue } from './engine/resuming.ts';
import { type DialogueState, INITIAL_STATE, type ValueDetail } from './engine/state.ts';
import { type AgentParts, currentNode, rendered, type Step, say, wait } from './engine/step.ts';
import { isUnsaid, replaceUnsaid } from './engine/unsaid.ts';
import {
  explainOutage,
  explainWait,
  type PreparableLines,
  waitLines,
  waitOn,
} from './engine/waiting.ts';
import type { Graph } from './graph/graph.ts';
import { delayOver, restartDelays } from './llm/delayed-messages.ts';
import { awaitDigitsIfHeard } from './llm/digit-collection.ts';
import { handleLlmFailure, handleLlmResponse, replaceWordless } from './llm/llm-answer.ts';
import { llmPolicy } from './llm/llm-policy.ts';
import {
  digitsEntered,
  digitsOverdue,
  interruptTools,
  toolResponded,
  transferFailed,
} from './llm/tool-calls.ts';
import { transferIfHeard, transferred } from './llm/tool-transfer.ts';
import { scriptedPolicy } from './scripted/scripted-policy.ts';

export type { AgentOptions } from './engine/agent-parts.ts';
export type { DialogueState } from './engine/state.ts';

const UNINTELLIGIBLE = '(The caller said something that could not be understood.)';

/** The year 9999: later times have no four-digit year. */
const MOMENT_MAX = 253_370_764_800_000;

export interface DialogueEngineOptions extends AgentOptions {
  /** Agents to which the conversation may be transferred, by uuid; `null` is the one with which it begins. Default: none. */
  agents?: ReadonlyMap<string, AgentOptions | null>;
  /** What to do when no person answers. Default: the agent talks to whatever has answered. */
  answerHandling?: AnswerHandling | undefined;
  /** Finds clips. Default: there are none, and texts are spoken in their place. */
  clips?: FindClip;
  /** Whether the conversation is in writing. Default: it is spoken. */
  isWritten?: boolean;
}

export interface DialogueSummary {
  /** Values by name, `extracted_variables` and `nodes_visited`. */
  gatheredContext: Record<string, unknown>;
  extractedVariables: Record<string, unknown>;
  /** Source of each value in scripted mode, or why there is none. */
  details: Record<string, ValueDetail>;
  /** Names without repetition, in the order of their first entry. */
  nodesVisited: string[];
  /** The value of a variable named `call_disposition`, else the model's reason when it ended the call. */
  disposition: string | null;
  lastNode: { id: string; name: string } | null;
  userSpoke: boolean;
  endReason: EndReason | null;
}

export interface DialogueEngine {
  readonly initial: DialogueState;
  /** Handles an event in any state; an event that comes too late changes nothing. `state` is not changed. */
  step(
    state: DialogueState,
    event: DialogueEvent,
  ): { state: DialogueState; actions: DialogueAction[] };
  summarize(state: DialogueState): DialogueSummary;
  /** The lines for waits and faults, so that they can be rendered ahead. */
  waitLines(state: DialogueState): PreparableLines;
}

export function createEngine(options: DialogueEngineOptions): DialogueEngine {
  const { answerHandling, clips = NO_CLIPS, isWritten = false } = options;
  const first = agentParts(options, null);
  const agents = new Map(
    [...(options.agents ?? [])].map(([uuid, other]) => [
      uuid,
      other === null ? first : agentParts(other, uuid),
    ]),
  );
  const agentOf = (id: string | null): AgentParts | undefined =>
    id === null ? first : agents.get(id);
  const partsOf = ({ agent }: DialogueState): AgentParts => agentOf(agent?.id ?? null) ?? first;
  const graphOf = (id: string | null): Graph | undefined => agentOf(id)?.graph;
  const fixed = { agents, graphOf, arrive, answerHandling, clips, isWritten };
  const stepOf = (state: DialogueState, { at, isCallerSpeaking = false }: StepTimes): Step => {
    const parts = partsOf(state);
    const wording = parts.wordingOf(currentNode({ graph: parts.graph, state }), state.language);
    return { ...fixed, ...parts, ...wording, at, isCallerSpeaking, state, actions: [] };
  };
  return {
    initial: INITIAL_STATE,
    step(state, event) {
      if (state.phase === 'ended') return { state, actions: [] };
      const { isCallerSpeaking } = event;
      const step = stepOf(structuredClone(state), {
        at: moment(event.at),
        ...(isCallerSpeaking !== undefined && { isCallerSpeaking }),
      });
      take(step, event);
      return { state: step.state, actions: step.actions };
    },
    summarize: (state) => summaryOf(partsOf(state).graph, state),
    waitLines: (state) => waitLines(stepOf(state, { at: 0 })),
  };
}

type StepTimes = Pick<Step, 'at'> & Partial<Pick<Step, 'isCallerSpeaking'>>;

/** The policy of the current agent. */
function policyOf({ policy }: Step): DialoguePolicyHandler {
  return policy === 'model' ? llmPolicy : scriptedPolicy;
}

/** Has the agent to which the caller was transferred speak. */
function arrive(step: Step, greets: boolean): void {
  if (greets) policyOf(step).start(step, greetingOf(step, { isOverridable: false }));
  else policyOf(step).takeOver(step);
}

/** A valid time for any event. */
function moment(at: number): number {
  return Number.isFinite(at) ? Math.min(Math.max(at, 0), MOMENT_MAX) : 0;
}

function take(step: Step, event: DialogueEvent): void {
  switch (event.type) {
    case 'started':
      begin(step, event.initialContext);
      break;
    case 'waited':
      waited(step, event.waitId);
      break;
    case 'answered':
      answered(step, policyOf(step), event);
      break;
    case 'caller-turn':
      callerTurn(step, event);
      break;
    case 'utterance-finished':
      utteranceFinished(step, event);
      break;
    case 'model-answered':
    case 'model-failed':
      modelReplied(step, event);
      break;
    case 'extracted':
      if (takeExtracted(step, event.extractionId, event.values)) endIfExtracted(step);
      break;
    case 'extraction-failed':
      if (dropExtraction(step, event.extractionId)) endIfExtracted(step);
      break;
    case 'called-out':
    case 'call-out-failed':
      toolResponded(step, event);
      break;
    case 'transferred':
      handedOver(step, event.toolRunId);
      break;
    case 'transfer-failed':
      transferFailed(step, event);
      break;
    case 'waiting':
      explainWait(step);
      break;
    case 'line-restored':
      explainOutage(step);
      break;
    case 'keys-only':
      offerKeys(step);
      break;
    case 'recognition-restored':
      delete step.state.keysOnly;
      break;
    case 'resumed':
      resume(step);
      break;
    case 'idle':
      idle(step);
      break;
    case 'ending-soon':
      announceEnd(step, event.text);
      break;
    case 'ending':
      endFromOutside(step, event.reason, event.lastWordsFollow === true);
      break;
    case 'last-words-complete':
      lastWordsComplete(step);
  }
}

function modelReplied(
  step: Step,
  event: Extract<DialogueEvent, { type: 'model-answered' | 'model-failed' }>,
): void {
  if (step.state.request?.requestId !== event.requestId) return;
  if (event.type === 'model-answered') handleLlmResponse(step, event);
  else handleLlmFailure(step, event);
  endIfHeard(step);
}

function begin(step: Step, initialContext: Record<string, unknown>): void {
  const { state, graph } = step;
  if (state.phase !== 'before') return;
  state.initialContext = structuredClone(initialContext);
  if (graph.opening.delayMs > 0) {
    state.phase = 'delayed';
    state.waits.opening = wait(step, graph.opening.delayMs);
  } else {
    open(step);
  }
}

function open(step: Step): void {
  step.state.phase = 'talking';
  enterNode(step, step.graph.start);
  policyOf(step).start(step, greetingOf(step));
  if (step.state.keysOnly === true) policyOf(step).offerKeys(step);
}

function waited(step: Step, waitId: number): void {
  const { phase, waits } = step.state;
  if (phase === 'delayed' && waitId === waits.opening) open(step);
  else if (phase === 'closing' && waitId === waits.closing) closingWaited(step);
  else if (phase === 'ending' && waitId === waits.extraction) endDialogue(step);
  else if (waitId === waits.announcement) transferIfHeard(step, { isOverdue: true });
  else if (!answeringWaited(step, waitId)) {
    delayOver(step, waitId);
    digitsOverdue(step, waitId);
  }
}

function callerTurn(step: Step, turn: CallerTurnEvent): void {
  const { state } = step;
  if (state.phase === 'before') return;
  const text = turn.text.trim();
  if (state.phase === 'ending') {
    if (text === '' || !(state.awaitsLastWords || state.endReason === 'user_hangup')) return;
    // A caller who hangs up: recognisers return the last words after the values were requested.
    noteCallerTurn(step, turn, text);
    settleLastWords(step);
    return;
  }
  // A voice without words gets an answer, unless one is being spoken that the voice has not cut off.
  if (text === '' && state.speaking.length > 0) return;
  if (text !== '') noteCallerTurn(step, turn, text);
  withdrawGoodbye(step, turn);
  state.idles = 0;
  delete state.patience;
  state.waitLines = 0;
  state.scripted.moves = 0;
  if (isAnsweredByMachine(state) || isGreetedAlready(step, turn)) return;
  answerTurn(step, turn);
}

function answerTurn(step: Step, turn: CallerTurnEvent): void {
  const { phase, tools } = step.state;
  if (phase === 'delayed') open(step);
  else if (collectionIn(step.state) !== undefined) digitsEntered(step, turn);
  // While tools run, the caller gets no answer: the model sees the caller's words together with the results.
  else if (phase === 'talking' && tools === null) {
    if (hasCutGreeting(step, turn)) policyOf(step).start(step, greetingOf(step));
    else policyOf(step).callerTurn(step, turn);
  }
}

/** Whether the first turn is nothing but a greeting that has cut off the agent's, which is then said once more. */
function hasCutGreeting(step: Step, turn: CallerTurnEvent): boolean {
  const { state } = step;
  if (state.turns !== 1 || turn.source !== 'speech' || trustIn(turn.confidence) === 'reject') {
    return false;
  }
  const [opening, ...others] = state.history.filter(({ role }) => role === 'assistant');
  if (opening?.role !== 'assistant' || others.length > 0 || !opening.interrupted) return false;
  return isGreeting(turn.text, languageOf(step));
}

function noteCallerTurn({ state }: Step, turn: CallerTurnEvent, text: string): void {
  state.turns += 1;
  // Keys that a tool collects are its result.
  if (collectionIn(state) === undefined) addCallerText(state, notedText(turn, text));
}

/** Text for the history, which has no rejected words. */
function notedText({ source, confidence }: CallerTurnEvent, text: string): string {
  if (source === 'dtmf') return `(keys pressed: ${text})`;
  return source === 'speech' && trustIn(confidence) === 'reject' ? UNINTELLIGIBLE : text;
}

function offerKeys(step: Step): void {
  const { state } = step;
  if (state.keysOnly === true) return;
  state.keysOnly = true;
  if (state.phase !== 'talking') return;
  // A model needs words: keys alone do not suffice.
  if (step.policy === 'model' && handOver(step, 'recognition')) return;
  policyOf(step).offerKeys(step);
}

function utteranceFinished(
  step: Step,
  event: Extract<DialogueEvent, { type: 'utterance-finished' }>,
): void {
  const { state } = step;
  const { utteranceId, interrupted, heardText } = event;
  state.speaking = state.speaking.filter((id) => id !== utteranceId);
  const hasNoSound = isUnsaid(step, event);
  setHeard(state, event);
  if (hasNoSound) replaceUnsaid(step);
  else if (heardText !== '') state.unsaid = 0;
  replaceWordless(step, event);
  // An interrupted utterance belongs to a request whose rest will not be heard. An utterance without a word may
  // also be the end of a request that fails, which the next event reports.
  const cutOff = interrupted && heardText.trim() !== '';
  if (cutOff && state.request?.utteranceId === utteranceId) abandonRequest(step);
  const isTalking = state.phase === 'talking' && !isAnsweredByMachine(state);
  if (isTalking) policyOf(step).heard(step, utteranceId);
  restartDelays(step);
  awaitDigitsIfHeard(step);
  transferIfHeard(step);
  endIfHeard(step, { isInterrupted: interrupted });
}

function resume(step: Step): void {
  const { phase } = step.state;
  if (phase === 'before') return;
  if (phase === 'delayed') {
    open(step);
    return;
  }
  if (resumeAnswering(step)) return;
  const lost = resumeDialogue(step);
  noteLostDigits(step.state);
  if (lost !== undefined && !interruptTools(step)) policyOf(step).resume(step, lost);
}

function idle(step: Step): void {
  const { state } = step;
  if (state.phase === 'closing') startFarewell(step);
  if (state.phase !== 'talking' || state.request !== null || state.tools !== null) return;
  if (isAnsweredByMachine(state)) return;
  if (waitOn(step)) return;
  state.idles += 1;
  if (state.idles === 1 && !hasTakenLeave(step)) {
    policyOf(step).askIfPresent(step);
    return;
  }
  if (state.idles > 1) policyOf(step).sayGoodbye(step);
  startClosing(step, 'user_idle_max_duration_exceeded', { isWithdrawable: true });
}

/** Announces the end behind what is being said, and not while the caller speaks. */
function announceEnd(step: Step, text: string): void {
  if (step.state.phase !== 'talking' || isAnsweredByMachine(step.state)) return;
  const isAuthors = step.isAgentLanguage && text.trim() !== '';
  const words = isAuthors ? rendered(step, text) : step.lines.endingSoon;
  say(step, { kind: 'notice', text: words, interruptible: true });
}

function handedOver(step: Step, toolRunId: number): void {
  if (!transferred(step, toolRunId)) return;
  if (step.state.phase === 'ending') endIfExtracted(step);
  else startFarewell(step);
}

/** Whether the agent said goodbye without an end node: nothing more is said. */
function hasTakenLeave({ state }: Step): boolean {
  const last = lastSpoken(state);
  return isGoodbye(last) && !last.includes('?');
}

function summaryOf(graph: Graph, state: DialogueState): DialogueSummary {
  const node = state.nodeId === null ? undefined : graph.nodes.get(state.nodeId);
  const disposition = state.extracted['call_disposition'];
  return {
    gatheredContext: {
      ...state.extracted,
      extracted_variables: state.extracted,
      nodes_visited: state.visited,
    },
    extractedVariables: state.extracted,
    details: state.details,
    nodesVisited: state.visited,
    disposition:
      typeof disposition === 'string' && disposition !== '' ? disposition : state.disposition,
    lastNode: node === undefined ? null : { id: node.id, name: node.name },
    userSpoke: state.turns > 0,
    endReason: state.endReason,
  };
}
