// Recognisers with protocols that many programs support: a user's own, or a service's. One schema per provider.

import { z } from 'zod';
import { concurrencyLimit } from './concurrency-limit.ts';
import { serviceAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

const language = z.string().trim().min(1).max(35).describe('BCP 47, or as the server names it.');

const vosk = z
  .object({
    provider: z.literal('vosk'),
    base_url: serviceAddress(/^wss?$/).default('ws://localhost:2700'),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
    concurrency_limit: concurrencyLimit,
    model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The name of the server's model, for reports only."),
    phrases: z
      .boolean()
      .default(true)
      .describe("A question's closed list of answers becomes the server's phrase list."),
  })
  .meta({ title: 'Vosk server', description: 'A Vosk server of your own, over its websocket.' });

export type VoskSettings = z.output<typeof vosk>;

const wyoming = z
  .object({
    provider: z.literal('wyoming'),
    base_url: serviceAddress(/^tcp$/).default('tcp://localhost:10300'),
    model: z.string().min(1).max(200).optional().describe("The server's default if not set."),
    language: language.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server sends words while it still recognises.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A recogniser of your own behind the Wyoming protocol, such as faster-whisper.',
  });

export type WyomingSttSettings = z.output<typeof wyoming>;

const httpUrl = serviceAddress(/^https?$/);
const model = z.string().trim().min(1).max(200).meta({ allow_custom_input: true });
const prompt = z
  .string()
  .max(500)
  .optional()
  .describe('Words and names that callers use, for a model that takes a prompt.');
const path = z.string().max(200).regex(/^\//, 'Begins with a slash.');

/** Fields of the services with OpenAI's interface. */
const openAiLike = { language: language.optional(), prompt };

const openai = z
  .object({
    provider: z.literal('openai'),
    api_key: secretKey,
    model: model.default('gpt-transcribe').meta({ examples: ['gpt-transcribe'] }),
    base_url: httpUrl.default('https://api.openai.com/v1'),
    ...openAiLike,
  })
  .meta({ title: 'OpenAI', description: 'Transcribes each utterance as a whole.' });

const groq = z
  .object({
    provider: z.literal('groq'),
    api_key: secretKey,
    model: model.default('whisper-large-v3-turbo').meta({
      examples: ['whisper-large-v3-turbo', 'whisper-large-v3'],
    }),
    base_url: httpUrl.default('https://api.groq.com/openai/v1'),
    ...openAiLike,
  })
  .meta({ title: 'Groq', description: 'Whisper, for each utterance as a whole.' });

export type OpenAiSttSettings = z.output<typeof openai> | z.output<typeof groq>;

const speaches = z
  .object({
    provider: z.literal('speaches'),
    model: model.default('Systran/faster-distil-whisper-small.en').meta({
      examples: ['Systran/faster-distil-whisper-small.en', 'Systran/faster-whisper-large-v3'],
    }),
    language: language.optional(),
    base_url: httpUrl.default('http://localhost:8000/v1'),
    api_key: secretKey.optional(),
  })
  .meta({ title: 'Speaches', description: 'faster-whisper on a server of your own.' });

export type SpeachesSttSettings = z.output<typeof speaches>;

const huggingface = z
  .object({
    provider: z.literal('huggingface'),
    api_key: secretKey,
    model: model.default('openai/whisper-large-v3-turbo').meta({
      examples: ['openai/whisper-large-v3-turbo', 'openai/whisper-large-v3'],
    }),
    base_url: httpUrl.default('https://router.huggingface.co/hf-inference'),
    bill_to: z.string().trim().min(1).max(200).optional().describe('The organization that pays.'),
    return_timestamps: z.boolean().default(false).describe('Without effect: times are not used.'),
  })
  .meta({ title: 'Hugging Face', description: 'Transcribes each utterance as a whole.' });

export type HuggingFaceSettings = z.output<typeof huggingface>;

const whisperCpp = z
  .object({
    provider: z.literal('whisper_cpp'),
    base_url: httpUrl.default('http://localhost:8080'),
    path: path.default('/inference').describe('As the server was started with.'),
    language: language.optional(),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
  })
  .meta({ title: 'whisper.cpp', description: 'Its server: one utterance at a time.' });

export type WhisperCppSettings = z.output<typeof whisperCpp>;

const openAiCompatible = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: httpUrl.describe('What comes before the path: https://speech.example.com/v1'),
    model,
    api_key: secretKey.optional(),
    path: path.default('/audio/transcriptions'),
    response_format: z
      .enum(['json', 'verbose_json'])
      .default('json')
      .describe(
        'verbose_json has times, and the probability that there is no speech; not every server has it.',
      ),
    sample_rate: z.union([z.literal(8_000), z.literal(16_000)]).default(8_000),
    ...openAiLike,
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any server with the transcription interface of OpenAI.',
  });

export type OpenAiCompatibleSttSettings = z.output<typeof openAiCompatible>;

export const genericSttServices = {
  vosk,
  wyoming,
  openai,
  groq,
  speaches,
  huggingface,
  whisper_cpp: whisperCpp,
  openai_compatible: openAiCompatible,
} as const;
