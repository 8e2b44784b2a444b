// Gladia: recognition.

import { z } from 'zod';
import {
  about,
  describedAddress,
  keyterms,
  language,
  limitedKey,
  named,
} from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('gladia'),
    ...limitedKey,
    model: named('solaria-1'),
    language: language.optional().describe('Default: detected.'),
    region: z.enum(['eu-west', 'us-west']).optional(),
    base_url: describedAddress(/^(wss?|https?)$/).default('https://api.gladia.io'),
    keyterms,
  })
  .meta(about('Gladia', 'Ends utterances by its own silence.', 'https://docs.gladia.io'));

export const gladia = { stt } as const;
