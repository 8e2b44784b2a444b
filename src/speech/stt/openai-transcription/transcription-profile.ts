// Profiles of services that transcribe an utterance in one request: address, headers and form fields of each.
// Source: OpenAI's `POST /audio/transcriptions`, and the documentation of the servers that are named here.

import type { SttServiceSettings } from '../../../model/speech-services/services.ts';

export interface TranscriptionProfile {
  service: string;
  model: string;
  url: string;
  headers: Record<string, string>;
  secrets: readonly string[];
  /** Any response from this address opens the connection. */
  prepareUrl: string;
  rateHz: 8_000 | 16_000;
  finalMsP99: number;
  /** Requests that the service processes at a time, and requests that may wait. */
  requestsMax: number;
  waitingMax: number;
  /** Form fields besides the file. Undefined: the body is the audio alone. */
  fields?: (asked: {
    language: string | undefined;
    terms: readonly string[];
  }) => [string, string][];
  /** Language from the settings. */
  language: string | undefined;
}

/** Final words after the end of the voice, 99th percentile in milliseconds, from published measurements. */
const FINAL_MS_P99 = { openai: 2_010, groq: 1_540, own: 1_000 } as const;
/** Concurrent requests of one process to one service. */
const REQUESTS_MAX = 64;
/** Longest prompt: models drop the beginning of longer ones. */
const PROMPT_CHARACTERS_MAX = 600;

/** Profile of `openai` or `groq`. */
export function openAiProfile(
  settings: SttServiceSettings<'openai' | 'groq'>,
): TranscriptionProfile {
  const { provider, model, prompt } = settings;
  return {
    ...hosted(provider, settings),
    finalMsP99: FINAL_MS_P99[provider],
    fields: ({ language, terms }) => {
      if (model.startsWith('gpt-transcribe')) {
        return [
          ['model', model],
          ['response_format', 'json'],
          ...(language === undefined ? [] : pair('languages[]', language)),
          ...pair('prompt', prompt ?? ''),
          ...terms.flatMap((term) => pair('keywords[]', term)),
        ];
      }
      // The gpt models report no segments.
      const isPlain = model.startsWith('gpt-');
      return fieldsOf({ model, language, prompt: promptOf(prompt, terms), isPlain });
    },
  };
}

export function speachesProfile(settings: SttServiceSettings<'speaches'>): TranscriptionProfile {
  const { provider, model } = settings;
  return {
    ...hosted(provider, settings),
    finalMsP99: FINAL_MS_P99.own,
    fields: ({ language, terms }) =>
      fieldsOf({ model, language, prompt: promptOf(undefined, terms), isPlain: false }),
  };
}

export function openAiCompatibleProfile(
  settings: SttServiceSettings<'openai_compatible'>,
): TranscriptionProfile {
  const { provider, base_url: base, path, model, prompt } = settings;
  const isPlain = settings.response_format === 'json';
  return {
    ...hosted(provider, settings),
    url: joined(base, path),
    rateHz: settings.sample_rate === 16_000 ? 16_000 : 8_000,
    finalMsP99: FINAL_MS_P99.own,
    fields: ({ language, terms }) =>
      fieldsOf({ model, language, prompt: promptOf(prompt, terms), isPlain }),
  };
}

/** Profile of whisper.cpp's server, which processes one request at a time and accepts 16 kHz only. */
export function whisperCppProfile(
  settings: SttServiceSettings<'whisper_cpp'>,
): TranscriptionProfile {
  const { provider, base_url: base, path } = settings;
  return {
    ...hosted(provider, { ...settings, model: 'whisper.cpp' }),
    url: joined(base, path),
    prepareUrl: joined(base, '/health'),
    rateHz: 16_000,
    finalMsP99: FINAL_MS_P99.openai,
    requestsMax: 1,
    waitingMax: 2,
    fields: ({ language, terms }) => [
      ['response_format', 'verbose_json'],
      ['temperature', '0'],
      ...(language === undefined ? [] : pair('language', language)),
      ...pair('prompt', promptOf(undefined, terms)),
    ],
  };
}

export function huggingFaceProfile(
  settings: SttServiceSettings<'huggingface'>,
): TranscriptionProfile {
  const { provider, base_url: base, model, bill_to: billTo } = settings;
  const { headers, ...rest } = hosted(provider, settings);
  const path = model.split('/').map(encodeURIComponent).join('/');
  return {
    ...rest,
    url: joined(base, `/models/${path}`),
    headers: { ...headers, ...(billTo !== undefined && { 'x-hf-bill-to': billTo }) },
    rateHz: 16_000,
    finalMsP99: FINAL_MS_P99.openai,
  };
}

function hosted(
  service: string,
  of: {
    base_url: string;
    model: string;
    api_key?: string | undefined;
    language?: string | undefined;
  },
): Omit<TranscriptionProfile, 'finalMsP99' | 'fields'> {
  const { base_url: base, model, api_key: apiKey } = of;
  return {
    service,
    model,
    url: joined(base, '/audio/transcriptions'),
    prepareUrl: joined(base, '/models'),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    secrets: apiKey === undefined ? [] : [apiKey],
    rateHz: 8_000,
    requestsMax: REQUESTS_MAX,
    waitingMax: REQUESTS_MAX,
    language: of.language,
  };
}

function fieldsOf(of: {
  model: string;
  language: string | undefined;
  prompt: string;
  isPlain: boolean;
}): [string, string][] {
  return [
    ['model', of.model],
    ['response_format', of.isPlain ? 'json' : 'verbose_json'],
    ['temperature', '0'],
    ...(of.language === undefined ? [] : pair('language', of.language)),
    ...pair('prompt', of.prompt),
    ...(of.isPlain
      ? []
      : (['word', 'segment'] as const).flatMap((each) => pair('timestamp_granularities[]', each))),
  ];
}

function pair(name: string, value: string): [string, string][] {
  return value === '' ? [] : [[name, value]];
}

function promptOf(own: string | undefined, terms: readonly string[]): string {
  const text = [own ?? '', terms.join(', ')].filter((each) => each !== '').join(' ');
  return text.slice(0, PROMPT_CHARACTERS_MAX);
}

function joined(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
