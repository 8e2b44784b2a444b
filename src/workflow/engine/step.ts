// One step of the engine in progress: a copy of the state that may be changed, and the actions so far. Only the
// functions here create actions for speech and waiting.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { AnswerHandling } from '../../model/answer-handling.ts';
import type { CallEventBody, UtteranceKind } from '../../model/call-event.ts';
import type { DialogueLines } from '../../model/languages/languages.ts';
import type { DialoguePolicy } from '../../model/workflow.ts';
import { isSayable } from '../../std/text/sayable.ts';
import type { Graph, GraphNode } from '../graph/graph.ts';
import type { NodeTools } from '../tools/offered-functions.ts';
import type { ToolContext } from '../tools/parameters.ts';
import { pathsWithoutValue, render } from '../variables/template.ts';
import type { FindClip, SpokenLine } from './clip-refs.ts';
import type { DialogueAction } from './dialogue-events.ts';
import { addEntry } from './history.ts';
import type { DialogueState } from './state.ts';

/** Utterances in progress: a session that never reports one as finished must not make the state grow. */
const SPEAKING_MAX = 50;
/** Variables of one call that are noted as missing. */
const MISSING_MAX = 20;

/** The engine's own words in a node. */
export interface Wording {
  lines: DialogueLines;
  /** The author's lines for a wait; none in a node of another language. */
  waitPhrases: readonly string[];
  /** Whether the author's lines are in the language of the node. */
  isAgentLanguage: boolean;
}

/** One agent of a call. */
export interface AgentParts {
  /** `id`: null for the agent with which the call begins. */
  readonly agent: AgentIdentity;
  readonly graph: Graph;
  readonly policy: DialoguePolicy;
  /** The wording of a node. `language`: that to which a tool has switched. */
  readonly wordingOf: (node: GraphNode, language: string | undefined) => Wording;
  /** Words that a recogniser should prefer. */
  readonly boost: readonly string[];
  /** Transfer after repeated faults. The destination is a template; empty: that of a tool. */
  readonly faultTransfer: { isEnabled: boolean; destination: string };
  readonly tools: NodeTools;
  /** Language tag of the agent. Undefined: not known. */
  readonly agentLanguage: string | undefined;
  /** Languages that its services have. Undefined: all that its tools name. */
  readonly languages: readonly string[] | undefined;
}

export interface AgentIdentity {
  id: string | null;
  name: string;
  workflowId: string;
  definitionId: string;
}

export interface Step extends AgentParts {
  /** Agents to which the call may be transferred, by uuid. */
  readonly agents: ReadonlyMap<string, AgentParts>;
  /** The graph of an agent of the call; null: of that with which it began. */
  readonly graphOf: (agentId: string | null) => Graph | undefined;
  /** Has the current agent speak in its first node, for a caller who is on the line. */
  readonly arrive: (step: Step, greets: boolean) => void;
  /** The engine's own lines, in the language of the current node. */
  lines: DialogueLines;
  /** The author's lines for a wait, as templates; empty: the engine's own. */
  waitPhrases: readonly string[];
  isAgentLanguage: boolean;
  /** What to do when no person answers. Undefined: the agent talks to whatever has answered. */
  readonly answerHandling: AnswerHandling | undefined;
  readonly clips: FindClip;
  /** Whether the conversation is in writing. */
  readonly isWritten: boolean;
  /** Wall clock of the event, milliseconds since 1970. */
  readonly at: number;
  /** Whether the caller is in the middle of a turn. */
  readonly isCallerSpeaking: boolean;
  readonly state: DialogueState;
  readonly actions: DialogueAction[];
}

export function newId({ state }: Step): number {
  const id = state.nextId;
  state.nextId += 1;
  return id;
}

/** The current node; the start node before the start. */
export function currentNode({ graph, state }: Pick<Step, 'graph' | 'state'>): GraphNode {
  return (state.nodeId === null ? undefined : graph.nodes.get(state.nodeId)) ?? graph.start;
}

export function log({ actions }: Step, body: CallEventBody): void {
  actions.push({ type: 'log', body });
}

export function wait(step: Step, delayMs: number): number {
  const waitId = newId(step);
  step.actions.push({ type: 'wait', waitId, delayMs });
  return waitId;
}

/** Id of a new utterance, which counts as not played yet. */
export function newUtterance(step: Step): number {
  const utteranceId = newId(step);
  step.state.speaking.push(utteranceId);
  if (step.state.speaking.length > SPEAKING_MAX) step.state.speaking.shift();
  return utteranceId;
}

/** `text` is already rendered; with a clip, it is the clip's transcript. */
export interface SpokenPrompt extends SpokenLine {
  kind: UtteranceKind;
  interruptible: boolean;
  /** Whether it is in the model's history. Default: true. */
  remembered?: boolean;
  isInterjection?: true;
}

/** Speaks a fixed text or plays a clip; does nothing for a text without words. Returns the utterance's id, or null. */
export function say(
  step: Step,
  { kind, text, clipId, interruptible, remembered = true, isInterjection }: SpokenPrompt,
): number | null {
  const spoken = text.trim();
  if (!isSayable(spoken) && clipId === undefined) return null;
  const utteranceId = newUtterance(step);
  step.actions.push({
    type: 'say',
    utteranceId,
    kind,
    text: spoken,
    ...(clipId === undefined ? {} : { clipId }),
    interruptible,
    ...(isInterjection && { isInterjection }),
  });
  if (remembered) {
    addEntry(step.state, {
      role: 'assistant',
      utteranceId,
      text: spoken,
      heard: false,
      interrupted: false,
      toolCalls: [],
    });
  }
  return utteranceId;
}

/** Variables for templates: the initial context, and the values gathered so far. */
export function templateContext({
  initialContext,
  extracted,
}: DialogueState): Record<string, unknown> {
  return {
    ...initialContext,
    initial_context: initialContext,
    gathered_context: { ...extracted, extracted_variables: extracted },
  };
}

/** Variables for templates of tools: those of all templates, and the digits that only tools get. */
export function toolContext({ state, at }: Step): ToolContext {
  const { hiddenDigits = {} } = state;
  return { values: { ...templateContext(state), hidden_digits: hiddenDigits }, now: at };
}

/** Renders a text of the author. A variable without a value and without a default is noted in the run's log, once. */
export function rendered(step: Step, template: string): string {
  const context = templateContext(step.state);
  for (const path of pathsWithoutValue(template, context)) noteMissing(step, path);
  return render(template, context, { now: step.at });
}

/** Values that the call has yet to gather are not missing. */
const GATHERED = /^(gathered_context|extracted_variables)\b/;

function noteMissing(step: Step, path: string): void {
  const { state } = step;
  const known = state.missing ?? [];
  if (GATHERED.test(path) || known.includes(path) || known.length >= MISSING_MAX) return;
  state.missing = [...known, path];
  const { code, message } = new GatewayError('VARIABLE_MISSING', { name: path.slice(0, 100) });
  log(step, { type: 'fault', code, message, fatal: false });
}
