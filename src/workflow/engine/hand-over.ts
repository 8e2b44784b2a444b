// Repeated faults of the model, the tools, the voice or the recogniser: the agent transfers the caller to a person if
// it has a destination for that; else it apologises and ends the call. Single faults are handled elsewhere: waiting.ts
// explains waits, the dialogue runner repairs answers, and the engine's own lines apologise.

import type { TransferAnnouncement } from '../tools/tool-type.ts';
import { faultLine } from './dialogue-lines.ts';
import { abandonRequest, startClosing } from './ending.ts';
import {
  currentNode,
  log,
  newId,
  rendered,
  type Step,
  say,
  templateContext,
  wait,
} from './step.ts';

/** Component that failed. */
export type FaultCause = 'model' | 'tools' | 'voice' | 'recognition';

/** Faults of one call, of any kind, after which the caller is connected with a person even if the agent has answered in
 *  between. */
const FAULTS_MAX = 5;
/** Consecutive rounds of tools in which every request failed: the model has reported two of them to the caller. */
const TOOL_ROUNDS_MAX = 3;
const RING_S_DEFAULT = 30;
/** Longest wait for the announcement, which is a sentence; one that does not end must not block the transfer. */
const ANNOUNCEMENT_MS_MAX = 15_000;
/** Name of the function in the run's log. */
const FUNCTION = 'transfer_after_faults';

interface Target {
  destination: string;
  ringS: number;
  announcement?: TransferAnnouncement;
}

/** Counts a fault. `isLast`: the agent cannot continue. True if the caller is being connected with a person, or the
 *  call ends. */
export function takeFault(step: Step, cause: FaultCause, isLast: boolean): boolean {
  const { state } = step;
  state.faults = (state.faults ?? 0) + 1;
  const isDue = isLast || state.faults >= FAULTS_MAX;
  const isHandedOver = isDue && handOver(step, cause, { isLast });
  if (isLast && !isHandedOver) endByFault(step);
  return isLast || isHandedOver;
}

/** Counts a round of tools. True if the caller is being connected with a person. A call whose agent has no destination
 *  continues: the model explains. */
export function takeToolRound(step: Step, isFault: boolean): boolean {
  const { state } = step;
  if (!isFault) {
    delete state.toolFaults;
    return false;
  }
  state.toolFaults = (state.toolFaults ?? 0) + 1;
  if (takeFault(step, 'tools', false)) return true;
  return state.toolFaults >= TOOL_ROUNDS_MAX && handOver(step, 'tools');
}

/** Announces and begins the transfer. False if the agent has no destination, or can continue and did not reach it
 *  before. `isLast`: the agent cannot continue. */
export function handOver(step: Step, cause: FaultCause, { isLast = false } = {}): boolean {
  const isDue = isLast || step.state.hasFailedHandOver !== true;
  const target = isDue && mayLeave(step) ? targetOf(step) : undefined;
  if (target === undefined) return false;
  abandonRequest(step);
  const toolRunId = newId(step);
  const callId = `hand-over-${toolRunId}`;
  const { destination, ringS, announcement } = target;
  log(step, { type: 'function.called', callId, name: FUNCTION, arguments: { cause, destination } });
  say(step, {
    kind: 'notice',
    text: faultLine(step, 'handOver'),
    interruptible: false,
    remembered: false,
  });
  step.state.tools = {
    spoken: '',
    isAnswered: false,
    pending: [],
    next: {
      what: 'transfer',

      toolRunId,
      callId,
      destination,
      name: FUNCTION,
      toolUuid: '',
      arguments: {},
      stage: 'announcing',
      afterFaults: { isLast, ringS, ...(announcement && { announcement }) },
    },
  };
  step.state.waits.announcement = wait(step, ANNOUNCEMENT_MS_MAX);
  return true;
}

/** Handles a person who was not reached: an agent that can continue does, and tries again only when it cannot. */
export function handOverFailed(step: Step, { isLast }: { isLast: boolean }): void {
  if (isLast) {
    endByFault(step);
    return;
  }
  const { state, lines } = step;
  state.hasFailedHandOver = true;
  const text = state.keysOnly === true ? lines.keysOnly : faultLine(step, 'trouble');
  say(step, { kind: 'fallback', text, interruptible: currentNode(step).interruptible });
}

/** Whether repeated faults lead to a person. */
export function hasPerson(step: Step): boolean {
  return targetOf(step) !== undefined;
}

/** Apologises; the call ends. */
function endByFault(step: Step): void {
  say(step, { kind: 'goodbye', text: faultLine(step, 'apology'), interruptible: false });
  startClosing(step, 'pipeline_error');
}

/** Whether the conversation continues, and is not being transferred already. */
function mayLeave({ state: { phase, tools } }: Step): boolean {
  return phase === 'talking' && tools === null;
}

/** Destination of the agent's setting; without one, that of the first transfer tool that names its destination, those
 *  of the current node first. */
function targetOf(step: Step): Target | undefined {
  const { isEnabled, destination } = step.faultTransfer;
  if (!isEnabled) return undefined;
  const own = rendered(step, destination).trim();
  if (own !== '') return { destination: own, ringS: RING_S_DEFAULT };
  const context = { values: templateContext(step.state), now: step.at };
  const here = step.tools.get(currentNode(step).id) ?? [];
  for (const { tool } of [...here, ...[...step.tools.values()].flat()]) {
    const { transfer } = tool;
    if (transfer === undefined || transfer.asksServer) continue;
    const to = transfer.knownDestination(context);
    if (to === '') continue;
    const announcement = transfer.announcement(context);
    return { destination: to, ringS: transfer.ringS, ...(announcement && { announcement }) };
  }
  return undefined;
}
