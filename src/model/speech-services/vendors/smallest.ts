// Smallest: recognition (Pulse) and voices (Lightning).

import { z } from 'zod';
import { about, language, limitedKey, named, socketUrl, speedOf } from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('smallest'),
    ...limitedKey,
    model: named('pulse'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.smallest.ai'),
  })
  .meta(about('Smallest', 'Many languages.', 'https://docs.smallest.ai'));

const tts = z
  .object({
    provider: z.literal('smallest'),
    ...limitedKey,
    model: named('lightning_v3.1', 'lightning_v3.1_pro'),
    voice: named('sophia', 'avery', 'liam', 'lucas', 'olivia', 'ryan', 'freya', 'william'),
    language: language.default('en'),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://api.smallest.ai'),
  })
  .meta(about('Smallest', 'Word times.', 'https://docs.smallest.ai'));

export const smallest = { stt, tts } as const;
