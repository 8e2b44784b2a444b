// Table of voice lists: the request of each service, and the parser of its answer. Services without a row have no list.
// Source: the services' public API references. Only the rows `elevenlabs`, `deepgram` and `cartesia` were tried on a
// live account. In the others, an answer without any voice proves nothing.

import { voiceId } from '../../model/speech-services/voice-id.ts';
import { isObject } from '../../std/json.ts';
import { at, bearer, below, type CheckedFields, header, REGION, text } from './key-check-table.ts';

export interface Voice {
  voice_id: string;
  name: string;
  description: string | null;
  accent: string | null;
  gender: string | null;
  language: string | null;
  preview_url: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

export interface VoiceList {
  /** Undefined if the settings have no address. */
  url(fields: CheckedFields): string | undefined;
  headers(key: string): Record<string, string>;
  /** Extracts the voices of an answer, without other entries. */
  read(answer: unknown): unknown[];
  voice(item: Fields): Partial<Voice>;
  /** URL of the request for one voice, for services whose list omits some usable voices. `id` is a part of the path. */
  one?(fields: CheckedFields, id: string): string | undefined;
  /** Derives the id from the name in the settings. Default: the name itself. */
  idOf?(voice: string): string;
  /** Whether a self-hosted server may run without a key. */
  isKeyless?: boolean;
}

const CHARACTERS_MAX = 500;

const listIn = (name: string) => (answer: unknown) => {
  const list = isObject(answer) ? answer[name] : answer;
  return Array.isArray(list) ? list : [];
};

const ELEVENLABS = 'https://api.elevenlabs.io';
const CARTESIA = 'https://api.cartesia.ai';

const voiceLists: Readonly<Record<string, VoiceList>> = {
  elevenlabs: {
    url: at(ELEVENLABS, '/v1/voices'),
    headers: header('xi-api-key'),
    read: listIn('voices'),
    voice: (item) => {
      const labels = isObject(item['labels']) ? item['labels'] : {};
      const { accent, gender, language } = labels as Record<string, string>;
      return { ...texts({ ...item, accent, gender, language }), voice_id: own(item['voice_id']) };
    },
    one: (fields, id) => at(ELEVENLABS, `/v1/voices/${id}`)(fields),
    idOf: voiceId,
  },
  deepgram: {
    url: at('https://api.deepgram.com', '/v1/models'),
    headers: (key) => ({ authorization: `Token ${key}` }),
    read: listIn('tts'),
    voice: (item) => {
      const metadata = isObject(item['metadata']) ? item['metadata'] : {};
      const tags = [metadata['tags']].flat();
      return {
        voice_id: own(item['canonical_name']),
        name: own(item['name']),
        accent: own(metadata['accent']),
        gender: tags.includes('feminine') ? 'female' : tags.includes('masculine') ? 'male' : null,
        language: own([item['languages']].flat()[0]),
        preview_url: own(metadata['sample']),
      };
    },
  },
  cartesia: {
    url: at(CARTESIA, '/voices?limit=100'),
    headers: header('x-api-key', { 'cartesia-version': '2026-03-01' }),
    read: listIn('data'),
    voice: (item) => ({ ...texts(item), voice_id: own(item['id']) }),
    one: (fields, id) => at(CARTESIA, `/voices/${id}`)(fields),
  },
  azure_speech: {
    url: (fields) => {
      const region = text(fields, 'region');
      if (text(fields, 'base_url') !== undefined) return below(undefined, AZURE_PATH)(fields);
      if (region === undefined || !REGION.test(region)) return undefined;
      return `https://${region}.tts.speech.microsoft.com${AZURE_PATH}`;
    },
    headers: header('ocp-apim-subscription-key'),
    read: listIn('voices'),
    voice: (item) => ({
      voice_id: own(item['ShortName']),
      name: own(item['DisplayName']),
      gender: own(item['Gender']),
      language: own(item['Locale']),
    }),
  },
  google: {
    url: at('https://texttospeech.googleapis.com', '/v1/voices'),
    headers: header('x-goog-api-key'),
    read: listIn('voices'),
    voice: (item) => ({
      voice_id: own(item['name']),
      gender: own(item['ssmlGender']).toLowerCase(),
      language: own([item['languageCodes']].flat()[0]),
    }),
  },
  inworld: {
    url: at('https://api.inworld.ai', '/voices/v1/voices'),
    headers: (key) => ({ authorization: `Basic ${key}` }),
    read: listIn('voices'),
    voice: (item) => ({
      ...texts(item),
      voice_id: own(item['voiceId']),
      name: own(item['displayName']),
    }),
  },
  lmnt: {
    url: at('https://api.lmnt.com', '/v1/ai/voice/list'),
    headers: header('x-api-key'),
    read: listIn('voices'),
    voice: (item) => ({ ...texts(item), voice_id: own(item['id']) }),
  },
  xai: {
    url: at('https://api.x.ai', '/v1/tts/voices'),
    headers: bearer,
    read: listIn('voices'),
    voice: (item) => ({ ...texts(item), voice_id: own(item['voice_id']) }),
  },
  piper_http: {
    url: at('http://localhost:5000', '/voices'),
    headers: bearer,
    read: (answer) => (isObject(answer) ? Object.keys(answer).map((name) => ({ name })) : []),
    voice: ({ name }) => ({ voice_id: own(name) }),
    isKeyless: true,
  },
};

const AZURE_PATH = '/cognitiveservices/voices/list';

/** Returns the row of a service, or undefined if it has no list. */
export function voiceListOf(provider: string): VoiceList | undefined {
  return Object.hasOwn(voiceLists, provider) ? voiceLists[provider] : undefined;
}

/** Reads the fields that have the same name in several services. */
function texts(item: Fields): Partial<Voice> {
  return {
    name: own(item['name']),
    description: own(item['description']),
    accent: own(item['accent']),
    gender: own(item['gender']),
    language: own(item['language']),
    preview_url: own(item['preview_url']),
  };
}

function own(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, CHARACTERS_MAX) : '';
}
