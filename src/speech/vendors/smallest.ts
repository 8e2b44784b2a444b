// Smallest: recognition and voices over websockets.
// From its reference (November 2026); never tried on a live account.

import { describedStt } from '../stt/described/described-stt.ts';
import { describedVoice } from '../tts/described/described-voice.ts';
import { at, bearer, type Vendor } from './vendor.ts';

const stt = {
  path: '/waves/v1/stt/live',
  query: {
    model: '{model}',
    language: '{language}',
    encoding: 'mulaw',
    sample_rate: '8000',
    format: 'true',
    numerals: 'true',
  },
  headers: { authorization: 'Bearer {key}' },
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

/** Smallest: each text is a separate request; no cancel message. */
const voice = {
  path: '/waves/v1/tts/live',
  headers: { authorization: 'Bearer {key}' },
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

export const smallest = {
  stt: describedStt(stt),
  tts: describedVoice(voice),
  // Lists the account's own voices: the list of all voices is said to need no key.
  keyCheck: {
    url: at('https://api.smallest.ai', '/waves/v1/voice-cloning'),
    headers: bearer,
  },
} satisfies Vendor;
