// What a call's requests to the language model come to: answers and values for the conversation, usage and
// faults for the run's log.

import type { DialogueQueue } from '../dialogue/dialogue-queue.ts';
import type { GenerationListener } from '../dialogue/generation.ts';
import type { SessionEvents } from './session-events.ts';

/** `onBroken`: our own fault, the call cannot go on. */
export function createGenerationListener(
  dialogue: DialogueQueue,
  record: SessionEvents,
  onBroken: (error: unknown) => void,
): GenerationListener {
  return {
    onAnswer: (requestId, { text, toolCalls }) =>
      dialogue.dispatch({ type: 'model-answered', requestId, text, toolCalls }),
    onFailure: (requestId, code) => dialogue.dispatch({ type: 'model-failed', requestId, code }),
    onExtracted: (extractionId, values) =>
      dialogue.dispatch({ type: 'extracted', extractionId, values }),
    onExtractionFailure: (extractionId, code) =>
      dialogue.dispatch({ type: 'extraction-failed', extractionId, code }),
    onUsage: (usage) => record.note(usage),
    onFault: (error) => record.fault(error, false),
    onBroken,
  };
}
