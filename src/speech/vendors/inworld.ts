// Inworld: voices over its websocket.
// From its reference (November 2026); never tried on a live account.

import { describedVoice } from '../tts/described/described-voice.ts';
import { at, listIn, type Vendor, voiceText, voiceTexts } from './vendor.ts';

/** Kinds of faults by gRPC status code. */
const grpcKinds = {
  '3': 'request',
  '4': 'timeout',
  '5': 'request',
  '7': 'forbidden',
  '8': 'rate',
  '13': 'overload',
  '14': 'overload',
  '16': 'auth',
} as const;

/** Inworld: a context is closed only after its audio, since the service may drop the audio otherwise. */
const voice = {
  path: '/tts/v1/voice:streamBidirectional',
  headers: { authorization: 'Basic {key}' },
  format: 'ulaw8',
  begin: [
    {
      create: {
        voiceId: '{voice}',
        modelId: '{model}',
        audioConfig: {
          audioEncoding: 'MULAW',
          sampleRateHertz: 8_000,
          speakingRate: '{speed}',
        },
        language: '{language}',
        deliveryMode: '{delivery_mode}',
        timestampType: 'WORD',
      },
      contextId: '{context}',
    },
  ],
  text: { send_text: { text: '{text}' }, contextId: '{context}' },
  flush: { flush_context: {}, contextId: '{context}' },
  after: [{ close_context: {}, contextId: '{context}' }],
  cancel: [{ close_context: {}, contextId: '{context}' }],
  context: 'result.contextId',
  done: { when: [{ path: 'result.flushCompleted', exists: true }], per: 'text' },
  audio: { path: 'result.audioChunk.audioContent' },
  words: {
    when: [{ path: 'result.audioChunk.timestampInfo.wordAlignment', exists: true }],
    word: 'result.audioChunk.timestampInfo.wordAlignment.words',
    start: 'result.audioChunk.timestampInfo.wordAlignment.wordStartTimeSeconds',
    end: 'result.audioChunk.timestampInfo.wordAlignment.wordEndTimeSeconds',
    // Times restart after each flush.
    from: 'text',
  },
  errors: [
    {
      when: [{ path: 'error', exists: true }],
      detail: 'error.message',
      code: 'error.code',
      kinds: grpcKinds,
    },
    {
      // 5: the context is closed already.
      when: [
        { path: 'result.status.code', not: 0 },
        { path: 'result.status.code', not: 5 },
      ],
      detail: 'result.status.message',
      code: 'result.status.code',
      kinds: grpcKinds,
    },
  ],
  idle_ms_max: 290_000,
};

export const inworld = {
  tts: describedVoice(voice),
  keyCheck: {
    url: at('https://api.inworld.ai', '/voices/v1/voices?pageSize=1'),
    headers: (key) => ({ authorization: `Basic ${key}` }),
  },
  voices: {
    url: at('https://api.inworld.ai', '/voices/v1/voices'),
    headers: (key) => ({ authorization: `Basic ${key}` }),
    read: listIn('voices'),
    voice: (item) => ({
      ...voiceTexts(item),
      voice_id: voiceText(item['voiceId']),
      name: voiceText(item['displayName']),
    }),
  },
} satisfies Vendor;
