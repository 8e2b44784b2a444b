// Google: Gemini, and the voices of Cloud Text-to-Speech.

import { z } from 'zod';
import {
  type Announcement,
  about,
  describedHttpUrl,
  language,
  llmFields,
  llmKey,
  llmModel,
  llmUrl,
  named,
  secretKey,
  speedOf,
} from '../service-fields.ts';

const llm = z
  .object({
    provider: z.literal('google'),
    base_url: llmUrl('https://generativelanguage.googleapis.com/v1beta'),
    api_key: llmKey,
    model: llmModel('gemini-3.5-flash', ['gemini-3.5-flash-lite', 'gemini-3.8-flash']),
    ...llmFields,
  })
  .meta({
    title: 'Google Gemini',
    description: 'Gemini, through its API with a key.',
    provider_docs_url: 'https://ai.google.dev/gemini-api/docs/models',
  });

const tts = z
  .object({
    provider: z.literal('google'),
    api_key: secretKey.describe('A key of the API; service accounts are not supported.'),
    model: named('chirp_3_hd'),
    voice: named('en-US-Chirp3-HD-Charon'),
    language: language.default('en-US'),
    speed: speedOf(0.25, 2),
    base_url: describedHttpUrl.default('https://texttospeech.googleapis.com'),
  })
  .meta(about('Google', 'A request for each sentence.', 'https://cloud.google.com/text-to-speech'));

const retirements: Announcement = {
  source: 'https://ai.google.dev/gemini-api/docs/deprecations',
  ends: [
    ['2026-06-01', 'gemini-3.5-flash', 'gemini-2.0-flash gemini-2.0-flash-001'],
    ['2026-12-01', 'gemini-3.5-flash-lite', 'gemini-2.5-flash'],
    ['2026-12-01', 'gemini-3.8-flash', 'gemini-2.5-pro'],
  ],
};

export const google = { llm, tts, retirements } as const;
