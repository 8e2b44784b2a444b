// Presets of voices with one HTTP request for each sentence, from their references (November 2026). None of them was
// tried on a live account.

import {
  type RequestVoiceDescription,
  requestVoiceDescription,
} from '../../../model/speech-services/description.ts';
import type { RequestTtsPreset } from '../../../model/speech-services/schemas/described-tts.ts';

/** The answer is one JSON object that contains a WAV file. */
const google = {
  path: '/v1/text:synthesize',
  headers: { 'x-goog-api-key': '{key}' },
  body: {
    input: { text: '{text}' },
    voice: { languageCode: '{language}', name: '{voice}' },
    audioConfig: {
      audioEncoding: 'LINEAR16',
      sampleRateHertz: 8_000,
      speakingRate: '{speed}',
    },
  },
  audio: { in: 'json', path: 'audioContent', format: 's16@8000' },
};

/** MiniMax reports errors with a success status. The last event repeats the whole audio. */
const minimax = {
  // GroupId is the service's spelling.
  query: Object.fromEntries([['GroupId', '{group_id}']]),
  headers: { authorization: 'Bearer {key}' },
  body: {
    model: '{model}',
    text: '{text}',
    stream: true,
    voice_setting: { voice_id: '{voice}', speed: '{speed}', vol: 1, pitch: 0 },
    audio_setting: { sample_rate: 8_000, format: 'pcm', channel: 1 },
    language_boost: 'auto',
  },
  audio: {
    in: 'events',
    path: 'data.audio',
    encoding: 'hex',
    format: 's16@8000',
    skip: [{ path: 'extra_info', exists: true }],
  },
  characters: 'extra_info.usage_characters',
  errors: [
    {
      when: [{ path: 'base_resp.status_code', not: 0 }],
      detail: 'base_resp.status_msg',
      code: 'base_resp.status_code',
      kinds: { '1002': 'rate', '1004': 'auth', '1008': 'quota', '1039': 'rate', '2013': 'request' },
      kind: 'overload',
    },
  ],
};

const camb = {
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

/** Speechmatics offers 16 kHz formats only. */
const speechmatics = {
  path: '/generate/{voice}',
  query: { output_format: 'pcm_16000' },
  headers: { authorization: 'Bearer {key}' },
  body: { text: '{text}' },
  audio: { in: 'body', format: 's16@16000' },
};

const piper = {
  path: '/',
  headers: { authorization: 'Bearer {key}' },
  body: { text: '{text}', voice: '{voice}' },
  audio: { in: 'body', format: 's16@22050' },
};

const described = { google, minimax, camb, speechmatics, piper_http: piper } satisfies Record<
  RequestTtsPreset,
  unknown
>;

/** Presets pass the same checks as a user's own description. */
const presets = Object.fromEntries(
  Object.entries(described).map(([name, each]) => [name, requestVoiceDescription.parse(each)]),
) as Record<RequestTtsPreset, RequestVoiceDescription>;

/** Preset of a service. Some models have a different sample rate. */
export function requestPresetOf(
  provider: RequestTtsPreset,
  model: string,
): RequestVoiceDescription {
  const preset = presets[provider];
  const format = RATES[model];
  return format === undefined ? preset : { ...preset, audio: { ...preset.audio, format } };
}

const RATES: Readonly<Record<string, 's16@48000'>> = { 'mars-pro': 's16@48000' };
