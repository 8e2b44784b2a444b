// Speechmatics: recognition over its websocket, and voices by requests.
// From its reference (November 2026); never tried on a live account.

import { describedStt } from '../stt/described/described-stt.ts';
import { requestVoice } from '../tts/described/described-request.ts';
import { bearer, type Vendor, vendorsOwn } from './vendor.ts';

const stt = {
  path: '/v2',
  headers: { authorization: 'Bearer {key}' },
  open: [
    {
      message: 'StartRecognition',
      audio_format: { type: 'raw', encoding: 'mulaw', sample_rate: 8_000 },
      transcription_config: {
        language: '{language}',
        model: '{model}',
        max_delay: 1,
        max_delay_mode: 'flexible',
        enable_partials: true,
        additional_vocab: '{terms}',
      },
    },
  ],
  ready: [{ path: 'message', equals: 'RecognitionStarted' }],
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [{ path: 'message', equals: 'AddTranscript' }],
      is: 'final',
      text: 'metadata.transcript',
      language: 'results.0.alternatives.0.language',
      confidence: 'results.0.alternatives.0.confidence',
      words: {
        list: 'results',
        when: [{ path: 'type', equals: 'word' }],
        word: 'alternatives.0.content',
        start: 'start_time',
        end: 'end_time',
      },
    },
    {
      when: [{ path: 'message', equals: 'AddPartialTranscript' }],
      is: 'partial',
      text: 'metadata.transcript',
      words: {
        list: 'results',
        when: [{ path: 'type', equals: 'word' }],
        word: 'alternatives.0.content',
        start: 'start_time',
        end: 'end_time',
      },
    },
  ],
  is_delta: true,
  finalize: {
    message: { message: 'ForceEndOfUtterance' },
    // Sent at once, it would cut the last word.
    after_ms: 100,
    answer: [{ path: 'message', equals: 'EndOfUtterance' }],
  },
  errors: [
    {
      when: [{ path: 'message', equals: 'Error' }],
      detail: 'reason',
      code: 'type',
      kinds: {
        not_authorised: 'auth',
        not_allowed: 'forbidden',
        // A limit of concurrent connections; the time limit is the contract's.
        quota_exceeded: 'rate',
        timelimit_exceeded: 'quota',
        idle_timeout: 'session',
        session_timeout: 'session',
        job_error: 'overload',
        unknown_error: 'overload',
        protocol_error: 'protocol',
        invalid_message: 'request',
        invalid_model: 'request',
        invalid_language: 'request',
        invalid_config: 'request',
        invalid_audio_type: 'request',
        invalid_output_format: 'request',
      },
    },
  ],
  close: { message: 'EndOfStream', last_seq_no: '{packets}' },
  closed: [{ path: 'message', equals: 'EndOfTranscript' }],
  final_ms_p99: 740,
};

/** Speechmatics offers 16 kHz formats only. */
const voice = {
  path: '/generate/{voice}',
  query: { output_format: 'pcm_16000' },
  headers: { authorization: 'Bearer {key}' },
  body: { text: '{text}' },
  audio: { in: 'body', format: 's16@16000' },
};

export const speechmatics = {
  stt: describedStt(stt),
  tts: requestVoice(voice),
  // Requests a temporary key that is valid for one minute, as browsers use.
  keyCheck: {
    method: 'POST',
    url: vendorsOwn('speechmatics.com', 'https://mp.speechmatics.com/v1/api_keys?type=rt'),
    body: '{"ttl":60}',
    headers: bearer,
  },
} satisfies Vendor;
