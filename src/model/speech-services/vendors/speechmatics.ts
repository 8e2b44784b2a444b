// Speechmatics: recognition, and voices in a preview.

import { z } from 'zod';
import {
  about,
  describedHttpUrl,
  keyterms,
  language,
  limitedKey,
  named,
  secretKey,
  socketUrl,
} from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('speechmatics'),
    ...limitedKey,
    model: named('enhanced', 'standard'),
    language: language.default('en').meta({ language_names: { zh: 'cmn' } }),
    base_url: socketUrl.default('wss://eu2.rt.speechmatics.com'),
    keyterms,
  })
  .meta(about('Speechmatics', '50 languages.', 'https://docs.speechmatics.com'));

const tts = z
  .object({
    provider: z.literal('speechmatics'),
    api_key: secretKey,
    model: named('speechmatics-tts'),
    voice: named('sarah', 'theo', 'megan', 'jack').describe('In the address; lower case.'),
    base_url: describedHttpUrl.default('https://preview.tts.speechmatics.com'),
  })
  .meta({
    ...about(
      'Speechmatics',
      'A request for each sentence. A preview of the vendor.',
      'https://docs.speechmatics.com/text-to-speech/quickstart',
    ),
    languages: ['en'],
  });

export const speechmatics = { stt, tts } as const;
