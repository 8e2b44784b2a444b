// LMNT: voices over its websocket.
// From its reference (November 2026); never tried on a live account.

import { describedVoice } from '../tts/described/described-voice.ts';
import { at, header, listIn, type Vendor, voiceText, voiceTexts } from './vendor.ts';

/** LMNT: the key is in the first message. */
const voice = {
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

export const lmnt = {
  tts: describedVoice(voice),
  keyCheck: {
    url: at('https://api.lmnt.com', '/v1/ai/voice/list'),
    headers: header('x-api-key'),
    refusing: [401],
  },
  voices: {
    url: at('https://api.lmnt.com', '/v1/ai/voice/list'),
    headers: header('x-api-key'),
    read: listIn('voices'),
    voice: (item) => ({ ...voiceTexts(item), voice_id: voiceText(item['id']) }),
  },
} satisfies Vendor;
