// Table of key checks: one authenticated request for each service, which costs nothing and changes nothing. Keys of
// services without a row are not checked. `base_url` of the settings overrides a service's address.
// Source: the services' public API references.

import { isObject } from '../../std/json.ts';

const MINIMAX_UNAUTHORIZED = 1004;
const MINIMAX_INVALID_KEY = 2049;

/** One service's settings as stored, with a single key. */
export type CheckedFields = Readonly<Record<string, unknown>>;

export interface KeyCheck {
  /** Undefined if the settings have no address. */
  url(fields: CheckedFields): string | undefined;
  method?: 'GET' | 'POST';
  /** JSON body of a POST. Default: empty. */
  body?: string;
  headers(key: string): Record<string, string>;
  /** HTTP statuses that mean the service refuses the key. Default: 401 and 403. */
  refusing?: readonly number[];
  /** Text of a refusal of the key that comes with another error status. */
  refusingWords?: RegExp;
  /** Returns the refusal in an answer with status 200, for services that report errors so. */
  refusalIn?(answer: unknown): string | undefined;
  /** Text of a refusal that does not concern the key. A key with few permissions still works for calls. */
  harmlessWords?: RegExp;
  /** Whether a self-hosted service may run without a key. It is then requested without one. */
  isKeyless?: boolean;
  /** Prefix of every key of this service. A key without it is refused without a request. */
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

/** URL of `path` below `base_url`, else below `base`. Accepts ws(s) addresses in `base_url`, too. */
export const below = (base: string | undefined, path: string) => (fields: CheckedFields) => {
  const given = text(fields, 'base_url') ?? base;
  return given?.replace(/^ws/, 'http').replace(/\/+$/, '').concat(path);
};

/** URL of `path` at the host of `base_url`, else at `origin`: for services whose paths have versions of their own. */
export const at = (origin: string, path: string) => (fields: CheckedFields) => {
  const given = URL.parse(text(fields, 'base_url') ?? origin);
  return given === null ? undefined : `${given.origin.replace(/^ws/, 'http')}${path}`;
};

/** `url`, if `base_url` is a host of the vendor's `domain`: no key is sent to a host that it does not belong to. */
const vendorsOwn = (domain: string, url: string) => (fields: CheckedFields) => {
  const given = text(fields, 'base_url');
  const host = given === undefined ? domain : (URL.parse(given)?.hostname ?? '');
  return host === domain || host.endsWith(`.${domain}`) ? url : undefined;
};

/** Region names are part of a host name. */
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
    // Azure lists voices at a separate host, which has no models.
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
  // Requests a temporary key that is valid for one minute, as browsers use.
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
  // Looks up one word in the dictionary. The lists of voices are public and check no key.
  rime: {
    method: 'POST',
    url: vendorsOwn('rime.ai', 'https://users.rime.ai/oov'),
    body: '{"text":"hello"}',
    headers: bearer,
  },
  // Lists the account's own voices: the list of all voices is said to need no key.
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

/** MiniMax reports errors with status 200. */
function minimaxRefusal(answer: unknown): string | undefined {
  const base = isObject(answer) && isObject(answer['base_resp']) ? answer['base_resp'] : {};
  const { status_code: code, status_msg: message } = base as Readonly<Record<string, unknown>>;
  if (code !== MINIMAX_UNAUTHORIZED && code !== MINIMAX_INVALID_KEY) return undefined;
  return typeof message === 'string' ? message : '';
}

/** Services on this machine, which have no key to check. */
export const LOCAL_SERVICES: ReadonlySet<string> = new Set(['scripted', 'pocketsphinx', 'flite']);
