// Sarvam: chat models, and recognition and voices over websockets.
// From its reference (November 2026); never tried on a live account.

import type { LlmServiceSettings } from '../../model/speech-services/services.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import { createChatModel } from '../llm/openai/openai.ts';
import { describedStt } from '../stt/described/described-stt.ts';
import { describedVoice } from '../tts/described/described-voice.ts';
import { at, header, type Vendor } from './vendor.ts';

/** Sarvam's first interface: the words answer a flush. */
const stt = {
  path: '/speech-to-text/ws',
  query: {
    'language-code': '{language}',
    model: '{model}',
    vad_signals: 'true',
    flush_signal: 'true',
    high_vad_sensitivity: 'true',
    sample_rate: '8000',
    input_audio_codec: 'pcm_s16le',
  },
  headers: { 'api-subscription-key': '{key}' },
  audio: {
    format: 's16@8000',
    packet_ms: 100,
    message: { audio: { data: '{audio}', sample_rate: 8_000, encoding: 'audio/wav' } },
  },
  results: [
    {
      when: [{ path: 'type', equals: 'data' }],
      is: 'final',
      text: 'data.transcript',
      language: 'data.language_code',
    },
  ],
  finalize: { message: { type: 'flush' }, answer: [{ path: 'type', equals: 'data' }] },
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'data.error', code: 'data.code' }],
  closes: { '1003': 'rate', '1008': 'session' },
  final_ms_p99: 1_170,
};

/** Sarvam has no cancel message. */
const voice = {
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

export const sarvam = {
  llm: (settings: LlmServiceSettings<'sarvam'>, means: ModelMeans) =>
    createChatModel(settings, means, { temperature: settings.temperature }),
  stt: describedStt(stt),
  tts: describedVoice(voice),
  keyCheck: {
    url: at('https://api.sarvam.ai', '/text-to-speech/pronunciation-dictionary'),
    headers: header('api-subscription-key'),
  },
} satisfies Vendor;
