// The services for recognition, language model and synthesis, by job and name, with the settings of each.

import { z } from 'zod';

export const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const;
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

const pocketsphinx = z
  .object({ provider: z.literal('pocketsphinx') })
  .describe('Recognises closed answers on this machine, in English.');

const flite = z
  .object({ provider: z.literal('flite'), voice: z.enum(VOICES).default('slt') })
  .describe('Speaks English on this machine.');

/** Every service of this version: job, name, settings. */
export const services = {
  llm: { scripted, openai },
  stt: { pocketsphinx },
  tts: { flite },
} as const;

/** The service of a gateway where no other is configured; null for a job that it cannot do. */
export interface SpeechServiceNames {
  llm: keyof typeof services.llm;
  stt: keyof typeof services.stt | null;
  tts: keyof typeof services.tts;
}
