// The policy with a language model: in every node it sends the node's prompt, with its tools and one function per edge.
// llm-answer.ts handles the answers. Source: contract §5.4, §8.1-§8.6.

import type { UtteranceKind } from '../../model/call-event.ts';
import { type ExpectedInput, OPEN_SPEECH, type SlotType } from '../../model/expected-input.ts';
import type { LlmMessage, LlmTool } from '../../model/llm-message.ts';
import { hasTransitionLine } from '../engine/clip-lines.ts';
import { abandonRequest } from '../engine/ending.ts';
import { addEntry, messagesOf } from '../engine/history.ts';
import { languagePrompt } from '../engine/language.ts';
import type { DialoguePolicyHandler } from '../engine/policy.ts';
import { lastWords, sayAgainTo } from '../engine/resuming.ts';
import type { GeneratePurpose } from '../engine/state.ts';
import { currentNode, newId, newUtterance, rendered, type Step, say } from '../engine/step.ts';
import { asksToWait, bePatient, promiseToWait } from '../engine/waiting.ts';
import { edgeFunction } from '../graph/edge-function.ts';
import type { GraphEdge, GraphNode } from '../graph/graph.ts';
import { nodeExpectation } from '../scripted/node-grammar.ts';
import { believes } from './doubt.ts';

/** Requests without words of the caller in between, which stops a model that runs in a cycle. */
const GENERATIONS_MAX = 6;

/** Characters of the next node's prompt, enough to begin its step; the step itself has all of it. */
const NEXT_PROMPT_CHARACTERS_MAX = 1_000;

const SPEAK_FIRST = '(Nobody has spoken yet. Open the conversation.)';
const ASK_PRESENCE = '(The caller has been silent. Ask briefly whether they are still there.)';
const SAY_GOODBYE = '(The caller is still silent. Say goodbye; the call ends after that.)';

export const llmPolicy: DialoguePolicyHandler = {
  start(step, greeting) {
    waitForCaller(step);
    const { interruptible } = currentNode(step);
    if (greeting !== undefined) {
      say(step, { kind: 'greeting', ...greeting, interruptible });
    } else {
      const instruction = step.state.turns === 0 ? SPEAK_FIRST : undefined;
      generate(step, { purpose: 'opening', kind: 'greeting', instruction });
    }
  },

  takeOver(step) {
    waitForCaller(step);
    generate(step, { purpose: 'reply', kind: 'reply' });
  },

  callerTurn(step, turn) {
    abandonRequest(step);
    step.state.generations = 0;
    if (!believes(step, turn)) return;
    if (asksToWait(step, turn)) bePatient(step);
    generate(step, { purpose: 'reply', kind: 'reply' });
  },

  offerKeys(step) {
    const { interruptible } = currentNode(step);
    say(step, { kind: 'notice', text: step.lines.keysOnly, interruptible });
  },

  heard() {
    // The caller speaks next.
  },

  resume(step, lost) {
    waitForCaller(step);
    const { turns } = step.state;
    const purpose = lost.request?.purpose;
    if (purpose === 'opening') {
      const instruction = turns === 0 ? SPEAK_FIRST : undefined;
      generate(step, { purpose, kind: 'greeting', instruction });
    } else if (purpose === 'reply' || sayAgainTo(step, lost, lastWords(step.state)) === null) {
      generate(step, { purpose: 'reply', kind: 'reply' });
    }
  },

  askIfPresent(step) {
    step.state.generations = 0;
    generate(step, { purpose: 'nudge', kind: 'idle', instruction: ASK_PRESENCE });
  },

  sayGoodbye(step) {
    step.state.generations = 0;
    generate(step, {
      purpose: 'closing',
      kind: 'goodbye',
      instruction: SAY_GOODBYE,
      interruptible: true,
    });
  },
};

/** Expects open speech in the current node. The author's hints are passed too: a recogniser with closed grammars
 *  recognises at least those. */
export function waitForCaller(step: Step): void {
  expectCaller(step);
}

/** The same with further input: digits that are entered by keys, and spoken values. */
export function expectCaller(
  step: Step,
  more: { digits?: NonNullable<ExpectedInput['digits']>; slots?: readonly SlotType[] } = {},
): void {
  const node = currentNode(step);
  const { phrases, slots, elsewhere, digits } = nodeExpectation(step, node, node.slots);
  const expectation: ExpectedInput = {
    ...OPEN_SPEECH,
    boost: step.boost,
    phrases,
    slots: [...new Set<SlotType>([...slots, 'yes_no', ...(more.slots ?? [])])],
    ...(elsewhere && { elsewhere }),
    ...(node.slots.length === 0 || digits === undefined ? {} : { digits }),
    ...(more.digits && { digits: more.digits }),
  };
  step.actions.push({ type: 'expect', expectation });
}

