// A tool's message before it acts. The caller cannot interrupt it, and the model's history does not have it. Source:
// contract §8.4, §8.7; rendered as all speech is (§13.1 item 12).

import type { UtteranceKind } from '../../model/call-event.ts';
import type { ClipRef } from '../../model/clip.ts';
import { clipLine } from '../engine/clip-lines.ts';
import type { SpokenLine } from '../engine/clip-refs.ts';
import type { DelayedMessage } from '../engine/state.ts';
import { rendered, type Step, say, wait } from '../engine/step.ts';
import type { NodeTools } from '../tools/offered-functions.ts';
import type { ToolMessage } from '../tools/tool-fields.ts';

/** Says the tool's message. Does nothing without one. */
export function sayPreToolMessage(
  step: Step,
  message: ToolMessage | undefined,
  kind: UtteranceKind,
): void {
  const line = toolLine(step, message);
  if (line !== undefined) say(step, { kind, ...line, interruptible: false, remembered: false });
}

/** The message as a line to say; undefined without one. */
export function toolLine(step: Step, message: ToolMessage | undefined): SpokenLine | undefined {
  if (message === undefined) return undefined;
  const { text, recordingId } = message;
  const ref = recordingId === null ? undefined : clipOf(recordingId);
  const clip = ref === undefined ? undefined : clipLine(step, ref);
  return clip ?? { text: rendered(step, text) };
}

/** Says the tool's message now, or after its delay (delayed-messages.ts), for which `call` waits. */
export function announceTool(
  step: Step,
  message: ToolMessage | undefined,
  call: DelayedMessage,
): void {
  const delayMs = message?.delayMs ?? 0;
  if (delayMs === 0) sayPreToolMessage(step, message, 'notice');
  else if (message !== undefined && hasWords(message)) call.messageWait = wait(step, delayMs);
}

function hasWords({ text, recordingId }: ToolMessage): boolean {
  return recordingId !== null || text.trim() !== '';
}

/** The clips that tools may play. */
export function toolClipRefs(tools: NodeTools): ClipRef[] {
  const used = new Set([...tools.values()].flat().map(({ tool }) => tool));
  return [...used].flatMap(({ message }) => {
    const recordingId = message?.recordingId ?? null;
    return recordingId === null ? [] : [clipOf(recordingId)];
  });
}

/** Reference of a recording: an id if it is all digits, else the name of a clip. */
function clipOf(recordingId: string): ClipRef {
  return { by: /^\d+$/.test(recordingId) ? 'id' : 'name', value: recordingId };
}
