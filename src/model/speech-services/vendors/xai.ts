// The vendor xAI: chat models (Grok), recognition and voices.

import { z } from 'zod';
import {
  type Announcement,
  about,
  hostedModel,
  language,
  limitedKey,
  named,
  socketUrl,
} from '../service-fields.ts';

const llm = hostedModel('xai', {
  title: 'xAI',
  url: 'https://api.x.ai/v1',
  usual: 'grok-4.3',
  examples: ['grok-4.20-non-reasoning'],
  docs: 'https://docs.x.ai/docs/models',
});

const stt = z
  .object({
    provider: z.literal('xai'),
    ...limitedKey,
    model: named('xai-stt'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.x.ai'),
  })
  .meta(about('xAI', 'Ends utterances by its own silence.', 'https://docs.x.ai'));

const tts = z
  .object({
    provider: z.literal('xai'),
    ...limitedKey,
    model: named('xai-tts'),
    voice: named('eve', 'ara', 'leo', 'rex', 'sal'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.x.ai'),
  })
  .meta(about('xAI', 'No word times.', 'https://docs.x.ai'));

const retirements: Announcement = {
  source: 'https://docs.x.ai/docs/migration/may-15-retirement',
  ends: [
    ['2026-05-15', 'grok-4.3', 'grok-4-fast-non-reasoning grok-4-fast-reasoning grok-3'],
    ['2026-05-15', 'grok-4.3', 'grok-4-1-fast-non-reasoning grok-4-1-fast-reasoning grok-4-0709'],
  ],
};

export const xai = { llm, stt, tts, retirements } as const;
