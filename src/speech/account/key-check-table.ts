// How the key of each service is checked: one authenticated request that costs nothing and changes nothing. A service
// without a row is not asked. Addresses that users give come from the service's own fields. Source: the services'
// public API references.

import { isObject } from '../../std/json.ts';

const MINIMAX_UNAUTHORIZED = 1004;
const MINIMAX_INVALID_KEY = 2049;

/** Settings of a service as stored, with one key. */
export type CheckedFields = Readonly<Record<string, unknown>>;

export interface KeyCheck {
  /** Undefined: the settings name no address. */
  url(fields: CheckedFields): string | undefined;
  method?: 'GET' | 'POST';
  /** JSON of a POST. Default: empty. */
  body?: string;
  headers(key: string): Record<string, string>;
  /** Statuses by which the service refuses the key. Default: 401 and 403. */
  refusing?: readonly number[];
  /** Words of the service by which it refuses the key under another status. */
  refusingWords?: RegExp;
  /** The words by which it refuses the key in an answer with status 200. */
  refusalIn?(answer: unknown): string | undefined;
  /** Words of a refusal that is not about the key: one with few permissions works for calls. */
  harmlessWords?: RegExp;
  /** Self-hosted ones may have no key: they are asked all the same. */
  isKeyless?: boolean;
  /** A key that does not begin so is none of this service. */
  keyPrefix?: string;
}

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
export const header =
  (name: string, more: Record<string, string> = {}) =>
  (key: string): Record<string, string> => ({ [name]: key, ...more });

