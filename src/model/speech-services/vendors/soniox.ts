// Soniox: recognition.

import { z } from 'zod';
import { about, keyterms, language, limitedKey, named, socketUrl } from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('soniox'),
    ...limitedKey,
    model: named('stt-rt-v5'),
    language: language.optional().describe('A hint. Default: detected.'),
    base_url: socketUrl.default('wss://stt-rt.soniox.com'),
    keyterms,
  })
  .meta(about('Soniox', '60 languages.', 'https://soniox.com/docs'));

export const soniox = { stt } as const;
