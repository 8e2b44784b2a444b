// The voices that an account of a service has, in one shape for all services. Source: the services' public API
// references; contract §3.5.

import { isObject, parseJson } from '../../std/json.ts';
import { ServiceHttp } from '../service/service-http.ts';
import type { CheckMeans } from './key-check.ts';

export interface Voice {
  voice_id: string;
  name: string;
  description: string | null;
  accent: string | null;
  gender: string | null;
  language: string | null;
  preview_url: string | null;
}

interface VoiceList {
  url: string;
  headers: (key: string) => Record<string, string>;
  /** The voices in an answer; what is none is left out. */
  read(answer: unknown): unknown[];
  voice(item: Record<string, unknown>): Partial<Voice>;
}

/** A person waits for it. */
const ANSWER_MS_MAX = 5_000;
/** A few thousand voices. */
const ANSWER_BYTES_MAX = 8_388_608;
const VOICES_MAX = 2_000;
const CHARACTERS_MAX = 500;

const listIn = (name: string) => (answer: unknown) => {
  const list = isObject(answer) ? answer[name] : answer;
  return Array.isArray(list) ? list : [];
};

const lists: Readonly<Record<string, VoiceList>> = {
  elevenlabs: {
    url: 'https://api.elevenlabs.io/v1/voices',
    headers: (key) => ({ 'xi-api-key': key }),
    read: listIn('voices'),
    voice: (item) => {
      const labels = isObject(item['labels']) ? item['labels'] : {};
      const { accent, gender, language } = labels as Record<string, string>;
      return { ...texts({ ...item, accent, gender, language }), voice_id: text(item['voice_id']) };
    },
  },
  deepgram: {
    url: 'https://api.deepgram.com/v1/models',
    headers: (key) => ({ authorization: `Token ${key}` }),
    read: listIn('tts'),
    voice: (item) => {
      const metadata = isObject(item['metadata']) ? item['metadata'] : {};
      const tags = [metadata['tags']].flat();
      return {
        voice_id: text(item['canonical_name']),
        name: text(item['name']),
        accent: text(metadata['accent']),
        gender: tags.includes('feminine') ? 'female' : tags.includes('masculine') ? 'male' : null,
        language: text([item['languages']].flat()[0]),
        preview_url: text(metadata['sample']),
      };
    },
  },
  cartesia: {
    url: 'https://api.cartesia.ai/voices?limit=100',
    headers: (key) => ({ 'x-api-key': key, 'cartesia-version': '2026-03-01' }),
    read: listIn('data'),
    voice: (item) => ({ ...texts(item), voice_id: text(item['id']) }),
  },
};

/** The host that lists the voices of a service; undefined if none does. */
export function voiceListHost(provider: string): string | undefined {
  const list = Object.hasOwn(lists, provider) ? lists[provider] : undefined;
  return list === undefined ? undefined : new URL(list.url).hostname;
}

/** Throws ServiceFault. */
export async function fetchVoices(
  provider: string,
  key: string,
  means: CheckMeans,
  signal: AbortSignal,
): Promise<Voice[]> {
  const list = Object.hasOwn(lists, provider) ? lists[provider] : undefined;
  if (list === undefined) return [];
  const account = { job: 'tts', service: provider, secrets: [key], means } as const;
  const http = new ServiceHttp({ ...account, isCounted: false });
  try {
    const answer = await http.request({
      method: 'GET',
      url: list.url,
      headers: { accept: 'application/json', ...list.headers(key) },
      signal,
      answerMsMax: ANSWER_MS_MAX,
    });
    const body = parseJson((await answer.bytes(ANSWER_BYTES_MAX)).toString('utf8'));
    const voices = list
      .read(body)
      .slice(0, VOICES_MAX)
      .flatMap((item) => voiceOf(list, item));
    return [...new Map(voices.map((voice) => [voice.voice_id, voice])).values()];
  } finally {
    await http.close();
  }
}

function voiceOf(list: VoiceList, item: unknown): Voice[] {
  if (!isObject(item)) return [];
  const found = list.voice(item);
  if (!found.voice_id) return [];
  return [
    {
      voice_id: found.voice_id,
      // An empty text is none.
      name: found.name || found.voice_id,
      description: found.description || null,
      accent: found.accent || null,
      gender: found.gender || null,
      language: found.language || null,
      // It becomes a link of a page.
      preview_url: /^https?:\/\//i.test(found.preview_url ?? '') ? (found.preview_url ?? '') : null,
    },
  ];
}

/** Of the names that services share. */
function texts(item: Record<string, unknown>): Partial<Voice> {
  return {
    name: text(item['name']),
    description: text(item['description']),
    accent: text(item['accent']),
    gender: text(item['gender']),
    language: text(item['language']),
    preview_url: text(item['preview_url']),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, CHARACTERS_MAX) : '';
}
