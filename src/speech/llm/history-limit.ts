// The history of a conversation that is longer than a model takes, without its oldest turns. The system's prompts and
// the last turn stay; a turn begins with the caller's words, so that no tool's result is without its call.

import type { LlmMessage } from '../../model/llm-message.ts';

/** Characters of all that is said, and of the tools' calls and results. */
export function historyCharacters(messages: readonly LlmMessage[]): number {
  return messages.reduce((sum, message) => sum + charactersOf(message), 0);
}

/** The newest turns of at most so many characters, or the last turn. Undefined: all of them, nothing is to be dropped. */
export function newestTurns(
  messages: readonly LlmMessage[],
  charactersMax: number,
): LlmMessage[] | undefined {
  let characters = 0;
  let begin: number | undefined;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as LlmMessage;
    characters += charactersOf(message);
    if (begin !== undefined && characters > charactersMax) break;
    if (message.role === 'user') begin = at;
  }
  const isDropped = (at: number, { role }: LlmMessage): boolean =>
    role !== 'system' && begin !== undefined && at < begin;
  if (!messages.some((message, at) => isDropped(at, message))) return undefined;
  return messages.filter((message, at) => !isDropped(at, message));
}

function charactersOf(message: LlmMessage): number {
  if (message.role === 'system') return 0;
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message.content.length;
  return message.content.length + JSON.stringify(message.toolCalls).length;
}
