// MiniMax: chat models, and voices by requests.
// From its reference (November 2026); never tried on a live account.

import type { LlmServiceSettings } from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import { createChatModel } from '../llm/openai/openai.ts';
import { requestVoice } from '../tts/described/described-request.ts';
import { at, bearer, type Vendor } from './vendor.ts';

const MINIMAX_UNAUTHORIZED = 1004;
const MINIMAX_INVALID_KEY = 2049;

/** MiniMax reports errors with a success status. The last event repeats the whole audio. */
const voice = {
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

export const minimax = {
  llm: (settings: LlmServiceSettings<'minimax'>, means: ModelMeans) =>
    createChatModel(settings, means, { temperature: settings.temperature }),
  tts: requestVoice(voice),
  keyCheck: {
    method: 'POST',
    url: at('https://api.minimax.io', '/v1/get_voice'),
    body: '{"voice_type":"voice_cloning"}',
    headers: bearer,
    refusalIn: minimaxRefusal,
  },
} satisfies Vendor;

/** MiniMax reports errors with status 200. */
function minimaxRefusal(answer: unknown): string | undefined {
  const base = isObject(answer) && isObject(answer['base_resp']) ? answer['base_resp'] : {};
  const { status_code: code, status_msg: message } = base as Readonly<Record<string, unknown>>;
  if (code !== MINIMAX_UNAUTHORIZED && code !== MINIMAX_INVALID_KEY) return undefined;
  return typeof message === 'string' ? message : '';
}
