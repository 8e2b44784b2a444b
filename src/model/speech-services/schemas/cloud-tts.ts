// Streaming voices in the cloud. One schema per provider.

import { z } from 'zod';
import { concurrencyLimit } from './concurrency-limit.ts';
import { serviceAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

const language = z.string().min(2).max(35).optional().describe('BCP 47, such as en or de.');

const baseUrl = serviceAddress(/^https?$/);

const elevenlabs = z
  .object({
    provider: z.literal('elevenlabs'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    voice: z
      .string()
      .min(1)
      .default('21m00Tcm4TlvDq8ikWAM')
      .describe("A voice's id, or its name and id: Rachel - 21m00Tcm4TlvDq8ikWAM.")
      .meta({ allow_custom_input: true }),
    model: z
      .string()
      .min(1)
      .default('eleven_flash_v2_5')
      .meta({
        examples: ['eleven_flash_v2_5', 'eleven_multilingual_v2'],
        allow_custom_input: true,
      }),
    speed: z.number().min(0.1).max(2).default(1).describe('The service takes 0.7 to 1.2.'),
    base_url: baseUrl.default('https://api.elevenlabs.io').describe('A residency host, if any.'),
    language,
    stability: z.number().min(0).max(1).default(0.5),
    similarity_boost: z.number().min(0).max(1).default(0.75),
    style: z.number().min(0).max(1).default(0),
    use_speaker_boost: z.boolean().default(true),
  })
  .describe('ElevenLabs. Many languages, word times, µ-law at 8 kHz.');

const cartesia = z
  .object({
    provider: z.literal('cartesia'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
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
    language,
    emotion: z.string().min(1).max(50).optional(),
    pronunciation_dict_id: z.string().min(1).max(100).optional(),
    base_url: baseUrl.optional(),
  })
  .describe('Cartesia Sonic. Many languages, word times, µ-law at 8 kHz.');

const deepgram = z
  .object({
    provider: z.literal('deepgram'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
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
    base_url: baseUrl.optional().describe('Another region, or a server of your own.'),
  })
  .describe('Deepgram Aura. µ-law at 8 kHz; times of words are estimated.');

export const cloudTtsServices = { elevenlabs, cartesia, deepgram } as const;
