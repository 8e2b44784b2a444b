// Tokens of a request that was aborted: services count at the end of an answer only, and bill what they have read and
// written until they notice.

import { type LlmRequest, type LlmUsage, NO_USAGE } from './llm.ts';

/** Of English; other languages have fewer. */
const CHARACTERS_PER_TOKEN = 4;

/** `text`: what has come of the answer. */
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
