// Estimated token usage of an aborted request. Services report usage only at the end of an answer, but bill what was
// processed until they notice the abort.

import { type LlmRequest, type LlmUsage, NO_USAGE } from './llm.ts';

/** Ratio for English. Other languages have fewer characters per token. */
const CHARACTERS_PER_TOKEN = 4;

/** `text`: the part of the answer that arrived. */
export function estimatedUsage(
  { messages, tools }: Pick<LlmRequest, 'messages' | 'tools'>,
  text: string,
): LlmUsage {
  const prompt = messages.reduce((sum, { content }) => sum + content.length, 0);
  const functions = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return {
    ...NO_USAGE,
    promptTokens: tokensIn(prompt + functions),
    completionTokens: tokensIn(text.length),
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
