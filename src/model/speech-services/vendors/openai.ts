// OpenAI: chat models, transcription of whole utterances, and a voice by one request for each sentence.

import { z } from 'zod';
import {
  type Announcement,
  httpUrl,
  llmFields,
  llmModel,
  llmUrl,
  optionalLlmKey,
  secretKey,
  serverModel,
  serverSpeed,
  serverVoice,
  transcriptionFields,
} from '../service-fields.ts';

export const OPENAI_URL = 'https://api.openai.com/v1';

/** A model that answers without reasoning, and whose end is not announced. */
export const OPENAI_MODEL = 'gpt-5.4-mini';

const llm = z
  .object({
    provider: z.literal('openai'),
    base_url: llmUrl(OPENAI_URL),
    api_key: optionalLlmKey,
    model: llmModel(OPENAI_MODEL, ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-luna', 'gpt-6-luna']),
    ...llmFields,
  })
  .meta({
    title: 'OpenAI',
    description: 'OpenAI, or any service with its chat interface.',
    provider_docs_url: 'https://platform.openai.com/docs/models',
  });

const stt = z
  .object({
    provider: z.literal('openai'),
    api_key: secretKey,
    model: serverModel.default('gpt-transcribe').meta({ examples: ['gpt-transcribe'] }),
    base_url: httpUrl.default('https://api.openai.com/v1'),
    ...transcriptionFields,
  })
  .meta({ title: 'OpenAI', description: 'Transcribes each utterance as a whole.' });

const tts = z
  .object({
    provider: z.literal('openai'),
    api_key: secretKey,
    model: serverModel.default('gpt-4o-mini-tts').meta({
      description: 'OpenAI ends all models of this interface on 6 January 2027.',
      examples: ['gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'],
    }),
    voice: serverVoice.default('alloy'),
    base_url: httpUrl.default('https://api.openai.com/v1'),
    speed: serverSpeed,
    instructions: z.string().max(2_000).optional().describe('How to speak: calmly, warmly.'),
  })
  .meta({ title: 'OpenAI', description: 'Speaks each sentence by one request.' });

const retirements: Announcement = {
  source: 'https://developers.openai.com/api/docs/deprecations',
  ends: [
    ['2026-10-23', 'gpt-5.4-nano', 'gpt-4.1-nano gpt-3.5-turbo'],
    ['2026-10-23', 'gpt-5.4-mini', 'gpt-4-turbo gpt-4 o1 o3-mini o4-mini'],
    ['2026-12-11', 'gpt-5.4-mini', 'gpt-5-mini gpt-5-nano'],
    ['2026-12-11', 'gpt-5.4', 'gpt-5 o3 gpt-5-pro'],
    ['2027-01-14', 'gpt-5.4-mini', 'gpt-4.1-mini gpt-4o-mini'],
    ['2027-01-14', 'gpt-5.4', 'gpt-4.1 gpt-4o'],
    ['2027-04-01', 'gpt-5.4-mini', 'gpt-5.4-nano gpt-5.1'],
    ['2027-01-06', undefined, 'tts-1 tts-1-hd gpt-4o-mini-tts'],
    ['2027-02-26', 'gpt-transcribe', 'whisper-1 gpt-4o-transcribe gpt-4o-mini-transcribe'],
  ],
};

export const openai = { llm, stt, tts, retirements } as const;
