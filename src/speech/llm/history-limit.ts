// Shortens a conversation that exceeds a model's context: drops the oldest turns and, if needed, the middle of long
// tool results. System prompts and the last turn stay. A turn begins with the caller's words, so that no tool result is
// without its call.

import type { LlmMessage } from '../../model/llm-message.ts';

/** Characters that remain of a shortened result: its beginning and end identify it. */
const RESULT_CHARACTERS_MIN = 300;

/** Characters of all spoken text, tool calls and tool results. */
export function historyCharacters(messages: readonly LlmMessage[]): number {
  return messages.reduce((sum, message) => sum + charactersOf(message), 0);
}

/** Returns the newest turns within `charactersMax`, at least the last one. Undefined if nothing has to be dropped. */
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

/** Returns the newest turns, with shortened tool results if the last turn alone is too long. Undefined if nothing can
 *  be left out. */
export function shortenedHistory(
  messages: readonly LlmMessage[],
  charactersMax: number,
): LlmMessage[] | undefined {
  const newest = newestTurns(messages, charactersMax);
  const kept = newest ?? messages;
  const over = historyCharacters(kept) - charactersMax;
  if (over <= 0) return newest;
  const limit = resultLimit(kept, over);
  let hasCut = false;
  const cut = kept.map((message) => {
    if (message.role !== 'tool' || message.content.length <= limit) return message;
    hasCut = true;
    return { ...message, content: withoutMiddle(message.content, limit) };
  });
  return hasCut ? cut : newest;
}

/** The length to which the longest results are cut so that together they lose `over` characters. */
function resultLimit(messages: readonly LlmMessage[], over: number): number {
  const lengths = messages
    .flatMap(({ role, content }) => (role === 'tool' ? [content.length] : []))
    .sort((one, other) => other - one);
  let longest = 0;
  for (const [at, length] of lengths.entries()) {
    longest += length;
    // Shorter results keep their length.
    const limit = Math.floor((longest - over) / (at + 1));
    if (limit >= (lengths[at + 1] ?? 0)) return Math.max(RESULT_CHARACTERS_MIN, limit);
  }
  return RESULT_CHARACTERS_MIN;
}

/** Keeps the beginning and the end, with a mark between them that the model understands. */
function withoutMiddle(text: string, charactersMax: number): string {
  const mark = `\n[... ${text.length - charactersMax} of ${text.length} characters left out here: the result is too long ...]\n`;
  const left = Math.max(0, charactersMax - mark.length);
  // Removes half of a surrogate pair: services refuse it.
  const begin = text.slice(0, Math.ceil(left / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const end = text.slice(text.length - Math.floor(left / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${begin}${mark}${end}`;
}

function charactersOf(message: LlmMessage): number {
  if (message.role === 'system') return 0;
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message.content.length;
  return message.content.length + JSON.stringify(message.toolCalls).length;
}
