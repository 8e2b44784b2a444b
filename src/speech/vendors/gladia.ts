// Gladia: its live interface, version 2.
// From its reference (November 2026); never tried on a live account.

import { describedStt } from '../stt/described/described-stt.ts';
import { at, header, type Vendor } from './vendor.ts';

/** The address of the websocket comes from a request, with a token. Without a finalize message, the service's silence
 *  detection ends an utterance. */
const live = {
  path: '/v2/live',
  query: { region: '{region}' },
  headers: { 'x-gladia-key': '{key}' },
  session: {
    body: {
      encoding: 'wav/ulaw',
      bit_depth: 8,
      sample_rate: 8_000,
      channels: 1,
      model: '{model}',
      endpointing: 0.3,
      language_config: { languages: ['{known_language}'], code_switching: false },
      realtime_processing: {
        custom_vocabulary: '{has_terms}',
        custom_vocabulary_config: { vocabulary: '{terms}' },
      },
      messages_config: {
        receive_partial_transcripts: true,
        receive_final_transcripts: true,
        receive_speech_events: false,
        receive_acknowledgments: false,
        receive_lifecycle_events: true,
      },
    },
    url: 'url',
  },
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcript' },
        { path: 'data.is_final', equals: true },
      ],
      is: 'final',
      text: 'data.utterance.text',
      confidence: 'data.utterance.confidence',
      language: 'data.utterance.language',
      words: { list: 'data.utterance.words', word: 'word', start: 'start', end: 'end' },
    },
    {
      when: [{ path: 'type', equals: 'transcript' }],
      is: 'partial',
      text: 'data.utterance.text',
    },
  ],
  errors: [
    { when: [{ path: 'error', exists: true }], detail: 'error.message', kind: 'request' },
    { when: [{ path: 'type', equals: 'error' }], detail: 'data.message', kind: 'overload' },
  ],
  keepalive: { after_ms: 20_000, message: { type: 'audio_chunk', data: { chunk: '' } } },
  close: { type: 'stop_recording' },
  closed: [{ path: 'type', equals: 'end_session' }],
  counted: {
    when: [{ path: 'type', equals: 'end_recording' }],
    path: 'data.recording_duration',
  },
  final_ms_p99: 1_490,
};

export const gladia = {
  stt: describedStt(live),
  keyCheck: {
    url: at('https://api.gladia.io', '/v2/live?limit=1'),
    headers: header('x-gladia-key'),
  },
} satisfies Vendor;
