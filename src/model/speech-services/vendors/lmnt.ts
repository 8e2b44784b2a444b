// LMNT: voices.

import { z } from 'zod';
import { about, language, limitedKey, named, socketUrl } from '../service-fields.ts';

const tts = z
  .object({
    provider: z.literal('lmnt'),
    ...limitedKey,
    model: named('aurora', 'blizzard'),
    voice: named('lily', 'daniel', 'ava', 'caleb', 'leah', 'zeke'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.lmnt.com'),
  })
  .meta(about('LMNT', 'Word times.', 'https://docs.lmnt.com'));

export const lmnt = { tts } as const;
