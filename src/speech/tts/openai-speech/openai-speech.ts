// Voices behind OpenAI's speech API: OpenAI, Speaches, Kokoro-FastAPI and others. One request for each sentence, whose
// audio streams while it is made. No word times.
// Source: OpenAI's `POST /audio/speech`, and the documentation of the servers that are named here.

import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { createHttpSpeech } from '../http-speech.ts';
import type { TextToSpeech } from '../tts.ts';
import { SpeechBody } from './speech-body.ts';

/** Rate of samples without a header. */
const PCM_RATE_HZ = 24_000;

interface Profile {
  service: string;
  model: string;
  base: string;
  apiKey: string | undefined;
  voice: string;
  pcmRateHz: number;
  body: Record<string, unknown>;
}

export function createOpenAiTts(
  settings: TtsServiceSettings<'openai'>,
  means: ServiceMeans,
): TextToSpeech {
  const { speed, instructions } = settings;
  const body = { response_format: 'pcm', speed, instructions };
  return create({ ...profileOf(settings), pcmRateHz: PCM_RATE_HZ, body }, means);
}

/** Creates the synthesiser for Speaches and similar servers. The request also has the rate: some models of Speaches
 *  have another default, and Kokoro-FastAPI ignores it. */
export function createSpeachesTts(
  settings: TtsServiceSettings<'speaches'>,
  means: ServiceMeans,
): TextToSpeech {
  const { speed } = settings;
  const body = { response_format: 'pcm', sample_rate: PCM_RATE_HZ, speed };
  return create({ ...profileOf(settings), pcmRateHz: PCM_RATE_HZ, body }, means);
}

export function createOpenAiCompatibleTts(
  settings: TtsServiceSettings<'openai_compatible'>,
  means: ServiceMeans,
): TextToSpeech {
  const { speed, response_format, sample_rate: pcmRateHz } = settings;
  return create({ ...profileOf(settings), pcmRateHz, body: { response_format, speed } }, means);
}

function profileOf(
  of:
    | TtsServiceSettings<'openai'>
    | TtsServiceSettings<'speaches'>
    | TtsServiceSettings<'openai_compatible'>,
): Omit<Profile, 'pcmRateHz' | 'body'> {
  const { provider: service, model, base_url: base, api_key: apiKey, voice } = of;
  return { service, model, base: base.replace(/\/+$/, ''), apiKey, voice };
}

function create(profile: Profile, means: ServiceMeans): TextToSpeech {
  const { service, model, base, apiKey, body } = profile;
  const headers: Record<string, string> = {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  return createHttpSpeech({
    service,
    model,
    secrets: apiKey === undefined ? [] : [apiKey],
    means,
    prepare: { url: `${base}/models`, headers },
    requestOf: (input, voice = profile.voice) => ({
      url: `${base}/audio/speech`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model, voice, input }),
    }),
    decoder: () => new SpeechBody(profile.pcmRateHz),
    silence: { kind: 'protocol', detail: 'no audio for a text' },
  });
}
