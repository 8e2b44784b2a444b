// What the gateway knows of a speech service besides its settings: clients by job, the request that checks a key, and
// the request that lists voices. One entry for each provider, in the vendor's own file; vendors.ts lists them.

import type {
  LlmProvider,
  LlmServiceSettings,
  SttProvider,
  SttServiceSettings,
  TtsProvider,
  TtsServiceSettings,
} from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import type { LanguageModel } from '../llm/llm.ts';
import type { ServiceMeans } from '../service/service-means.ts';
import type { SpeechToText } from '../stt/stt.ts';
import type { TextToSpeech } from '../tts/tts.ts';

export interface Vendor {
  llm?: (settings: never, means: ModelMeans) => LanguageModel;
  stt?: (settings: never, means: ServiceMeans) => SpeechToText;
  tts?: (settings: never, means: ServiceMeans) => TextToSpeech;
  /** Undefined: no request checks a key of this service. */
  keyCheck?: KeyCheck;
  /** Undefined: the service has no list of voices. */
  voices?: VoiceList;
}

/** Each client is created from the settings of one account. Its calls share connections. */
export type LlmVendors = {
  [P in LlmProvider]: {
    llm: (settings: LlmServiceSettings<P>, means: ModelMeans) => LanguageModel;
  };
};
export type SttVendors = {
  [P in SttProvider]: {
    stt: (settings: SttServiceSettings<P>, means: ServiceMeans) => SpeechToText;
  };
};
export type TtsVendors = {
  [P in TtsProvider]: {
    tts: (settings: TtsServiceSettings<P>, means: ServiceMeans) => TextToSpeech;
  };
};

/** One service's settings as stored, with a single key. */
export type CheckedFields = Readonly<Record<string, unknown>>;

/** One authenticated request that costs nothing and changes nothing. */
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

export interface Voice {
  voice_id: string;
  name: string;
  description: string | null;
  accent: string | null;
  gender: string | null;
  language: string | null;
  preview_url: string | null;
}

/** An answer without any voice proves nothing, except for `elevenlabs`, `deepgram` and `cartesia`, whose lists were
 *  tried on a live account. */
export interface VoiceList {
  /** Undefined if the settings have no address. */
  url(fields: CheckedFields): string | undefined;
  headers(key: string): Record<string, string>;
  /** Extracts the voices of an answer, without other entries. */
  read(answer: unknown): unknown[];
  voice(item: Readonly<Record<string, unknown>>): Partial<Voice>;
  /** URL of the request for one voice, for services whose list omits some usable voices. `id` is a part of the path. */
  one?(fields: CheckedFields, id: string): string | undefined;
  /** Derives the id from the name in the settings. Default: the name itself. */
  idOf?(voice: string): string;
  /** Whether a self-hosted server may run without a key. */
  isKeyless?: boolean;
}

// Parts of the requests. `base_url` of the settings overrides a service's address.

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
export const vendorsOwn = (domain: string, url: string) => (fields: CheckedFields) => {
  const given = text(fields, 'base_url');
  const host = given === undefined ? domain : (URL.parse(given)?.hostname ?? '');
  return host === domain || host.endsWith(`.${domain}`) ? url : undefined;
};

const VOICE_CHARACTERS_MAX = 500;

export const listIn = (name: string) => (answer: unknown) => {
  const list = isObject(answer) ? answer[name] : answer;
  return Array.isArray(list) ? list : [];
};

/** Reads the fields that have the same name in several services. */
export function voiceTexts(item: Readonly<Record<string, unknown>>): Partial<Voice> {
  return {
    name: voiceText(item['name']),
    description: voiceText(item['description']),
    accent: voiceText(item['accent']),
    gender: voiceText(item['gender']),
    language: voiceText(item['language']),
    preview_url: voiceText(item['preview_url']),
  };
}

export function voiceText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, VOICE_CHARACTERS_MAX) : '';
}
