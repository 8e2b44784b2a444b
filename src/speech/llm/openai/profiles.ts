// Services with the interface of OpenAI's chat completions, one row each: what their servers want otherwise than
// OpenAI's own. A fact that is missing here costs one refused request (client/dialect), a wrong one is overridden by
// the configuration's `extra_body`.

import type { WarmUp } from '../client/protocol.ts';

export interface OpenAiProfile {
  keyHeader: 'authorization' | 'api-key' | 'api-subscription-key';
  tokensField: 'max_tokens' | 'max_completion_tokens';
  /** Fields that are never sent. */
  without: readonly string[];
  /** Fields of every request. */
  body: Record<string, unknown>;
  headers: Record<string, string>;
  /** Models that take a key of the prompt cache. Undefined: none. */
  cacheKeyModels: RegExp | undefined;
  /** By the model's name; the first that fits. */
  families: readonly ModelFamily[];
  temperatureMin: number;
  temperatureMax: number;
  /** Ids of tool calls are nine letters or digits. */
  shortToolIds: boolean;
  /** The last message is the user's or a tool's. */
  endsWithUser: boolean;
  /** The assistant speaks between a tool's result and the user. */
  answersTools: boolean;
  /** `reasoning_content` is returned while the model goes on after its tool calls. */
  returnsReasoning: boolean;
  /** Codes of errors that come with status 200, by their meaning elsewhere. */
  errorCodes: Readonly<Record<string, string>>;
  warmUp: (model: string) => WarmUp;
}

export interface ModelFamily {
  models: RegExp;
  tokensField?: OpenAiProfile['tokensField'];
  without?: readonly string[];
  body?: Record<string, unknown>;
}

const plain: OpenAiProfile = {
  keyHeader: 'authorization',
  tokensField: 'max_tokens',
  without: [],
  body: {},
  headers: {},
  cacheKeyModels: undefined,
  families: [],
  temperatureMin: 0,
  temperatureMax: 2,
  shortToolIds: false,
  endsWithUser: false,
  answersTools: false,
  returnsReasoning: false,
  errorCodes: {},
  warmUp: () => ({ method: 'GET', path: 'models' }),
};

const tokensField = 'max_completion_tokens';
const without = ['temperature'];

/** Reasoning costs seconds before the first word: as little of it as each model accepts. */
const openAiFamilies: readonly ModelFamily[] = [
  { models: /^gpt-5(\.\d+)?-chat/, tokensField, without },
  {
    models: /^gpt-5(-mini|-nano)?(-\d{4}-\d{2}-\d{2})?$/,
    tokensField,
    without,
    body: { reasoning_effort: 'minimal', verbosity: 'low' },
  },
  {
    models: /^gpt-(5\.|[6-9])/,
    tokensField,
    without,
    body: { reasoning_effort: 'none', verbosity: 'low' },
  },
  { models: /^o\d/, tokensField, without, body: { reasoning_effort: 'low' } },
];

/** OpenAI's own models, whatever serves them. */
const cacheKeyModels = /^(gpt-\d|o\d)/;

const gptOss: ModelFamily = { models: /gpt-oss/, body: { reasoning_effort: 'low' } };

/** By the provider's id in configurations. */
export const profiles = {
  openai: { ...plain, cacheKeyModels, families: openAiFamilies },
  azure: { ...plain, keyHeader: 'api-key', cacheKeyModels, families: openAiFamilies },
  groq: {
    ...plain,
    families: [
      gptOss,
      { models: /qwen3/, body: { reasoning_effort: 'none' } },
      { models: /deepseek-r1|qwq/, body: { reasoning_format: 'hidden' } },
    ],
  },
  together: { ...plain, families: [gptOss] },
  fireworks: { ...plain, without: ['stream_options'], families: [gptOss] },
  openrouter: {
    ...plain,
    headers: { 'x-title': 'Patchbay' },
    without: ['stream_options'],
    body: {
      usage: { include: true },
      provider: { sort: 'latency' },
      reasoning: { effort: 'minimal' },
    },
    families: [
      { models: /^openai\/gpt-(5\.|[6-9])/, without, body: { reasoning: { effort: 'none' } } },
      { models: /^openai\/(gpt-5|o\d)/, without },
    ],
  },
  deepseek: {
    ...plain,
    returnsReasoning: true,
    families: [{ models: /^deepseek-(?!reasoner)/, body: { thinking: { type: 'disabled' } } }],
  },
  cerebras: { ...plain, tokensField, without: ['stream_options'], families: [gptOss] },
  mistral: { ...plain, shortToolIds: true, endsWithUser: true, answersTools: true },
  xai: {
    ...plain,
    families: [{ models: /^grok-3-mini/, body: { reasoning_effort: 'low' } }],
  },
  atlascloud: plain,
  huggingface: { ...plain, families: [gptOss] },
  minimax: {
    ...plain,
    temperatureMin: 0.01,
    errorCodes: {
      1002: 'rate_limit',
      1004: 'authentication',
      1008: 'insufficient_balance',
      1026: 'content_filter',
      1027: 'content_filter',
      1039: 'rate_limit',
      2013: 'invalid_request',
      2049: 'invalid_api_key',
    },
  },
  sarvam: { ...plain, keyHeader: 'api-subscription-key', body: { reasoning_effort: null } },
  speaches: plain,
  ollama: {
    ...plain,
    body: { reasoning_effort: 'none' },
    // The first request would wait until the model is in memory.
    warmUp: (model) => ({
      method: 'POST',
      path: '/api/generate',
      body: { model, keep_alive: '30m' },
    }),
  },
  vllm: { ...plain, body: { chat_template_kwargs: { enable_thinking: false } } },
  llama_cpp: {
    ...plain,
    body: { cache_prompt: true, chat_template_kwargs: { enable_thinking: false } },
  },
  openai_compatible: plain,
} as const satisfies Record<string, OpenAiProfile>;

export type ProfileName = keyof typeof profiles;
