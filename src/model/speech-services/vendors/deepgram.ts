// Deepgram: recognition (nova and flux models), and the Aura voices.

import { z } from 'zod';
import { extraQuery, httpUrl, keyterms, limitedKey, sttAddress, turns } from '../service-fields.ts';

const stt = z
  .object({
    provider: z.literal('deepgram'),
    ...limitedKey,
    model: z
      .string()
      .min(1)
      .default('nova-3-general')
      .meta({
        description: 'The flux models decide themselves when the caller has finished.',
        language_in_name: '^flux-general-([a-z]{2})$',
        examples: ['nova-3-general', 'nova-3-medical', 'flux-general-en', 'flux-general-multi'],
        allow_custom_input: true,
      }),
    language: z
      .string()
      .min(1)
      .default('multi')
      .meta({
        description: 'Flux models take it as a hint, and only the multilingual one.',
        examples: ['multi', 'en', 'de', 'es', 'fr', 'hi', 'it', 'ja', 'nl', 'pt', 'ru'],
        allow_custom_input: true,
      }),
    base_url: sttAddress,
    keyterms,
    endpointing_ms: z
      .int()
      .min(10)
      .max(5_000)
      .optional()
      .describe('Silence after which nova models fix the words. Default: 300.'),
    eot_threshold: z
      .number()
      .min(0.5)
      .max(1)
      .optional()
      .describe('How sure flux models must be that the caller has finished. Default: 0.7.'),
    eager_eot_threshold: z
      .number()
      .min(0.3)
      .max(0.9)
      .optional()
      .describe(
        'How sure flux models must be of a probable end, at which the language model is asked ahead; at most ' +
          'eot_threshold. More requests, less delay. Default: not at all.',
      ),
    eot_timeout_ms: z
      .int()
      .min(500)
      .max(60_000)
      .optional()
      .describe('Silence after which flux models end every turn. Default: 3,000.'),
    turns,
    profanity_filter: z.boolean().optional(),
    mip_opt_out: z
      .boolean()
      .optional()
      .describe('Keeps the audio out of the training of models; other prices apply.'),
    tag: z.string().min(1).max(128).optional().describe("A label on the service's bill."),
    extra_query: extraQuery,
  })
  .meta({
    title: 'Deepgram',
    description: 'Recognises free speech in many languages.',
    provider_docs_url: 'https://developers.deepgram.com',
  });

const tts = z
  .object({
    provider: z.literal('deepgram'),
    ...limitedKey,
    voice: z
      .string()
      .min(1)
      .default('aura-2-helena-en')
      .describe('The voice, which is the model as well.')
      .meta({
        language_in_name: '-([a-z]{2})$',
        examples: ['aura-2-helena-en', 'aura-2-thalia-en', 'aura-asteria-en'],
        allow_custom_input: true,
      }),
    speed: z.number().min(0.7).max(1.5).optional(),
    base_url: httpUrl.optional().describe('Another region, or a server of your own.'),
  })
  .describe('Deepgram Aura. µ-law at 8 kHz; times of words are estimated.');

export const deepgram = { stt, tts } as const;
