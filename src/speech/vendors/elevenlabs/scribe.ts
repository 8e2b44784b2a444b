// ElevenLabs Scribe: recognition over its websocket, from its reference (November 2026). Never tried on a live account.

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
export const scribe = {
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
