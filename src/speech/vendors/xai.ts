// The vendor xAI: chat models, and recognition and voices over websockets.
// From its reference (November 2026); never tried on a live account.

import { createChatModel } from '../llm/openai/openai.ts';
import { describedStt } from '../stt/described/described-stt.ts';
import { describedVoice } from '../tts/described/described-voice.ts';
import { at, bearer, listIn, type Vendor, voiceText, voiceTexts } from './vendor.ts';

/** xAI has no finalize message: its silence detection ends an utterance. */
const stt = {
  path: '/v1/stt',
  query: {
    sample_rate: '8000',
    encoding: 'mulaw',
    interim_results: 'true',
    endpointing: '300',
    language: '{language}',
  },
  headers: { authorization: 'Bearer {key}' },
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

const voice = {
  path: '/v1/tts',
  query: { voice: '{voice}', language: '{language}', codec: 'mulaw', sample_rate: '8000' },
  headers: { authorization: 'Bearer {key}' },
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

export const xai = {
  llm: createChatModel,
  stt: describedStt(stt),
  tts: describedVoice(voice),
  keyCheck: {
    url: at('https://api.x.ai', '/v1/tts/voices'),
    headers: bearer,
    refusing: [401],
  },
  voices: {
    url: at('https://api.x.ai', '/v1/tts/voices'),
    headers: bearer,
    read: listIn('voices'),
    voice: (item) => ({ ...voiceTexts(item), voice_id: voiceText(item['voice_id']) }),
  },
} satisfies Vendor;
