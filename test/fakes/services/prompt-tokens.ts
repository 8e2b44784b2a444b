// Tokens of a request, as the fakes of language models count them against the limit of a model's context.

const CHARACTERS_PER_TOKEN = 4;

export function promptTokens(body: Record<string, unknown>): number {
  return Math.ceil(JSON.stringify(body).length / CHARACTERS_PER_TOKEN);
}
