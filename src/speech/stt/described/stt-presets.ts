// Presets: descriptions of services from their references (November 2026). None of them was tried on a live account.
// Users correct a wrong one with a copy in `websocket_stt`.

import {
  type RecognizerDescription,
  recognizerDescription,
} from '../../../model/speech-services/description.ts';
import type { SttPreset } from '../../../model/speech-services/schemas/described-stt.ts';

import { gladia } from './gladia-preset.ts';
import { jambonz, vapi } from './own-server-presets.ts';

const bearer = { authorization: 'Bearer {key}' };

/** Cartesia Ink, manual turns: texts are pieces with their own spaces. */
const cartesia = {
  path: '/stt/websocket',
  query: { model: '{model}', language: '{language}', encoding: 'pcm_mulaw', sample_rate: '8000' },
  headers: { 'x-api-key': '{key}', 'cartesia-version': '2026-03-01' },
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcript' },
        { path: 'is_final', equals: true },
      ],
      is: 'final',
      text: 'text',
      language: 'language',
      words: { list: 'words', word: 'word', start: 'start', end: 'end' },
    },
    { when: [{ path: 'type', equals: 'transcript' }], is: 'partial', text: 'text' },
  ],
  is_delta: true,
  finalize: { message: 'finalize', answer: [{ path: 'type', equals: 'flush_done' }] },
  errors: [
    {
      when: [{ path: 'type', equals: 'error' }],
      detail: 'message',
      code: 'error_code',
      kinds: { concurrency_limited: 'rate', quota_exceeded: 'quota', unauthorized: 'auth' },
    },
  ],
  close: 'close',
  closed: [{ path: 'type', equals: 'done' }],
  final_ms_p99: 810,
};

const scribeFaults = {
  auth_error: 'auth',
  quota_exceeded: 'quota',
  rate_limited: 'rate',
  resource_exhausted: 'rate',
  queue_overflow: 'rate',
  session_time_limit_exceeded: 'session',
  insufficient_audio_activity: 'session',
  transcriber_error: 'overload',
  error: 'overload',
  input_error: 'request',
  invalid_request: 'request',
  chunk_size_exceeded: 'request',
  unaccepted_terms: 'forbidden',
} as const;

/** ElevenLabs Scribe, manual commits. A committed text arrives in two forms: the one with times is used. */
const elevenlabs = {
  path: '/v1/speech-to-text/realtime',
  query: {
    model_id: '{model}',
    audio_format: 'ulaw_8000',
    commit_strategy: 'manual',
    include_timestamps: 'true',
    language_code: '{known_language}',
    keyterms: '{terms}',
  },
  headers: { 'xi-api-key': '{key}' },
  ready: [{ path: 'message_type', equals: 'session_started' }],
  audio: {
    format: 'ulaw8',
    packet_ms: 100,
    message: {
      message_type: 'input_audio_chunk',
      audio_base_64: '{audio}',
      commit: false,
      sample_rate: 8_000,
    },
  },
  terms: { count_max: 50, characters_max: 20 },
  results: [
    {
      when: [{ path: 'message_type', equals: 'committed_transcript_with_timestamps' }],
      is: 'final',
      text: 'text',
      language: 'language_code',
      words: {
        list: 'words',
        when: [{ path: 'type', equals: 'word' }],
        word: 'text',
        start: 'start',
        end: 'end',
      },
    },
    { when: [{ path: 'message_type', equals: 'partial_transcript' }], is: 'partial', text: 'text' },
  ],
  finalize: {
    message: {
      message_type: 'input_audio_chunk',
      audio_base_64: '',
      commit: true,
      sample_rate: 8_000,
    },
    // The second form: too little audio since the last commit to contain words.
    answer: [
      {
        path: 'message_type',
        in: ['committed_transcript_with_timestamps', 'commit_throttled'],
      },
    ],
  },
  errors: [
    {
      when: [{ path: 'message_type', in: Object.keys(scribeFaults) }],
      detail: 'error',
      code: 'message_type',
      kinds: scribeFaults,
    },
  ],
  // The service closes idle sessions with this code.
  closes: { '1000': 'session' },
  final_ms_p99: 410,
};

/** Sarvam's first interface: the words answer a flush. */
const sarvam = {
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

const smallest = {
  path: '/waves/v1/stt/live',
  query: {
    model: '{model}',
    language: '{language}',
    encoding: 'mulaw',
    sample_rate: '8000',
    format: 'true',
    numerals: 'true',
  },
  headers: bearer,
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [{ path: 'is_final', equals: true }],
      is: 'final',
      text: 'transcript',
      language: 'language',
      words: { list: 'words', word: 'word', start: 'start', end: 'end' },
    },
    { when: [{ path: 'is_final', equals: false }], is: 'partial', text: 'transcript' },
  ],
  finalize: { message: { type: 'finalize' }, answer: [{ path: 'is_final', equals: true }] },
  errors: [{ when: [{ path: 'error', exists: true }], detail: 'error', kind: 'overload' }],
  close: { type: 'close_stream' },
  closed: [{ path: 'is_last', equals: true }],
  final_ms_p99: 1_590,
};

/** Soniox: the key in the header and, for servers before 2027, in the first message as well. */
const soniox = {
  path: '/transcribe-websocket',
  headers: bearer,
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

const speechmatics = {
  path: '/v2',
  headers: bearer,
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

/** xAI has no finalize message: its silence detection ends an utterance. */
const xai = {
  path: '/v1/stt',
  query: {
    sample_rate: '8000',
    encoding: 'mulaw',
    interim_results: 'true',
    endpointing: '300',
    language: '{language}',
  },
  headers: bearer,
  ready: [{ path: 'type', equals: 'transcript.created' }],
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcript.partial' },
        { path: 'is_final', equals: true },
      ],
      is: 'final',
      text: 'text',
      words: { list: 'words', word: 'word', start: 'start', end: 'end' },
    },
    { when: [{ path: 'type', equals: 'transcript.partial' }], is: 'partial', text: 'text' },
  ],
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'message', kind: 'overload' }],
  close: { type: 'audio.done' },
  closed: [{ path: 'type', equals: 'transcript.done' }],
  counted: { when: [{ path: 'type', equals: 'transcript.done' }], path: 'duration' },
  final_ms_p99: 2_140,
};

const described = {
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
} satisfies Record<SttPreset, unknown>;

/** Presets pass the same checks as a user's own description. */
export const sttPresets = Object.fromEntries(
  Object.entries(described).map(([name, each]) => [name, recognizerDescription.parse(each)]),
) as Record<SttPreset, RecognizerDescription>;
