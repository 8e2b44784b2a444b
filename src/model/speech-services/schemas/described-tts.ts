// Voices that are described as data: a user's own, and presets of services. One schema per provider; the names of
// fields and their defaults are those of the reference.

import { z } from 'zod';
import { requestVoiceDescription, voiceDescription } from '../description.ts';
import { concurrencyLimit } from './concurrency-limit.ts';
import { about, language, named, ownKeys, socketUrl } from './described-fields.ts';
import { describedAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

const httpUrl = describedAddress(/^https?$/);
const speedOf = (min: number, max: number) => z.number().min(min).max(max).optional();

const own = {
  ...ownKeys,
  voice: z.string().trim().min(1).max(200).default('default').describe('{voice}'),
  language: language.optional().describe('{language}'),
  speed: z.number().min(0.1).max(10).optional().describe('{speed}'),
};

const websocketTts = z
  .object({
    provider: z.literal('websocket_tts'),
    base_url: socketUrl.describe('The address up to the path of the description.'),
    concurrency_limit: concurrencyLimit,
    model: z.string().trim().min(1).max(200).default('websocket_tts').describe('{model}'),
    ...own,
    description: voiceDescription,
  })
  .meta({
    title: 'Described websocket',
    description: 'A voice of your own, whose messages are described (docs/services.md).',
  });

const httpTts = z
  .object({
    provider: z.literal('http_tts'),
    base_url: httpUrl.describe('The address up to the path of the description.'),
    model: z.string().trim().min(1).max(200).default('http_tts').describe('{model}'),
    ...own,
    description: requestVoiceDescription,
  })
  .meta({
    title: 'Described requests',
    description: 'A voice of your own, a request for each sentence (docs/services.md).',
  });

const inworld = z
  .object({
    provider: z.literal('inworld'),
    api_key: secretKey.describe('As the portal shows it, in Base64.'),
    concurrency_limit: concurrencyLimit,
    model: named('inworld-tts-2', 'inworld-tts-1.5'),
    voice: named('Ashley'),
    language: language.default('en-US'),
    speed: speedOf(0.25, 4),
    delivery_mode: z.enum(['STABLE', 'BALANCED', 'CREATIVE']).optional(),
    base_url: socketUrl.default('wss://api.inworld.ai'),
  })
  .meta(about('Inworld', 'Word times.', 'https://docs.inworld.ai'));

const lmnt = z
  .object({
    provider: z.literal('lmnt'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('aurora', 'blizzard'),
    voice: named('lily', 'daniel', 'ava', 'caleb', 'leah', 'zeke'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.lmnt.com'),
  })
  .meta(about('LMNT', 'Word times.', 'https://docs.lmnt.com'));

const rime = z
  .object({
    provider: z.literal('rime'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('arcana', 'mistv3', 'mistv2', 'mist', 'coda'),
    voice: named('celeste'),
    language: named('eng', 'spa', 'fra', 'ger', 'hin').describe('ISO 639-2, or 639-1 (en).'),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://users-ws.rime.ai'),
  })
  .meta(about('Rime', 'Word times.', 'https://docs.rime.ai'));

const sarvam = z
  .object({
    provider: z.literal('sarvam'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('bulbul:v2', 'bulbul:v3'),
    voice: named('anushka', 'manisha', 'vidya', 'arya', 'abhilash', 'karun', 'hitesh'),
    language: language.default('hi-IN').meta({ language_region: 'IN' }),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://api.sarvam.ai'),
  })
  .meta(about('Sarvam', 'Languages of India.', 'https://docs.sarvam.ai'));

const smallest = z
  .object({
    provider: z.literal('smallest'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('lightning_v3.1', 'lightning_v3.1_pro'),
    voice: named('sophia', 'avery', 'liam', 'lucas', 'olivia', 'ryan', 'freya', 'william'),
    language: language.default('en'),
    speed: speedOf(0.5, 2),
    base_url: socketUrl.default('wss://api.smallest.ai'),
  })
  .meta(about('Smallest', 'Word times.', 'https://docs.smallest.ai'));

const xai = z
  .object({
    provider: z.literal('xai'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('xai-tts'),
    voice: named('eve', 'ara', 'leo', 'rex', 'sal'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.x.ai'),
  })
  .meta(about('xAI', 'No word times.', 'https://docs.x.ai'));

const google = z
  .object({
    provider: z.literal('google'),
    api_key: secretKey.describe('A key of the API; service accounts are not supported.'),
    model: named('chirp_3_hd'),
    voice: named('en-US-Chirp3-HD-Charon'),
    language: language.default('en-US'),
    speed: speedOf(0.25, 2),
    base_url: httpUrl.default('https://texttospeech.googleapis.com'),
  })
  .meta(about('Google', 'A request for each sentence.', 'https://cloud.google.com/text-to-speech'));

const minimax = z
  .object({
    provider: z.literal('minimax'),
    api_key: secretKey,
    group_id: z.string().trim().min(1).max(100),
    model: named('speech-2.8-hd', 'speech-2.8-turbo'),
    voice: named('English_Graceful_Lady', 'English_Insightful_Speaker', 'English_radiant_girl'),
    speed: z.number().min(0.5).max(2).default(1),
    base_url: httpUrl.default('https://api.minimax.io/v1/t2a_v2'),
  })
  .meta(about('MiniMax', 'A request for each sentence.', 'https://platform.minimax.io'));

const camb = z
  .object({
    provider: z.literal('camb'),
    api_key: secretKey,
    model: z.enum(['mars-flash', 'mars-pro', 'mars-instruct']).default('mars-flash'),
    voice: named('147320').describe("A voice's number."),
    language: language.default('en-us'),
    base_url: httpUrl.default('https://client.camb.ai'),
  })
  .meta(about('Camb', 'A request for each sentence.', 'https://docs.camb.ai'));

const speechmatics = z
  .object({
    provider: z.literal('speechmatics'),
    api_key: secretKey,
    model: named('speechmatics-tts'),
    voice: named('sarah', 'theo', 'megan', 'jack').describe('In the address; lower case.'),
    base_url: httpUrl.default('https://preview.tts.speechmatics.com'),
  })
  .meta({
    ...about(
      'Speechmatics',
      'A request for each sentence. A preview of the vendor.',
      'https://docs.speechmatics.com/text-to-speech/quickstart',
    ),
    languages: ['en'],
  });

const piper = z
  .object({
    provider: z.literal('piper_http'),
    base_url: httpUrl.default('http://localhost:5000'),
    api_key: secretKey.optional().describe('Sent as a Bearer token, for a proxy that checks it.'),
    model: z.string().trim().min(1).max(200).default('piper'),
    voice: named('en_US-lessac-medium'),
  })
  .meta({ title: 'Piper', description: "Piper's HTTP server, of your own." });

export const ttsPresetServices = { inworld, lmnt, rime, sarvam, smallest, xai } as const;
export const requestTtsPresetServices = {
  google,
  minimax,
  camb,
  speechmatics,
  piper_http: piper,
} as const;
export const describedTtsServices = {
  ...ttsPresetServices,
  ...requestTtsPresetServices,
  websocket_tts: websocketTts,
  http_tts: httpTts,
} as const;

export type WebsocketTtsSettings = z.output<typeof websocketTts>;
export type HttpTtsSettings = z.output<typeof httpTts>;
type Presets = typeof ttsPresetServices;
type RequestPresets = typeof requestTtsPresetServices;
export type TtsPreset = keyof Presets;
export type TtsPresetSettings = z.output<Presets[TtsPreset]>;
export type RequestTtsPreset = keyof RequestPresets;
export type RequestTtsPresetSettings = z.output<RequestPresets[RequestTtsPreset]>;
