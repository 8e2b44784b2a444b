// Profiles of services with OpenAI's chat completions interface: one row each with their differences from OpenAI's own.
// A missing entry costs one refused request (client/dialect). The configuration's `extra_body` overrides a wrong one.

import type { WarmUp } from '../client/protocol.ts';

export interface OpenAiProfile {
  keyHeader: 'authorization' | 'api-key' | 'api-subscription-key';
  tokensField: 'max_tokens' | 'max_completion_tokens';
  /** Fields that are never sent. */
  without: readonly string[];
  /** Fields added to every request. */
  body: Record<string, unknown>;
  headers: Record<string, string>;
  /** Models that support a prompt cache key. Undefined: none. */
  cacheKeyModels: RegExp | undefined;
  /** Model families, matched by name. The first match applies. */
  families: readonly ModelFamily[];
  temperatureMin: number;
  temperatureMax: number;
  /** Whether ids of tool calls must be nine letters or digits. */
  shortToolIds: boolean;
  /** Whether the last message must be the user's or a tool's. */
  endsWithUser: boolean;
  /** Whether an assistant message must stand between a tool's result and the user's message. */
  answersTools: boolean;
  /** Whether `reasoning_content` must be returned while the model continues after its tool calls. */
  returnsReasoning: boolean;
  /** Maps error codes that come with status 200 to standard codes. */
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

/** Settings for the least reasoning that each model accepts, since it delays the first word by seconds. */
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

/** OpenAI's own models, on any server. */
const cacheKeyModels = /^(gpt-\d|o\d)/;

const gptOss: ModelFamily = { models: /gpt-oss/, body: { reasoning_effort: 'low' } };

/** Profiles by the provider's id in configurations. */
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
    families: [
      { models: /^grok-4\.3/, body: { reasoning_effort: 'none' } },
      { models: /^grok-(3-mini|4\.[5-9]|[5-9])/, body: { reasoning_effort: 'low' } },
    ],
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
    // Loads the model into memory. Otherwise the first request waits for that.
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
