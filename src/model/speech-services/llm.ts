// The language models of this version: one schema per provider, the source of its type, check, form and mask.

import { z } from 'zod';

export const OPENAI_URL = 'https://api.openai.com/v1';
export const OPENAI_MODEL = 'gpt-4.1-mini';

const scripted = z
  .object({ provider: z.literal('scripted') })
  .describe("Walks the agent's graph without a model.");

const openai = z
  .object({
    provider: z.literal('openai'),
    base_url: z.url().default(OPENAI_URL).describe('Any service with the chat interface.'),
    api_key: z.string().nullable().default(null),
    model: z.string().default(OPENAI_MODEL),
  })
  .describe('A language model with the OpenAI chat interface.');

export const llmServices = { scripted, openai } as const;
