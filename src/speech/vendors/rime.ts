// Rime: voices over its websocket.
// From its reference (November 2026); never tried on a live account.

import { describedVoice } from '../tts/described/described-voice.ts';
import { bearer, type Vendor, vendorsOwn } from './vendor.ts';

/** Rime: a clear affects the whole connection and is not confirmed, so a cancelled connection is closed. */
const voice = {
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
  headers: { authorization: 'Bearer {key}' },
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

export const rime = {
  tts: describedVoice(voice),
  // Looks up one word in the dictionary. The lists of voices are public and check no key.
  keyCheck: {
    method: 'POST',
    url: vendorsOwn('rime.ai', 'https://users.rime.ai/oov'),
    body: '{"text":"hello"}',
    headers: bearer,
  },
} satisfies Vendor;
