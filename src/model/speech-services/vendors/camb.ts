// Camb: voices.

import { z } from 'zod';
import { about, describedHttpUrl, language, named, secretKey } from '../service-fields.ts';

const tts = z
  .object({
    provider: z.literal('camb'),
    api_key: secretKey,
    model: z.enum(['mars-flash', 'mars-pro', 'mars-instruct']).default('mars-flash'),
    voice: named('147320').describe("A voice's number."),
    language: language.default('en-us'),
    base_url: describedHttpUrl.default('https://client.camb.ai'),
  })
  .meta(about('Camb', 'A request for each sentence.', 'https://docs.camb.ai'));

export const camb = { tts } as const;
