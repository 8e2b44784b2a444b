// Servers of a user's own: Vosk, Wyoming and Piper, and recognisers that were built for another platform's protocol,
// which work unchanged. Source: the platforms' guides; names of jambonz's fields are not confirmed.

import { isObject } from '../../std/json.ts';
import { describedStt } from '../stt/described/described-stt.ts';
import { requestVoice } from '../tts/described/described-request.ts';
import { at, bearer, type Vendor, voiceText } from './vendor.ts';
import { createVosk } from './vosk/vosk.ts';
import { createWyomingStt } from './wyoming/wyoming-stt.ts';
import { createWyomingVoice } from './wyoming/wyoming-voice.ts';

const jambonz = {
  headers: { authorization: 'Bearer {key}' },
  open: [
    {
      type: 'start',
      language: '{language}',
      format: 'raw',
      encoding: 'LINEAR16',
      interimResults: true,
      sampleRateHz: 8_000,
      options: { hints: '{terms}' },
    },
  ],
  audio: { format: 's16@8000', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcription' },
        { path: 'is_final', equals: true },
      ],
      is: 'final',
      text: 'alternatives.0.transcript',
      confidence: 'alternatives.0.confidence',
      language: 'language',
    },
    {
      when: [{ path: 'type', equals: 'transcription' }],
      is: 'partial',
      text: 'alternatives.0.transcript',
    },
  ],
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'error', kind: 'overload' }],
  close: { type: 'stop' },
};

/** Vapi's protocol: the customer in the first channel, the agent in the second. */
const vapi = {
  headers: { 'x-vapi-secret': '{key}' },
  open: [{ type: 'start', encoding: 'linear16', container: 'raw', sampleRate: 8_000, channels: 2 }],
  audio: { format: 's16@8000', packet_ms: 60, channels: 2 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcriber-response' },
        { path: 'channel', equals: 'customer' },
        { path: 'transcriptType', equals: 'partial' },
      ],
      is: 'partial',
      text: 'transcription',
    },
    {
      when: [
        { path: 'type', equals: 'transcriber-response' },
        { path: 'channel', equals: 'customer' },
      ],
      is: 'final',
      text: 'transcription',
    },
  ],
};

const piper = {
  path: '/',
  headers: { authorization: 'Bearer {key}' },
  body: { text: '{text}', voice: '{voice}' },
  audio: { in: 'body', format: 's16@22050' },
};

export const ownServers = {
  vosk: { stt: createVosk },
  wyoming: { stt: createWyomingStt, tts: createWyomingVoice },
  vapi_transcriber: { stt: describedStt(vapi) },
  jambonz_stt: { stt: describedStt(jambonz) },
  piper_http: {
    tts: requestVoice(piper),
    voices: {
      url: at('http://localhost:5000', '/voices'),
      headers: bearer,
      read: (answer) => (isObject(answer) ? Object.keys(answer).map((name) => ({ name })) : []),
      voice: ({ name }) => ({ voice_id: voiceText(name) }),
      isKeyless: true,
    },
  },
} satisfies Record<string, Vendor>;