interface GenerateWish {
  purpose: GeneratePurpose;
  kind: UtteranceKind;
  instruction?: string | undefined;
  /** Default: as the node; closing words cannot be interrupted. */
  interruptible?: boolean;
}

/** Sends a request to the model for the current node. After too many requests in a row, a fixed line is said. */
export function generate(step: Step, wish: GenerateWish): void {
  const { state } = step;
  state.generations += 1;
  if (state.generations > GENERATIONS_MAX) {
    sayFallbackLine(step, wish.purpose, 'empty');
    return;
  }
  const node = currentNode(step);
  const messages = promptMessages(step, node, wish.instruction);
  const requestId = newId(step);
  const utteranceId = newUtterance(step);
  state.request = { requestId, utteranceId, purpose: wish.purpose };
  addEntry(state, {
    role: 'assistant',
    utteranceId,
    text: null,
    heard: false,
    interrupted: false,
    toolCalls: [],
  });
  step.actions.push({
    type: 'generate',
    requestId,
    utteranceId,
    kind: wish.kind,
    interruptible: wish.interruptible ?? (wish.purpose !== 'closing' && node.interruptible),
    messages,
    tools: speaksOnly(wish.purpose) ? [] : nodeTools(step, node),
  });
}

/** Says a fixed line in place of the model's answer. */
export function sayFallbackLine(
  step: Step,
  purpose: GeneratePurpose,
  why: 'empty' | 'done' | 'refused' | 'failed',
): void {
  const { lines } = step;
  if (purpose === 'closing') {
    const interruptible = step.state.isWithdrawable === true;
    say(step, { kind: 'goodbye', text: lines.goodbye, interruptible });
  } else if (purpose === 'nudge') {
    say(step, { kind: 'idle', text: lines.areYouThere, interruptible: true });
  } else if (why === 'empty') {
    // A model that was asked to wait may answer without words.
    if ((step.state.patience ?? 0) > 0) promiseToWait(step);
    else sayAgain(step);
  } else {
    const { interruptible } = currentNode(step);
    const texts = { done: lines.anythingElse, refused: lines.cannotDiscuss, failed: lines.trouble };
    say(step, { kind: 'fallback', text: texts[why], interruptible });
  }
}

/** Whether the model may only speak, without function calls. */
export function speaksOnly(purpose: GeneratePurpose): boolean {
  return purpose === 'closing' || purpose === 'nudge';
}

/** Says a fixed line that continues the conversation when nothing else was said. */
function sayAgain(step: Step): void {
  const { interruptible } = currentNode(step);
  say(step, { kind: 'fallback', text: step.lines.sayAgain, interruptible });
}

/** The global prompt if the node includes it, a blank line, the node's prompt; both rendered. Then what holds after a
 *  transfer between agents, and after a switch of the language. */
function systemPrompt(step: Step, node: GraphNode): string {
  const { globalPrompt } = step.graph;
  const isGlobal = globalPrompt !== undefined && node.addGlobalPrompt;
  return [
    ...(isGlobal ? [rendered(step, globalPrompt)] : []),
    rendered(step, node.prompt),
    ...[step.state.agent?.brief ?? '', languagePrompt(step)].filter((text) => text !== ''),
  ].join('\n\n');
}

function promptMessages(step: Step, node: GraphNode, instruction?: string): LlmMessage[] {
  return [
    { role: 'system', content: systemPrompt(step, node) },
    ...messagesOf(step.state, instruction),
  ];
}

/** The node's tools, then one function per edge. */
function nodeTools(step: Step, node: GraphNode): LlmTool[] {
  return [
    ...(step.tools.get(node.id) ?? []).map((tool) => tool.function),
    ...node.edges.map((edge) => edgeFunction(edge.label, edgeDescription(step, edge))),
  ];
}

/** The edge's condition with the prompt of the next node, so that the model can move and speak for it in one answer. */
function edgeDescription(step: Step, edge: GraphEdge): string {
  const target = step.graph.nodes.get(edge.target);
  if (target === undefined) return edge.condition;
  if (hasTransitionLine(step, edge)) {
    return `${edge.condition}\nSay nothing yourself when you call this: a fixed line is spoken.`;
  }
  const next = rendered(step, target.prompt).slice(0, NEXT_PROMPT_CHARACTERS_MAX);
  const how = target.endsCall
    ? 'The call ends after this. Say your closing words in the same answer as this call.'
    : 'In the same answer as this call, say what the caller should hear next.';
  return `${edge.condition}\n${how} The next step is: ${next}`;
}
