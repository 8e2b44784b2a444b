// Soniox: recognition over its websocket.
// From its reference (November 2026); never tried on a live account.

import { describedStt } from '../stt/described/described-stt.ts';
import { at, bearer, type Vendor } from './vendor.ts';

/** Soniox: the key in the header and, for servers before 2027, in the first message as well. */
const stt = {
  path: '/transcribe-websocket',
  headers: { authorization: 'Bearer {key}' },
  open: [
    {
      api_key: '{key}',
      model: '{model}',
      audio_format: 'mulaw',
      sample_rate: 8_000,
      num_channels: 1,
      language_hints: ['{language}'],
      enable_endpoint_detection: false,
      context: { terms: '{terms}' },
    },
  ],
  keepalive: { after_ms: 5_000, message: { type: 'keepalive' } },
  audio: { format: 'ulaw8', packet_ms: 60 },
  tokens: {
    list: 'tokens',
    text: 'text',
    is_final: 'is_final',
    start_ms: 'start_ms',
    end_ms: 'end_ms',
    confidence: 'confidence',
    language: 'language',
    answer: '<fin>',
    hidden: ['<end>'],
  },
  finalize: { message: { type: 'finalize' } },
  errors: [
    {
      when: [{ path: 'error_code', exists: true }],
      detail: 'error_message',
      code: 'error_code',
      kinds: {
        '400': 'request',
        '401': 'auth',
        '402': 'quota',
        '408': 'timeout',
        '429': 'rate',
        '500': 'overload',
        // The service requests a new session.
        '503': 'session',
      },
    },
  ],
  // An empty text ends the stream.
  close: '',
  closed: [{ path: 'finished', equals: true }],
  counted: { path: 'total_audio_proc_ms', unit: 'ms' },
  session_ms_max: 300 * 60_000,
  final_ms_p99: 350,
};

export const soniox = {
  stt: describedStt(stt),
  keyCheck: { url: at('https://api.soniox.com', '/v1/models'), headers: bearer },
} satisfies Vendor;
