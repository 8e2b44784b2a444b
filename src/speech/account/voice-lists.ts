// Lists the voices of an account in one shape for all services, and checks whether it has a given voice.
// Source: contract §3.5.

import { isObject, parseJson } from '../../std/json.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { ServiceHttp, type ServiceHttpOptions } from '../service/service-http.ts';
import type { CheckedFields, Voice, VoiceList } from '../vendors/vendor.ts';
import { voiceListOf } from '../vendors/vendors.ts';

/** Deadline of a request. A person waits for the list. */
const ANSWER_MS_MAX = 5_000;
/** Room for a few thousand voices. */
const ANSWER_BYTES_MAX = 8_388_608;
const VOICES_MAX = 2_000;
/** Voices that a finding lists. */
const NAMED_MAX = 6;
/** Longest quotation of a setting or a voice's name in a finding. */
const CHARACTERS_MAX = 80;
/** Statuses by which a service reports an unknown voice id. */
const UNKNOWN: readonly unknown[] = [400, 404, 422];

/** Origin (scheme, host and port) of the service's voice list with these settings. Undefined if it has none. */
export function voiceListOrigin(provider: string, fields: CheckedFields): string | undefined {
  return URL.parse(voiceListOf(provider)?.url(fields) ?? '')?.origin;
}

/** Requests the list at the address that the settings give and the key belongs to. Throws ServiceFault. */
export async function fetchVoices(
  { provider, fields, key }: { provider: string; fields: CheckedFields; key: string },
  means: ServiceHttpOptions['means'],
  signal: AbortSignal,
): Promise<Voice[]> {
  const list = voiceListOf(provider);
  const url = list?.url(fields);
  if (list === undefined || url === undefined) return [];
  const account = { job: 'tts', service: provider, secrets: [key], means } as const;
  const http = new ServiceHttp({ ...account, isCounted: false });
  try {
    return (await listed({ list, url, key }, http, { signal, answerMsMax: ANSWER_MS_MAX })).voices;
  } finally {
    await http.close();
  }
}

export interface VoiceToFind {
  provider: string;
  /** Name or id of the voice, as in the settings. */
  voice: string;
  fields: CheckedFields;
  /** Undefined if the service has no key. */
  key: string | undefined;
}

interface Asking {
  signal: AbortSignal;
  answerMsMax: number;
}

/** Describes the problem with the voice and suggests others that the service has. Returns undefined if the voice exists
 *  or the answer proves nothing. Never rejects. */
export async function unknownVoice(
  { provider, voice, fields, key }: VoiceToFind,
  http: ServiceHttp,
  asking: Asking,
): Promise<string | undefined> {
  const list = voiceListOf(provider);
  const url = list?.url(fields);
  if (list === undefined || url === undefined) return undefined;
  if (key === undefined && list.isKeyless !== true) return undefined;
  const id = list.idOf?.(voice) ?? voice;
  const one = list.one?.(fields, encodeURIComponent(id));
  const [all, own] = await Promise.all([
    listed({ list, url, key }, http, asking).catch(() => undefined),
    one === undefined ? undefined : refusalOf({ list, url: one, key }, http, asking),
  ]);
  // A server without any voice is not the expected service, so its refusal of one voice proves nothing either.
  if (all === undefined || all.voices.length === 0) return undefined;
  if (all.voices.some((each) => each.voice_id === id)) return undefined;
  if (one === undefined ? !all.isWhole : own === undefined) return undefined;
  const words = own ? ` The service says: ${own}` : '';
  const shown = `Unknown ${provider} voice: ${id.slice(0, CHARACTERS_MAX)}.${words}`;
  return `${shown} Some that it has: ${namesOf(all.voices)}.`;
}

interface Question {
  list: VoiceList;
  url: string;
  key: string | undefined;
}

async function listed(
  { list, url, key }: Question,
  http: ServiceHttp,
  asking: Asking,
): Promise<{ voices: Voice[]; isWhole: boolean }> {
  const answer = await http.request({
    method: 'GET',
    url,
    ...asking,
    headers: headersOf(list, key),
  });
  const body = parseJson((await answer.bytes(ANSWER_BYTES_MAX)).toString('utf8'));
  const items = list.read(body);
  const voices = items.slice(0, VOICES_MAX).flatMap((item) => voiceOf(list, item));
  const distinct = [...new Map(voices.map((voice) => [voice.voice_id, voice])).values()];
  return { voices: distinct, isWhole: items.length <= VOICES_MAX && !isPage(body) };
}

/** The service's refusal of the voice. Undefined if it accepts the voice or gives no answer about it. */
async function refusalOf(
  { list, url, key }: Question,
  http: ServiceHttp,
  asking: Asking,
): Promise<string | undefined> {
  try {
    const answer = await http.request({
      method: 'GET',
      url,
      ...asking,
      headers: headersOf(list, key),
    });
    for await (const _part of answer.body) break;
    return undefined;
  } catch (error) {
    // Other errors do not concern the voice.
    if (!(error instanceof ServiceFault)) return undefined;
    return UNKNOWN.includes(error.facts['status']) ? error.detail : undefined;
  }
}

function headersOf(list: VoiceList, key: string | undefined): Record<string, string> {
  return { accept: 'application/json', ...(key === undefined ? {} : list.headers(key)) };
}

/** Whether the answer has further pages. */
function isPage(body: unknown): boolean {
  if (!isObject(body)) return false;
  return [body['has_more'], body['next_page_token'], body['nextPageToken']].some(Boolean);
}

function namesOf(voices: readonly Voice[]): string {
  const named = voices.slice(0, NAMED_MAX).map(({ name, voice_id: id }) => {
    return name === id ? id : `${name.slice(0, CHARACTERS_MAX)} (${id})`;
  });
  return named.join(', ');
}

function voiceOf(list: VoiceList, item: unknown): Voice[] {
  if (!isObject(item)) return [];
  const found = list.voice(item);
  if (!found.voice_id) return [];
  return [
    {
      voice_id: found.voice_id,
      // An empty name counts as missing.
      name: found.name || found.voice_id,
      description: found.description || null,
      accent: found.accent || null,
      gender: found.gender || null,
      language: found.language || null,
      // The console shows it as a link, so only http(s) is allowed.
      preview_url: /^https?:\/\//i.test(found.preview_url ?? '') ? (found.preview_url ?? '') : null,
    },
  ];
}
