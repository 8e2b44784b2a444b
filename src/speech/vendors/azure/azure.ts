// Azure: OpenAI models of a resource, and Azure Speech.

import type { LlmServiceSettings } from '../../../model/speech-services/services.ts';
import type { ModelMeans } from '../../llm/client/model-client.ts';
import { createChatModel } from '../../llm/openai/openai.ts';
import { below, header, listIn, text, type Vendor, voiceText } from '../vendor.ts';
import { createAzureStt } from './azure-stt.ts';
import { createAzureTts } from './azure-voice.ts';

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
