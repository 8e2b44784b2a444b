// Sarvam: language models, recognition and voices for the languages of India.

import { z } from 'zod';
import {
  about,
  language,
  limitedKey,
  llmFields,
  llmKey,
  llmModel,
  llmUrl,
  named,
  socketUrl,
  speedOf,
} from '../service-fields.ts';

const llm = z
  .object({
    provider: z.literal('sarvam'),
    base_url: llmUrl('https://api.sarvam.ai/v1'),
    api_key: llmKey,
    model: llmModel('sarvam-105b', []),
    temperature: z.number().min(0).max(2).default(0.5),
    ...llmFields,
  })
  .meta({
    title: 'Sarvam',
    description: 'Models for Indian languages.',
    provider_docs_url: 'https://docs.sarvam.ai',
  });

const stt = z
  .object({
    provider: z.literal('sarvam'),
    ...limitedKey,
    model: named('saarika:v2.5', 'saaras:v3'),
    language: language.default('unknown').meta({ language_region: 'IN' }),
    base_url: socketUrl.default('wss://api.sarvam.ai'),
  })
  .meta(about('Sarvam', 'Languages of India.', 'https://docs.sarvam.ai'));

const tts = z
  .object({
    provider: z.literal('sarvam'),
    ...limitedKey,
    model: named('bulbul:v2', 'bulbul:v3'),
    voice: named('anushka', 'manisha', 'vidya', 'arya', 'abhilash', 'karun', 'hitesh'),
    language: language.default('hi-IN').meta({ language_region: 'IN' }),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://api.sarvam.ai'),
  })
  .meta(about('Sarvam', 'Languages of India.', 'https://docs.sarvam.ai'));

export const sarvam = { llm, stt, tts } as const;
