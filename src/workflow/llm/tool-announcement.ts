// What a tool says before it acts: never cut off by the caller, and not part of what the model is shown.
// Source: contract §8.4, §8.7; rendered as all speech is (§13.1 item 12).

import type { UtteranceKind } from '../../model/call-event.ts';
import type { ClipRef } from '../../model/clip.ts';
import { clipLine } from '../engine/clip-lines.ts';
import { rendered, type Step, say } from '../engine/step.ts';
import type { NodeTools } from '../tools/offered-functions.ts';
import { httpApiMessage, preToolMessageOf, type ToolMessage } from '../tools/pre-tool-message.ts';

/** Nothing happens for an empty message. */
export function sayPreToolMessage(step: Step, message: ToolMessage, kind: UtteranceKind): void {
  const { text, recordingId } = message;
  const ref = recordingId === null ? undefined : clipOf(recordingId);
  const clip = ref === undefined ? undefined : clipLine(step, ref);
  const line = clip ?? { text: rendered(step, text) };
  say(step, { kind, ...line, interruptible: false, remembered: false });
}

/** The clips that tools may play. */
export function toolClipRefs(tools: NodeTools): ClipRef[] {
  const messages = [...tools.values()].flat().map(({ definition }) => {
    if (definition.type === 'calculator') return undefined;
    return definition.type === 'http_api'
      ? httpApiMessage(definition.config)
      : preToolMessageOf(definition.config);
  });
  return messages.flatMap((message) =>
    message === undefined || message.recordingId === null ? [] : [clipOf(message.recordingId)],
  );
}

/** Ids are digits; anything else is the name of a clip. */
function clipOf(recordingId: string): ClipRef {
  return { by: /^\d+$/.test(recordingId) ? 'id' : 'name', value: recordingId };
}
