// Transfer of the caller to another agent within the call: the run, the caller's words and the gathered values stay; graph,
// prompts, tools, policy and services are those of the next agent. Source: contract §8.7.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { GraphNode } from '../graph/graph.ts';
import { extractFrom } from './extraction.ts';
import { markMissing } from './gathered-values.ts';
import { keepLanguage } from './language.ts';
import { enterNode } from './node-transition.ts';
import type { DialogueState, HistoryEntry } from './state.ts';
import { currentNode, log, rendered, type Step, say } from './step.ts';

/** Transfers of one call: agents that transfer to each other would go on for ever. */
const TRANSFERS_MAX = 5;
/** Characters of the gathered values in the next agent's prompt. */
const VALUES_CHARACTERS_MAX = 2_000;

export type TransferRefusal = 'unknown' | 'too many';

interface AgentTransfer {
  agentUuid: string;
  reason: string;
  /** Whether the next agent says its greeting. */
  greets: boolean;
}

/** Why the caller cannot be transferred to that agent; undefined if that is possible. */
export function transferRefusal(step: Step, agentUuid: string): TransferRefusal | undefined {
  if (!step.agents.has(agentUuid)) return 'unknown';
  return (step.state.agentTransfers ?? 0) >= TRANSFERS_MAX ? 'too many' : undefined;
}

/** The next agent takes the call over and speaks. False, with a fault in the run's log, if that is not possible. */
export function enterAgent(step: Step, { agentUuid, reason, greets }: AgentTransfer): boolean {
  const refusal = transferRefusal(step, agentUuid);
  const next = step.agents.get(agentUuid);
  if (refusal !== undefined || next === undefined) {
    const why = refusal ?? 'unknown';
    const error = new GatewayError('AGENT_TRANSFER_REFUSED', { agent: agentUuid, reason: why });
    log(step, { type: 'fault', code: error.code, message: error.message, fatal: false });
    return false;
  }
  const { state } = step;
  const previous = step.agent.name;
  leaveNode(step);
  state.agentTransfers = (state.agentTransfers ?? 0) + 1;
  forgetTurn(state);
  state.agent = { id: next.agent.id, brief: briefOf(state, { previous, reason, greets }) };
  Object.assign(step, next);
  keepLanguage(step);
  log(step, {
    type: 'agent.entered',
    agentId: next.agent.id,
    agentName: next.agent.name,
    previousAgentName: previous,
    workflowId: next.agent.workflowId,
    definitionId: next.agent.definitionId,
    ...(reason !== '' && { reason }),
    ...(state.language !== undefined && { language: state.language }),
  });
  // The node's id may be one of the former agent too.
  state.nodeId = null;
  enterNode(step, step.graph.start);
  step.arrive(step, greets);
  return true;
}

/** Transfers the caller if the node says so, after its words. False if the node has another part, or the transfer is not
 *  possible: the conversation goes on in the node. */
export function transferFromNode(step: Step, node: GraphNode): boolean {
  const { transferTo } = node;
  if (transferTo === undefined) return false;
  if (transferRefusal(step, transferTo) === undefined) {
    const text = rendered(step, node.say ?? '');
    say(step, { kind: 'transition', text, interruptible: false });
  }
  return enterAgent(step, { agentUuid: transferTo, reason: '', greets: false });
}

function leaveNode(step: Step): void {
  const node = currentNode(step);
  if (step.policy === 'model') extractFrom(step, node);
  else markMissing(step, node);
}

/** Drops what belongs to the former agent. The next one's model does not know its functions, and may be of another
 *  service. */
function forgetTurn(state: DialogueState): void {
  state.history = state.history.flatMap((entry): HistoryEntry[] => {
    if (entry.role === 'tool') return [];
    if (entry.role === 'user') return [entry];
    const { vendor: _, ...others } = entry;
    return [{ ...others, toolCalls: [] }];
  });
  state.generations = 0;
  delete state.wordless;
  delete state.doubted;
  delete state.doubtedAnswer;
  delete state.misheard;
  delete state.patience;
  delete state.toolFaults;
}

/** What the next agent's model has to know besides the conversation. */
function briefOf(
  { extracted }: DialogueState,
  { previous, reason, greets }: { previous: string; reason: string; greets: boolean },
): string {
  const values = JSON.stringify(extracted);
  const lines = [
    `You have taken this call over from the agent "${previous}". What it and the caller said is above your own words in the conversation.`,
    reason === '' ? '' : `Reason: ${reason}`,
    values === '{}' ? '' : `What is known: ${values.slice(0, VALUES_CHARACTERS_MAX)}`,
    greets
      ? ''
      : 'The caller stays on the line and was greeted: go on without a greeting, and do not ask again for what is known.',
  ];
  return lines.filter((line) => line !== '').join('\n');
}
