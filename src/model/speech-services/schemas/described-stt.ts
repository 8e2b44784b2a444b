// Recognisers that are described as data: a user's own, and presets of services. One schema per provider; the names of
// fields and their defaults are those of the reference.

import { z } from 'zod';
import { recognizerDescription } from '../description.ts';
import { concurrencyLimit } from './concurrency-limit.ts';
import { about, language, named, ownKeys, socketUrl } from './described-fields.ts';
import { describedAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

const keyterms = z
  .array(z.string().trim().min(1).max(100))
  .max(100)
  .optional()
  .describe('Words and names that callers often say.');
const websocketStt = z
  .object({
    provider: z.literal('websocket_stt'),
    base_url: socketUrl.describe('The address up to the path of the description.'),
    ...ownKeys,
    concurrency_limit: concurrencyLimit,
    model: z.string().trim().min(1).max(200).default('websocket_stt').describe('{model}'),
    language: language.optional().describe('{language}'),
    keyterms,
    description: recognizerDescription,
  })
  .meta({
    title: 'Described websocket',
    description: 'A recogniser of your own, whose messages are described (docs/services.md).',
  });

const cartesia = z
  .object({
    provider: z.literal('cartesia'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('ink-whisper', 'ink-2'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.cartesia.ai'),
  })
  .meta(about('Cartesia Ink', 'Many languages.', 'https://docs.cartesia.ai'));

const elevenlabs = z
  .object({
    provider: z.literal('elevenlabs'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('scribe_v2_realtime'),
    language: language.default('en').describe('`auto` detects it.'),
    base_url: describedAddress(/^(wss?|https?)$/).default('https://api.elevenlabs.io'),
    keyterms,
  })
  .meta(about('ElevenLabs Scribe', '90 languages.', 'https://elevenlabs.io/docs'));

const gladia = z
  .object({
    provider: z.literal('gladia'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('solaria-1'),
    language: language.optional().describe('Default: detected.'),
    region: z.enum(['eu-west', 'us-west']).optional(),
    base_url: describedAddress(/^(wss?|https?)$/).default('https://api.gladia.io'),
    keyterms,
  })
  .meta(about('Gladia', 'Ends utterances by its own silence.', 'https://docs.gladia.io'));

const sarvam = z
  .object({
    provider: z.literal('sarvam'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('saarika:v2.5', 'saaras:v3'),
    language: language.default('unknown').meta({ language_region: 'IN' }),
    base_url: socketUrl.default('wss://api.sarvam.ai'),
  })
  .meta(about('Sarvam', 'Languages of India.', 'https://docs.sarvam.ai'));

const smallest = z
  .object({
    provider: z.literal('smallest'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('pulse'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.smallest.ai'),
  })
  .meta(about('Smallest', 'Many languages.', 'https://docs.smallest.ai'));

const soniox = z
  .object({
    provider: z.literal('soniox'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('stt-rt-v5'),
    language: language.optional().describe('A hint. Default: detected.'),
    base_url: socketUrl.default('wss://stt-rt.soniox.com'),
    keyterms,
  })
  .meta(about('Soniox', '60 languages.', 'https://soniox.com/docs'));

const speechmatics = z
  .object({
    provider: z.literal('speechmatics'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('enhanced', 'standard'),
    language: language.default('en').meta({ language_names: { zh: 'cmn' } }),
    base_url: socketUrl.default('wss://eu2.rt.speechmatics.com'),
    keyterms,
  })
  .meta(about('Speechmatics', '50 languages.', 'https://docs.speechmatics.com'));

const xai = z
  .object({
    provider: z.literal('xai'),
    api_key: secretKey,
    concurrency_limit: concurrencyLimit,
    model: named('xai-stt'),
    language: language.default('en'),
    base_url: socketUrl.default('wss://api.x.ai'),
  })
  .meta(about('xAI', 'Ends utterances by its own silence.', 'https://docs.x.ai'));

const ownServer = (title: string) => ({
  title,
  description: 'A server of your own that speaks this protocol, unchanged.',
});

const vapi = z
  .object({
    provider: z.literal('vapi_transcriber'),
    base_url: socketUrl,
    api_key: secretKey.optional().describe('Sent as x-vapi-secret.'),
    model: named('custom'),
  })
  .meta(ownServer("Vapi's custom transcriber"));

const jambonz = z
  .object({
    provider: z.literal('jambonz_stt'),
    base_url: socketUrl,
    api_key: secretKey.optional().describe('Sent as a Bearer token.'),
    model: named('custom'),
    language: language.default('en-US'),
    keyterms,
  })
  .meta(ownServer("jambonz's custom speech recognition"));

export const sttPresetServices = {
  cartesia,
  elevenlabs,
  gladia,
  sarvam,
  smallest,
  soniox,
  speechmatics,
  xai,
  vapi_transcriber: vapi,
  jambonz_stt: jambonz,
} as const;

export const describedSttServices = { ...sttPresetServices, websocket_stt: websocketStt } as const;

export type WebsocketSttSettings = z.output<typeof websocketStt>;
type Presets = typeof sttPresetServices;
export type SttPreset = keyof Presets;
export type SttPresetSettings = z.output<Presets[SttPreset]>;
