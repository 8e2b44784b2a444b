// Rime: voices.

import { z } from 'zod';
import { about, limitedKey, named, socketUrl, speedOf } from '../service-fields.ts';

const tts = z
  .object({
    provider: z.literal('rime'),
    ...limitedKey,
    model: named('arcana', 'mistv3', 'mistv2', 'mist', 'coda'),
    voice: named('celeste'),
    language: named('eng', 'spa', 'fra', 'ger', 'hin').describe('ISO 639-2, or 639-1 (en).'),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://users-ws.rime.ai'),
  })
  .meta(about('Rime', 'Word times.', 'https://docs.rime.ai'));

export const rime = { tts } as const;