export function text(fields: CheckedFields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Below the address in `base_url`, else below `base`. Users write addresses of websockets there too. */
export const below = (base: string | undefined, path: string) => (fields: CheckedFields) => {
  const given = text(fields, 'base_url') ?? base;
  return given?.replace(/^ws/, 'http').replace(/\/+$/, '').concat(path);
};

/** At the host of `base_url`, else at `origin`: services whose paths have versions of their own. */
export const at = (origin: string, path: string) => (fields: CheckedFields) => {
  const given = URL.parse(text(fields, 'base_url') ?? origin);
  return given === null ? undefined : `${given.origin.replace(/^ws/, 'http')}${path}`;
};

/** At `url`, if `base_url` is a host of the vendor's `domain`: the key of another server goes to no host but its own. */
const vendorsOwn = (domain: string, url: string) => (fields: CheckedFields) => {
  const given = text(fields, 'base_url');
  const host = given === undefined ? domain : (URL.parse(given)?.hostname ?? '');
  return host === domain || host.endsWith(`.${domain}`) ? url : undefined;
};

/** Names of regions are part of a host name. */
export const REGION = /^[a-z0-9-]{1,40}$/;

const listsModels = (base?: string): KeyCheck => ({
  url: below(base, '/models'),
  headers: bearer,
  isKeyless: true,
});

export const keyChecks: Readonly<Record<string, KeyCheck>> = {
  openai: listsModels('https://api.openai.com/v1'),
  openai_compatible: listsModels(),
  speaches: listsModels('http://localhost:8000/v1'),
  atlascloud: listsModels('https://api.atlascloud.ai/v1'),
  groq: listsModels('https://api.groq.com/openai/v1'),
  together: listsModels('https://api.together.xyz/v1'),
  fireworks: listsModels('https://api.fireworks.ai/inference/v1'),
  deepseek: listsModels('https://api.deepseek.com/v1'),
  cerebras: listsModels('https://api.cerebras.ai/v1'),
  mistral: listsModels('https://api.mistral.ai/v1'),
  openrouter: { url: below('https://openrouter.ai/api/v1', '/key'), headers: bearer },
  huggingface: { url: () => undefined, headers: bearer, keyPrefix: 'hf_' },
  anthropic: {
    url: at('https://api.anthropic.com', '/v1/models?limit=1'),
    headers: header('x-api-key', { 'anthropic-version': '2023-06-01' }),
  },
  google: {
    // Voices are at a host of their own, which has no models.
    url: (fields) => {
      const isVoice = text(fields, 'base_url')?.includes('texttospeech') === true;
      const path = isVoice ? '/v1/voices?languageCode=en-US' : '/v1beta/models?pageSize=1';
      return at('https://generativelanguage.googleapis.com', path)(fields);
    },
    headers: header('x-goog-api-key'),
    refusingWords: /API key not valid/i,
  },
  azure: {
    url: (fields) => {
      const endpoint = URL.parse(text(fields, 'endpoint') ?? '');
      return endpoint === null ? undefined : `${endpoint.origin}/openai/v1/models`;
    },
    headers: header('api-key'),
  },
  azure_speech: {
    method: 'POST',
    url: (fields) => {
      const region = text(fields, 'region');
      if (region === undefined || !REGION.test(region)) return undefined;
      return `https://${region}.api.cognitive.microsoft.com/sts/v1.0/issueToken`;
    },
    headers: header('ocp-apim-subscription-key'),
  },
  deepgram: {
    url: at('https://api.deepgram.com', '/v1/projects'),
    headers: (key) => ({ authorization: `Token ${key}` }),
  },
  assemblyai: {
    url: at('https://streaming.assemblyai.com', '/v3/token?expires_in_seconds=60'),
    headers: header('authorization'),
  },
  elevenlabs: {
    url: at('https://api.elevenlabs.io', '/v1/models'),
    headers: header('xi-api-key'),
    harmlessWords: /missing the permission/i,
  },
  cartesia: {
    url: at('https://api.cartesia.ai', '/voices?limit=1'),
    headers: header('x-api-key', { 'cartesia-version': '2026-03-01' }),
  },
  soniox: { url: at('https://api.soniox.com', '/v1/models'), headers: bearer },
  gladia: { url: at('https://api.gladia.io', '/v2/live?limit=1'), headers: header('x-gladia-key') },
  inworld: {
    url: at('https://api.inworld.ai', '/voices/v1/voices?pageSize=1'),
    headers: (key) => ({ authorization: `Basic ${key}` }),
  },
  xai: {
    url: at('https://api.x.ai', '/v1/tts/voices'),
    headers: bearer,
    refusing: [401],
  },
  lmnt: {
    url: at('https://api.lmnt.com', '/v1/ai/voice/list'),
    headers: header('x-api-key'),
    refusing: [401],
  },
  // A key of its own for one minute, as browsers get one.
  speechmatics: {
    method: 'POST',
    url: vendorsOwn('speechmatics.com', 'https://mp.speechmatics.com/v1/api_keys?type=rt'),
    body: '{"ttl":60}',
    headers: bearer,
  },
  sarvam: {
    url: at('https://api.sarvam.ai', '/text-to-speech/pronunciation-dictionary'),
    headers: header('api-subscription-key'),
  },
  // Whether it knows a word. Its lists of voices are public.
  rime: {
    method: 'POST',
    url: vendorsOwn('rime.ai', 'https://users.rime.ai/oov'),
    body: '{"text":"hello"}',
    headers: bearer,
  },
  // The account's own voices: the list of all is said to need no key.
  smallest: {
    url: at('https://api.smallest.ai', '/waves/v1/voice-cloning'),
    headers: bearer,
  },
  minimax: {
    method: 'POST',
    url: at('https://api.minimax.io', '/v1/get_voice'),
    body: '{"voice_type":"voice_cloning"}',
    headers: bearer,
    refusalIn: minimaxRefusal,
  },
  camb: { url: at('https://client.camb.ai', '/apis/list-voices'), headers: header('x-api-key') },
};

/** Its errors have status 200. */
function minimaxRefusal(answer: unknown): string | undefined {
  const base = isObject(answer) && isObject(answer['base_resp']) ? answer['base_resp'] : {};
  const { status_code: code, status_msg: message } = base as Readonly<Record<string, unknown>>;
  if (code !== MINIMAX_UNAUTHORIZED && code !== MINIMAX_INVALID_KEY) return undefined;
  return typeof message === 'string' ? message : '';
}

/** Services on this machine: nothing to check. */
export const LOCAL_SERVICES: ReadonlySet<string> = new Set(['scripted', 'pocketsphinx', 'flite']);
