// Streaming recognisers in the cloud. One schema per provider.

import { z } from 'zod';
import { secretPlaceIn } from '../description-secrets.ts';
import { concurrencyLimit } from './concurrency-limit.ts';
import { serviceAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

/** Most names and special words; services accept about a hundred. */
const KEYTERMS_MAX = 100;
const QUERY_MAX = 50;

const keyterms = z
  .array(z.string().trim().min(1).max(100))
  .max(KEYTERMS_MAX)
  .optional()
  .describe('Words and names that callers often say.');
const address = serviceAddress(/^(wss?|https?)$/)
  .optional()
  .describe('Another region, or a server of your own.');
const extraQuery = z
  .record(z.string().max(100), z.string().max(1_000))
  .refine((query) => Object.keys(query).length <= QUERY_MAX, `At most ${QUERY_MAX} parameters.`)
  .refine((query) => secretPlaceIn({ query }) === undefined, 'must have no key: it is not sealed')
  .optional()
  .describe('More parameters of the connection, as the service documents them.');

const turns = z
  .enum(['vendor', 'ours', 'both'])
  .optional()
  .describe(
    "Who ends the caller's turn: the service, where its model does (vendor); the gateway by silence and words (ours); " +
      'or whichever is first (both). Default: vendor, with the gateway 700 ms later.',
  );

const deepgram = z
  .object({
    provider: z.literal('deepgram'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
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
    base_url: address,
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

const assemblyai = z
  .object({
    provider: z.literal('assemblyai'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: z
      .string()
      .min(1)
      .default('u3-rt-pro')
      .meta({
        description: 'The service decides when the caller has finished.',
        examples: [
          'u3-rt-pro',
          'universal-3-6-pro',
          'universal-3-5-pro',
          'universal-streaming-english',
          'universal-streaming-multilingual',
        ],
        allow_custom_input: true,
      }),
    language: z
      .string()
      .min(1)
      .default('en')
      .meta({ examples: ['en', 'es', 'de', 'fr', 'pt', 'it'] }),
    base_url: address,
    keyterms,
    format_turns: z
      .boolean()
      .optional()
      .describe(
        'Punctuation from the universal-streaming models, which takes longer. Default: no.',
      ),
    agent_context: z
      .boolean()
      .optional()
      .describe(
        'Sends what the agent has said; the u3 and universal-3 models recognise answers by it. ' +
          'Default: yes.',
      ),
    end_of_turn_confidence_threshold: z.number().min(0).max(1).optional(),
    eager_end_of_turn_confidence: z
      .number()
      .min(0.05)
      .max(1)
      .optional()
      .describe(
        'How sure the service must be of a probable end, at which the language model is asked ahead. More ' +
          'requests, less delay. Default: not at all.',
      ),
    min_turn_silence: z.int().min(50).max(10_000).optional().describe('Milliseconds.'),
    max_turn_silence: z.int().min(50).max(10_000).optional().describe('Milliseconds.'),
    turns,
    extra_query: extraQuery,
  })
  .meta({
    title: 'AssemblyAI',
    description: 'Recognises free speech in six languages, by universal streaming.',
    provider_docs_url: 'https://www.assemblyai.com/docs',
  });

const azureSpeech = z
  .object({
    provider: z.literal('azure_speech'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: z.string().min(1).default('latest_long').describe('For reports only.'),
    region: z
      .string()
      .regex(/^[a-z0-9]{1,40}$/, 'Letters and digits, such as westeurope.')
      .default('eastus'),
    language: z
      .string()
      .min(1)
      .default('en-US')
      .meta({ examples: ['en-US', 'en-GB', 'de-DE', 'es-ES', 'fr-FR', 'hi-IN'] }),
    base_url: address,
    keyterms,
  })
  .meta({
    title: 'Azure Speech',
    description: 'Recognises free speech in many languages. Never tried on a live account.',
    provider_docs_url: 'https://learn.microsoft.com/azure/ai-services/speech-service',
  });

export type AzureSttSettings = z.output<typeof azureSpeech>;

export type DeepgramSettings = z.output<typeof deepgram>;

export type AssemblyAiSettings = z.output<typeof assemblyai>;

export const cloudSttServices = { deepgram, assemblyai, azure_speech: azureSpeech } as const;
