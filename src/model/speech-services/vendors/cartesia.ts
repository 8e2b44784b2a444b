// Cartesia: recognition (Ink), and the Sonic voices.

import { z } from 'zod';
import {
  type Announcement,
  about,
  httpUrl,
  language,
  limitedKey,
  named,
  socketUrl,
  voiceLanguage,
} from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('cartesia'),
    ...limitedKey,
    model: named('ink-whisper', 'ink-2'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.cartesia.ai'),
  })
  .meta(about('Cartesia Ink', 'Many languages.', 'https://docs.cartesia.ai'));

const tts = z
  .object({
    provider: z.literal('cartesia'),
    ...limitedKey,
    model: z
      .string()
      .min(1)
      .default('sonic-3.5')
      .meta({ examples: ['sonic-3.5', 'sonic-3.6', 'sonic-3'], allow_custom_input: true }),
    voice: z
      .string()
      .min(1)
      .default('3faa81ae-d3d8-4ab1-9e44-e50e46d33c30')
      .describe("A voice's id.")
      .meta({ allow_custom_input: true }),
    speed: z
      .number()
      .min(0.6)
      .max(1.5)
      .optional()
      .describe('A factor. sonic-3 and sonic-3.6 apply it; sonic-3.5 ignores it.'),
    volume: z
      .number()
      .min(0.5)
      .max(2)
      .optional()
      .describe('A factor. sonic-3 and sonic-3.6 apply it; sonic-3.5 ignores it.'),
    language: voiceLanguage,
    emotion: z.string().min(1).max(50).optional(),
    pronunciation_dict_id: z.string().min(1).max(100).optional(),
    base_url: httpUrl.optional(),
  })
  .describe('Cartesia Sonic. Many languages, word times, µ-law at 8 kHz.');

const retirements: Announcement = {
  source: 'https://docs.cartesia.ai/build-with-cartesia/tts-models/api-changes',
  ends: [
    ['2026-06-01', 'sonic-3.5', 'sonic sonic-english sonic-multilingual'],
    ['2026-06-01', 'sonic-3.5', 'sonic-2-2025-03-07 sonic-turbo-2025-03-07'],
  ],
};

export const cartesia = { stt, tts, retirements } as const;
