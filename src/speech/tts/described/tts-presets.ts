// Presets of voices behind websockets, from their references (November 2026). None of them was tried on a live account.
// Users correct a wrong one with a copy in `websocket_tts`.

import {
  type VoiceDescription,
  voiceDescription,
} from '../../../model/speech-services/description.ts';
import type { TtsPreset } from '../../../model/speech-services/schemas/described-tts.ts';

const bearer = { authorization: 'Bearer {key}' };

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
const inworld = {
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

/** LMNT: the key is in the first message. */
const lmnt = {
  path: '/v1/ai/speech/stream',
  format: 's16@8000',
  open: [
    {
      'X-API-Key': '{key}',
      'lmnt-version': '1.1',
      voice: '{voice}',
      model: '{model}',
      format: 'pcm_s16le',
      sample_rate: 8_000,
      language: '{language}',
      return_timestamps: true,
    },
  ],
  ready: [{ path: 'type', equals: 'ready' }],
  text: { type: 'text', text: '{text}' },
  flush: { type: 'flush', nonce: 1 },
  done: { when: [{ path: 'type', equals: 'flush_complete' }], per: 'text' },
  cancel: [{ type: 'reset', nonce: 2 }],
  cancelled: [{ path: 'type', equals: 'reset_complete' }],
  words: {
    when: [{ path: 'type', equals: 'timestamps' }],
    list: 'timestamps',
    word: 'text',
    start: 'start',
    length: 'duration',
    from: 'text',
  },
  errors: [
    {
      when: [{ path: 'type', equals: 'error' }],
      detail: 'error.message',
      code: 'error.type',
      kinds: {
        authentication_error: 'auth',
        permission_error: 'forbidden',
        invalid_request_error: 'request',
        rate_limit_error: 'rate',
        overloaded_error: 'overload',
      },
      kind: 'overload',
    },
  ],
  close: { type: 'finish' },
  idle_ms_max: 290_000,
};

/** Rime: a clear affects the whole connection and is not confirmed, so a cancelled connection is closed. */
const rime = {
  path: '/ws3',
  query: {
    speaker: '{voice}',
    modelId: '{model}',
    audioFormat: 'mulaw',
    samplingRate: '8000',
    lang: '{language}',
    segment: 'never',
    speedAlpha: '{speed}',
  },
  headers: bearer,
  format: 'ulaw8',
  text: { text: '{text}', contextId: '{context}' },
  flush: { operation: 'flush' },
  cancel: [{ operation: 'clear' }],
  done: { when: [{ path: 'type', equals: 'done' }], per: 'text' },
  audio: { when: [{ path: 'type', equals: 'chunk' }], path: 'data' },
  words: {
    when: [{ path: 'type', equals: 'timestamps' }],
    word: 'word_timestamps.words',
    start: 'word_timestamps.start',
    end: 'word_timestamps.end',
    from: 'text',
  },
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'message', kind: 'overload' }],
  idle_ms_max: 290_000,
};

/** Sarvam has no cancel message. */
const sarvam = {
  path: '/text-to-speech/ws',
  query: { model: '{model}', send_completion_event: 'true' },
  headers: { 'api-subscription-key': '{key}' },
  format: 'ulaw8',
  open: [
    {
      type: 'config',
      data: {
        language_code: '{language}',
        speaker: '{voice}',
        speech_sample_rate: 8_000,
        output_audio_codec: 'mulaw',
        pace: '{speed}',
        enable_preprocessing: true,
      },
    },
  ],
  text: { type: 'text', data: { text: '{text}' } },
  flush: { type: 'flush' },
  done: {
    when: [
      { path: 'type', equals: 'event' },
      { path: 'data.event_type', equals: 'final' },
    ],
    per: 'text',
  },
  audio: { when: [{ path: 'type', equals: 'audio' }], path: 'data.audio' },
  keepalive: { after_ms: 20_000, message: { type: 'ping' } },
  errors: [
    {
      when: [{ path: 'type', equals: 'error' }],
      detail: 'data.message',
      code: 'data.code',
      kinds: { '400': 'request', '401': 'auth', '402': 'quota', '403': 'forbidden', '429': 'rate' },
      kind: 'overload',
    },
  ],
  idle_ms_max: 290_000,
};

/** Smallest: each text is a separate request; no cancel message. */
const smallest = {
  path: '/waves/v1/tts/live',
  headers: bearer,
  format: 'ulaw8',
  text: {
    text: '{text}',
    voice_id: '{voice}',
    model: '{model}',
    language: '{language}',
    sample_rate: 8_000,
    speed: '{speed}',
    word_timestamps: true,
    output_format: 'ulaw',
  },
  done: { when: [{ path: 'status', equals: 'complete' }], per: 'text' },
  audio: { when: [{ path: 'status', equals: 'chunk' }], path: 'data.audio' },
  words: {
    when: [{ path: 'status', equals: 'word_timestamp' }],
    word: 'data.word',
    start: 'data.start',
    end: 'data.end',
    from: 'text',
  },
  errors: [{ when: [{ path: 'status', equals: 'error' }], detail: 'message', kind: 'overload' }],
  // A space keeps the connection open without speech.
  keepalive: {
    after_ms: 25_000,
    message: { text: ' ', voice_id: '{voice}', model: '{model}', sample_rate: 8_000 },
  },
  idle_ms_max: 290_000,
};

const xai = {
  path: '/v1/tts',
  query: { voice: '{voice}', language: '{language}', codec: 'mulaw', sample_rate: '8000' },
  headers: bearer,
  format: 'ulaw8',
  text: { type: 'text.delta', delta: '{text}' },
  end: [{ type: 'text.done' }],
  cancel: [{ type: 'text.clear' }],
  cancelled: [{ path: 'type', equals: 'audio.clear' }],
  done: { when: [{ path: 'type', equals: 'audio.done' }], per: 'utterance' },
  audio: { when: [{ path: 'type', equals: 'audio.delta' }], path: 'delta' },
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'message', kind: 'overload' }],
  idle_ms_max: 290_000,
  age_ms_max: 1_800_000,
};

const described = { inworld, lmnt, rime, sarvam, smallest, xai } satisfies Record<
  TtsPreset,
  unknown
>;

/** Presets pass the same checks as a user's own description. */
export const ttsPresets = Object.fromEntries(
  Object.entries(described).map(([name, each]) => [name, voiceDescription.parse(each)]),
) as Record<TtsPreset, VoiceDescription>;
