// Camb: voices by requests.
// From its reference (November 2026); never tried on a live account.

import { requestVoice } from '../tts/described/described-request.ts';
import { at, header, type Vendor } from './vendor.ts';

const voice = {
  path: '/apis/tts-stream',
  headers: { 'x-api-key': '{key}' },
  body: {
    text: '{text}',
    voice_id: '{voice_number}',
    language: '{language}',
    speech_model: '{model}',
    output_configuration: { format: 'pcm_s16le' },
  },
  audio: { in: 'body', format: 's16@22050' },
};

export const camb = {
  tts: requestVoice(voice, { 'mars-pro': 's16@48000' }),
  keyCheck: {
    url: at('https://client.camb.ai', '/apis/list-voices'),
    headers: header('x-api-key'),
  },
} satisfies Vendor;
