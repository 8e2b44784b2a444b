// Inworld: voices.

import { z } from 'zod';
import {
  about,
  concurrencyLimit,
  language,
  named,
  secretKey,
  socketUrl,
  speedOf,
} from '../service-fields.ts';

const tts = z
  .object({
    provider: z.literal('inworld'),
    api_key: secretKey.describe('As the portal shows it, in Base64.'),
    concurrency_limit: concurrencyLimit,
    model: named('inworld-tts-2', 'inworld-tts-1.5'),
    voice: named('Ashley'),
    language: language.default('en-US'),
    speed: speedOf(0.25, 4),
    delivery_mode: z.enum(['STABLE', 'BALANCED', 'CREATIVE']).optional(),
    base_url: socketUrl.default('wss://api.inworld.ai'),
  })
  .meta(about('Inworld', 'Word times.', 'https://docs.inworld.ai'));

export const inworld = { tts } as const;
