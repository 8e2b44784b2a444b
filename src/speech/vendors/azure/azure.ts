// Azure: OpenAI models of a resource, and Azure Speech, with its voices over the REST API: one request for each sentence
// on kept connections, µ-law at 8 kHz. No word times: only its websocket has them.
// Source: Azure's text-to-speech REST reference, and its Speech SDK 1.52.

import type {
  LlmServiceSettings,
  TtsServiceSettings,
} from '../../../model/speech-services/services.ts';
import type { ModelMeans } from '../../llm/client/model-client.ts';
import { createChatModel } from '../../llm/openai/openai.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { createHttpSpeech, type SpeechBytes } from '../../tts/http-speech.ts';
import { SpeechDecoder } from '../../tts/speech-decoder.ts';
import type { TextToSpeech } from '../../tts/tts.ts';
import { below, header, listIn, text, type Vendor, voiceText } from '../vendor.ts';
import { createAzureStt } from './azure-stt.ts';

/** A deployment of an OpenAI model in a resource of Azure. */
export const azure = {
  llm: (settings: LlmServiceSettings<'azure'>, means: ModelMeans) =>
    createChatModel({ ...settings, base_url: openAiUrl(settings.endpoint) }, means),
  keyCheck: {
    url: (fields) => {
      const endpoint = URL.parse(text(fields, 'endpoint') ?? '');
      return endpoint === null ? undefined : `${endpoint.origin}/openai/v1/models`;
    },
    headers: header('api-key'),
  },
} satisfies Vendor;

/** Region names are part of a host name. */
const REGION = /^[a-z0-9-]{1,40}$/;

const VOICES_PATH = '/cognitiveservices/voices/list';

/** Azure Speech. */
export const azureSpeech = {
  stt: createAzureStt,
  tts: createAzureTts,
  keyCheck: {
    method: 'POST',
    url: (fields) => {
      const region = text(fields, 'region');
      if (region === undefined || !REGION.test(region)) return undefined;
      return `https://${region}.api.cognitive.microsoft.com/sts/v1.0/issueToken`;
    },
    headers: header('ocp-apim-subscription-key'),
  },
  voices: {
    url: (fields) => {
      const region = text(fields, 'region');
      if (text(fields, 'base_url') !== undefined) return below(undefined, VOICES_PATH)(fields);
      if (region === undefined || !REGION.test(region)) return undefined;
      return `https://${region}.tts.speech.microsoft.com${VOICES_PATH}`;
    },
    headers: header('ocp-apim-subscription-key'),
    read: listIn('voices'),
    voice: (item) => ({
      voice_id: voiceText(item['ShortName']),
      name: voiceText(item['DisplayName']),
      gender: voiceText(item['Gender']),
      language: voiceText(item['Locale']),
    }),
  },
} satisfies Vendor;

/** URL of the v1 interface below the resource's address, unless the address already has a path. */
function openAiUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, '');
  return new URL(base).pathname === '/' ? `${base}/openai/v1` : base;
}

/** Parameters of the requests. */
const AZURE = {
  host: (region: string): string => `https://${region}.tts.speech.microsoft.com`,
  path: '/cognitiveservices/v1',
  format: 'raw-8khz-8bit-mono-mulaw',
  /** The service refuses requests without a user agent. */
  userAgent: 'patchbay',
} as const;

function createAzureTts(
  settings: TtsServiceSettings<'azure_speech'>,
  means: ServiceMeans,
): TextToSpeech {
  const { api_key: apiKey, region, model } = settings;
  const base = (settings.base_url ?? AZURE.host(region)).replace(/\/+$/, '');
  const headers = { 'ocp-apim-subscription-key': apiKey, 'user-agent': AZURE.userAgent };
  return createHttpSpeech({
    service: 'azure_speech',
    model,
    secrets: [apiKey],
    means,
    prepare: { url: `${base}${VOICES_PATH}`, headers },
    requestOf: (text, voice = settings.voice) => ({
      url: `${base}${AZURE.path}`,
      headers: {
        ...headers,
        'content-type': 'application/ssml+xml',
        'x-microsoft-outputformat': AZURE.format,
      },
      body: ssmlOf(text, { ...settings, voice }),
    }),
    decoder,
    // For a language that the voice lacks, the service answers with success but without audio.
    silence: { kind: 'request', detail: 'no audio: the voice may not have the language' },
  });
}

function decoder(): SpeechBytes {
  const ulaw = new SpeechDecoder('ulaw8');
  return { push: (chunk) => ulaw.decode(chunk), end: () => new Int16Array() };
}

/** SSML of one text. Exported for the test of its escapes. */
export function ssmlOf(
  text: string,
  {
    voice,
    language,
    speed,
  }: Pick<TtsServiceSettings<'azure_speech'>, 'voice' | 'language' | 'speed'>,
): string {
  // The beginning of a voice's name is its language: en-US-AriaNeural.
  const locale = language ?? /^[a-z]{2,3}-[A-Z]{2}/.exec(voice)?.[0] ?? 'en-US';
  const spoken = escaped(text);
  const paced = speed === 1 ? spoken : `<prosody rate="${speed}">${spoken}</prosody>`;
  return (
    '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis"' +
    ` xml:lang="${escaped(locale)}"><voice name="${escaped(voice)}">${paced}</voice></speak>`
  );
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes XML and removes control characters and lone surrogates, which XML does not allow. */
function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]+/gu, ' ')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
