// Voices with protocols that many programs support: a user's own, or a service's. One schema per provider.

import { z } from 'zod';
import { serviceAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

const language = z.string().trim().min(1).max(35).describe('BCP 47, or as the server names it.');
const voice = z.string().trim().min(1).max(200);

const wyoming = z
  .object({
    provider: z.literal('wyoming'),
    base_url: serviceAddress(/^tcp$/).default('tcp://localhost:10200'),
    voice: voice
      .optional()
      .describe("A voice of the server: en_US-lessac-medium. Default: the server's."),
    speaker: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Speaker of a voice with several speakers.'),
    language: language.optional(),
    streaming: z
      .boolean()
      .default(false)
      .describe('The server takes text in pieces (Piper: --streaming). Others speak late then.'),
  })
  .meta({
    title: 'Wyoming',
    description: 'A voice of your own behind the Wyoming protocol, such as Piper.',
  });

export type WyomingTtsSettings = z.output<typeof wyoming>;

const httpUrl = serviceAddress(/^https?$/);
const model = z.string().trim().min(1).max(200).meta({ allow_custom_input: true });
const speed = z.number().min(0.25).max(4).optional();

const openai = z
  .object({
    provider: z.literal('openai'),
    api_key: secretKey,
    model: model.default('gpt-4o-mini-tts').meta({
      description: 'OpenAI ends all models of this interface on 6 January 2027.',
      examples: ['gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'],
    }),
    voice: voice.default('alloy'),
    base_url: httpUrl.default('https://api.openai.com/v1'),
    speed,
    instructions: z.string().max(2_000).optional().describe('How to speak: calmly, warmly.'),
  })
  .meta({ title: 'OpenAI', description: 'Speaks each sentence by one request.' });

const speaches = z
  .object({
    provider: z.literal('speaches'),
    model: model.default('kokoro').meta({ examples: ['kokoro', 'hexgrad/Kokoro-82M'] }),
    voice: voice.default('af_heart'),
    base_url: httpUrl.default('http://localhost:8000/v1'),
    speed,
    api_key: secretKey.optional(),
  })
  .meta({
    title: 'Speaches',
    description: 'Kokoro or Piper on a server of your own: Speaches or Kokoro-FastAPI.',
  });

const openAiCompatible = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: httpUrl.describe('What comes before /audio/speech: https://speech.example.com/v1'),
    model,
    voice,
    api_key: secretKey.optional(),
    speed,
    response_format: z.enum(['pcm', 'wav']).default('pcm'),
    sample_rate: z
      .union([8_000, 16_000, 22_050, 24_000, 44_100, 48_000].map((rate) => z.literal(rate)))
      .default(24_000)
      .describe('Sample rate of audio without a WAV header.'),
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any server with the speech interface of OpenAI.',
  });

const azureSpeech = z
  .object({
    provider: z.literal('azure_speech'),
    api_key: secretKey,
    model: model.default('neural'),
    region: z
      .string()
      .regex(/^[a-z0-9]{1,40}$/, 'Letters and digits, such as westeurope.')
      .default('eastus'),
    voice: voice.default('en-US-AriaNeural'),
    language: language.optional().describe("Default: the voice's."),
    speed: z.number().min(0.5).max(2).default(1),
    base_url: httpUrl.optional().describe('Another cloud, or a container of your own.'),
  })
  .meta({ title: 'Azure Speech', description: 'Many languages; µ-law at 8 kHz.' });

export type AzureTtsSettings = z.output<typeof azureSpeech>;
export type OpenAiTtsSettings = z.output<typeof openai>;
export type SpeachesTtsSettings = z.output<typeof speaches>;
export type OpenAiCompatibleTtsSettings = z.output<typeof openAiCompatible>;

export const genericTtsServices = {
  wyoming,
  azure_speech: azureSpeech,
  openai,
  speaches,
  openai_compatible: openAiCompatible,
} as const;
