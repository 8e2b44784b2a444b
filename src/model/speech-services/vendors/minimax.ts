// MiniMax: chat models and voices.

import { z } from 'zod';
import {
  about,
  describedHttpUrl,
  llmFields,
  llmKey,
  llmModel,
  llmUrl,
  named,
  secretKey,
} from '../service-fields.ts';

const llm = z
  .object({
    provider: z.literal('minimax'),
    base_url: llmUrl('https://api.minimax.io/v1'),
    api_key: llmKey,
    model: llmModel('MiniMax-M2.7', ['MiniMax-M2.7-highspeed', 'MiniMax-M3']),
    temperature: z.number().gt(0).max(2).default(1),
    ...llmFields,
  })
  .meta({
    title: 'MiniMax',
    description: 'MiniMax, through its chat interface.',
    provider_docs_url: 'https://platform.minimax.io/docs/guides/text-generation',
  });

const tts = z
  .object({
    provider: z.literal('minimax'),
    api_key: secretKey,
    group_id: z.string().trim().min(1).max(100),
    model: named('speech-2.8-hd', 'speech-2.8-turbo'),
    voice: named('English_Graceful_Lady', 'English_Insightful_Speaker', 'English_radiant_girl'),
    speed: z.number().min(0.5).max(2).default(1),
    base_url: describedHttpUrl.default('https://api.minimax.io/v1/t2a_v2'),
  })
  .meta(about('MiniMax', 'A request for each sentence.', 'https://platform.minimax.io'));

export const minimax = { llm, tts } as const;
