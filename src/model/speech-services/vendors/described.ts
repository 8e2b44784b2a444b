// Recognisers and voices of a user's own that a description gives: its messages are data.

import { z } from 'zod';
import {
  recognizerDescription,
  requestVoiceDescription,
  voiceDescription,
} from '../description.ts';
import {
  concurrencyLimit,
  describedHttpUrl,
  keyterms,
  language,
  secretKey,
  socketUrl,
} from '../service-fields.ts';

/** Key fields. */
const ownKeys = {
  api_key: secretKey.optional().describe('{key} in the description.'),
  api_secret: secretKey.optional().describe('{secret}: a second key, for services with two.'),
};

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

/** Fields of the voices. */
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
    base_url: describedHttpUrl.describe('The address up to the path of the description.'),
    model: z.string().trim().min(1).max(200).default('http_tts').describe('{model}'),
    ...own,
    description: requestVoiceDescription,
  })
  .meta({
    title: 'Described requests',
    description: 'A voice of your own, a request for each sentence (docs/services.md).',
  });

export const described = { stt: websocketStt, tts: websocketTts, requests: httpTts } as const;
