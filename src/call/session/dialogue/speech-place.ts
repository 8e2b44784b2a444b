// Where a conversation stands for its speech services: agent, node and language.

import type { CallEventBody } from '../../../model/call-event.ts';
import type { SpeechPlace } from '../../../speech/speech-plan.ts';
import type { DialogueState } from '../../../workflow/engine.ts';

/** The place of a state. */
export function placeIn({
  nodeId,
  agent,
  language,
}: Pick<DialogueState, 'nodeId' | 'agent' | 'language'>): SpeechPlace {
  return { nodeId, agent: agent?.id ?? undefined, language };
}

/** The change of the place that a fact of the engine means; undefined if it means none. */
export function moveIn(body: CallEventBody): Partial<SpeechPlace> | undefined {
  switch (body.type) {
    case 'node.entered':
      return { nodeId: body.nodeId };
    case 'agent.entered':
      return { agent: body.agentId ?? undefined, language: body.language };
    case 'language.switched':
      return { language: body.language };
    default:
      return undefined;
  }
}
