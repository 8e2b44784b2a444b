// Groq: chat models, and Whisper for whole utterances.

import { z } from 'zod';
import {
  type Announcement,
  hostedModel,
  httpUrl,
  secretKey,
  serverModel,
  transcriptionFields,
} from '../service-fields.ts';

const llm = hostedModel('groq', {
  title: 'Groq',
  url: 'https://api.groq.com/openai/v1',
  usual: 'openai/gpt-oss-120b',
  examples: ['openai/gpt-oss-20b', 'qwen/qwen3.6-27b'],
  docs: 'https://console.groq.com/docs/models',
});

const stt = z
  .object({
    provider: z.literal('groq'),
    api_key: secretKey,
    model: serverModel.default('whisper-large-v3-turbo').meta({
      examples: ['whisper-large-v3-turbo', 'whisper-large-v3'],
    }),
    base_url: httpUrl.default('https://api.groq.com/openai/v1'),
    ...transcriptionFields,
  })
  .meta({ title: 'Groq', description: 'Whisper, for each utterance as a whole.' });

const retirements: Announcement = {
  source: 'https://console.groq.com/docs/deprecations',
  ends: [
    ['2026-08-16', 'openai/gpt-oss-120b', 'llama-3.3-70b-versatile'],
    ['2026-08-16', 'openai/gpt-oss-20b', 'llama-3.1-8b-instant'],
  ],
};

export const groq = { llm, stt, retirements } as const;
