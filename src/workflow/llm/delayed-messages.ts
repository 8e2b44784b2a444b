// Messages of tools that are said only if the tool takes long: after their delay of silence, unless there is an answer by
// then. The engine's lines for waits (engine/waiting.ts) go on after them.

import type { DelayedMessage } from '../engine/state.ts';
import { type Step, wait } from '../engine/step.ts';
import type { ToolMessage } from '../tools/tool-fields.ts';
import { sayPreToolMessage } from './tool-announcement.ts';
import { offeredBy, toolOf } from './tool-transfer.ts';

interface Delayed {
  call: DelayedMessage;
  message: ToolMessage;
}

/** Says the message whose delay is over. While the agent or the caller speaks, the delay begins anew: it is silence that
 *  the message explains. */
export function delayOver(step: Step, waitId: number): void {
  const delayed = delayedMessages(step).find(({ call }) => call.messageWait === waitId);
  if (delayed === undefined || step.state.phase !== 'talking') return;
  const { call, message } = delayed;
  // The delay begins anew when the agent's utterance is over.
  if (step.state.speaking.length > 0) return;
  if (step.isCallerSpeaking) {
    call.messageWait = wait(step, message.delayMs ?? 0);
    return;
  }
  delete call.messageWait;
  step.state.waitLines = (step.state.waitLines ?? 0) + 1;
  sayPreToolMessage(step, message, 'notice');
}

/** Begins the delays anew once the agent is silent. */
export function restartDelays(step: Step): void {
  if (step.state.speaking.length > 0) return;
  for (const { call, message } of delayedMessages(step)) {
    call.messageWait = wait(step, message.delayMs ?? 0);
  }
}

/** Messages of running tools that are not said yet. */
function delayedMessages(step: Step): Delayed[] {
  const { tools } = step.state;
  if (tools === null) return [];
  const { pending, next } = tools;
  const all: { call: DelayedMessage; message: ToolMessage | undefined }[] = pending.map((call) => {
    return { call, message: offeredBy(step, call.name)?.tool.message };
  });
  if (next.what === 'transfer' && next.stage === 'resolving') {
    all.push({ call: next, message: toolOf(step, next.toolUuid)?.transfer?.waitMessage });
  }
  return all.flatMap(({ call, message }) =>
    call.messageWait === undefined || message === undefined ? [] : [{ call, message }],
  );
}
