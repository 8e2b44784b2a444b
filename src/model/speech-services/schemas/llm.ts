// The language models of this version: one schema per provider, the source of its type, check, form and mask. Provider
// ids, field names and defaults are the reference's where it has the provider, except `base_url` where it has none,
// `temperature` and `extra_body`. Source: contract §10.4.

import { z } from 'zod';
import { serviceAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

export const OPENAI_URL = 'https://api.openai.com/v1';
/** A model that answers without reasoning, and whose end is not announced (retirements.ts). */
export const OPENAI_MODEL = 'gpt-5.4-mini';

const NAME_CHARACTERS_MAX = 200;
const EXTRA_CHARACTERS_MAX = 16_000;

const titledKey = secretKey.meta({ title: 'API key', secret: true });

const apiKey = titledKey.describe('The key to the service.');

const optionalKey = titledKey
  .optional()
  .describe('Sent as a Bearer token, if the server wants one.');

function model(usual: string, examples: readonly string[]) {
  return z
    .string()
    .trim()
    .min(1)
    .max(NAME_CHARACTERS_MAX)
    .default(usual)
    .meta({ title: 'Model', examples: [usual, ...examples], allow_custom_input: true });
}

function baseUrl(usual: string) {
  return serviceAddress(/^https?$/)
    .default(usual)
    .describe('Up to and including the version.');
}

/** Fields of every service. */
const ours = {
  extra_body: z
    .record(z.string(), z.unknown())
    .refine(
      (extra) => JSON.stringify(extra).length <= EXTRA_CHARACTERS_MAX,
      `has more than ${EXTRA_CHARACTERS_MAX} characters as JSON`,
    )
    .optional()
    .describe("Fields added to every request's body; they override the gateway's."),
};

const scripted = z
  .object({ provider: z.literal('scripted') })
  .meta({ title: 'Scripted', description: "Walks the agent's graph without a model." });

const openai = z
  .object({
    provider: z.literal('openai'),
    base_url: baseUrl(OPENAI_URL),
    api_key: optionalKey,
    model: model(OPENAI_MODEL, ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-luna', 'gpt-6-luna']),
    ...ours,
  })
  .meta({
    title: 'OpenAI',
    description: 'OpenAI, or any service with its chat interface.',
    provider_docs_url: 'https://platform.openai.com/docs/models',
  });

const azure = z
  .object({
    provider: z.literal('azure'),
    api_key: apiKey,
    endpoint: serviceAddress(/^https?$/).describe("The resource's own address, without a path."),
    model: model(OPENAI_MODEL, ['gpt-5.4']).describe('The name of the deployment.'),
    ...ours,
  })
  .meta({
    title: 'Azure OpenAI',
    description: 'OpenAI models in a resource of Azure, through its v1 interface.',
    provider_docs_url: 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle',
  });

const anthropic = z
  .object({
    provider: z.literal('anthropic'),
    base_url: baseUrl('https://api.anthropic.com/v1'),
    api_key: apiKey,
    model: model('claude-haiku-5-5', ['claude-haiku-4-5', 'claude-sonnet-5-5', 'claude-opus-5-5']),
    ...ours,
  })
  .meta({
    title: 'Anthropic',
    description: 'Claude, through the Messages interface.',
    provider_docs_url: 'https://docs.claude.com/en/docs/about-claude/models/overview',
  });

const google = z
  .object({
    provider: z.literal('google'),
    base_url: baseUrl('https://generativelanguage.googleapis.com/v1beta'),
    api_key: apiKey,
    model: model('gemini-3.5-flash', ['gemini-3.5-flash-lite', 'gemini-3.8-flash']),
    ...ours,
  })
  .meta({
    title: 'Google Gemini',
    description: 'Gemini, through its API with a key.',
    provider_docs_url: 'https://ai.google.dev/gemini-api/docs/models',
  });

/** Schema of a service that differs from the others only by its address and its models. */
function hosted<P extends string>(
  provider: P,
  row: { title: string; url: string; usual: string; examples: readonly string[]; docs: string },
) {
  return z
    .object({
      provider: z.literal(provider),
      base_url: baseUrl(row.url),
      api_key: apiKey,
      model: model(row.usual, row.examples),
      ...ours,
    })
    .meta({
      title: row.title,
      description: `${row.title}, through its chat interface.`,
      provider_docs_url: row.docs,
    });
}

const groq = hosted('groq', {
  title: 'Groq',
  url: 'https://api.groq.com/openai/v1',
  usual: 'openai/gpt-oss-120b',
  examples: ['openai/gpt-oss-20b', 'qwen/qwen3.6-27b'],
  docs: 'https://console.groq.com/docs/models',
});

const openrouter = hosted('openrouter', {
  title: 'OpenRouter',
  url: 'https://openrouter.ai/api/v1',
  usual: `openai/${OPENAI_MODEL}`,
  examples: [
    'anthropic/claude-sonnet-5',
    'google/gemini-3.5-flash',
    'meta-llama/llama-3.3-70b-instruct',
  ],
  docs: 'https://openrouter.ai/models',
});

const atlascloud = hosted('atlascloud', {
  title: 'Atlas Cloud',
  url: 'https://api.atlascloud.ai/v1',
  usual: 'qwen/qwen3.5-flash',
  examples: ['deepseek-ai/deepseek-v4-pro'],
  docs: 'https://www.atlascloud.ai/docs',
});

const together = hosted('together', {
  title: 'Together AI',
  url: 'https://api.together.xyz/v1',
  usual: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  examples: ['openai/gpt-oss-120b'],
  docs: 'https://docs.together.ai/docs/serverless-models',
});

const fireworks = hosted('fireworks', {
  title: 'Fireworks AI',
  url: 'https://api.fireworks.ai/inference/v1',
  usual: 'accounts/fireworks/models/gpt-oss-120b',
  examples: ['accounts/fireworks/models/gpt-oss-20b'],
  docs: 'https://docs.fireworks.ai',
});

const deepseek = hosted('deepseek', {
  title: 'DeepSeek',
  url: 'https://api.deepseek.com/v1',
  usual: 'deepseek-flash',
  examples: [],
  docs: 'https://api-docs.deepseek.com',
});

const cerebras = hosted('cerebras', {
  title: 'Cerebras',
  url: 'https://api.cerebras.ai/v1',
  usual: 'gpt-oss-120b',
  examples: [],
  docs: 'https://inference-docs.cerebras.ai/models/overview',
});

const mistral = hosted('mistral', {
  title: 'Mistral',
  url: 'https://api.mistral.ai/v1',
  usual: 'mistral-small-latest',
  examples: ['mistral-medium-latest', 'ministral-8b-latest'],
  docs: 'https://docs.mistral.ai/getting-started/models/models_overview',
});

const xai = hosted('xai', {
  title: 'xAI',
  url: 'https://api.x.ai/v1',
  usual: 'grok-4.3',
  examples: ['grok-4.20-non-reasoning'],
  docs: 'https://docs.x.ai/docs/models',
});

const huggingface = z
  .object({
    provider: z.literal('huggingface'),
    base_url: baseUrl('https://router.huggingface.co/v1'),
    api_key: apiKey,
    model: model('openai/gpt-oss-120b:cerebras', [
      'deepseek-ai/DeepSeek-R1:fastest',
      'Qwen/Qwen3-Coder-480B-A35B-Instruct',
    ]),
    bill_to: z
      .string()
      .trim()
      .min(1)
      .max(NAME_CHARACTERS_MAX)
      // The value is sent as a header.
      .regex(/^[\x21-\x7e]+$/)
      .optional()
      .describe('The organization that pays.'),
    ...ours,
  })
  .meta({
    title: 'Hugging Face',
    description: 'Inference providers behind the router of Hugging Face.',
    provider_docs_url: 'https://huggingface.co/docs/inference-providers/index',
  });

const minimax = z
  .object({
    provider: z.literal('minimax'),
    base_url: baseUrl('https://api.minimax.io/v1'),
    api_key: apiKey,
    model: model('MiniMax-M2.7', ['MiniMax-M2.7-highspeed', 'MiniMax-M3']),
    temperature: z.number().gt(0).max(2).default(1),
    ...ours,
  })
  .meta({
    title: 'MiniMax',
    description: 'MiniMax, through its chat interface.',
    provider_docs_url: 'https://platform.minimax.io/docs/guides/text-generation',
  });

const sarvam = z
  .object({
    provider: z.literal('sarvam'),
    base_url: baseUrl('https://api.sarvam.ai/v1'),
    api_key: apiKey,
    model: model('sarvam-105b', []),
    temperature: z.number().min(0).max(2).default(0.5),
    ...ours,
  })
  .meta({
    title: 'Sarvam',
    description: 'Models for Indian languages.',
    provider_docs_url: 'https://docs.sarvam.ai',
  });

/** Schema of a user's own server. */
function local<P extends string>(
  provider: P,
  row: {
    title: string;
    url: string;
    usual: string;
    examples: readonly string[];
    description: string;
  },
) {
  return z
    .object({
      provider: z.literal(provider),
      base_url: baseUrl(row.url),
      api_key: optionalKey,
      model: model(row.usual, row.examples),
      ...ours,
    })
    .meta({ title: row.title, description: row.description });
}

const speaches = local('speaches', {
  title: 'Local models',
  url: 'http://localhost:11434/v1',
  usual: 'llama3',
  examples: ['mistral', 'phi3', 'qwen2', 'gemma2', 'deepseek-r1'],
  description: 'Any server of your own with the chat interface.',
});

const ollama = local('ollama', {
  title: 'Ollama',
  url: 'http://localhost:11434/v1',
  usual: 'llama3.1',
  examples: ['qwen3', 'mistral', 'gpt-oss'],
  description:
    'An Ollama server of your own. A longer context than 4,096 tokens is set in its Modelfile.',
});

const vllm = local('vllm', {
  title: 'vLLM',
  url: 'http://localhost:8000/v1',
  usual: 'meta-llama/Llama-3.1-8B-Instruct',
  examples: ['Qwen/Qwen3-8B'],
  description: 'A vLLM server of your own, started with --enable-auto-tool-choice.',
});

const llamaCpp = local('llama_cpp', {
  title: 'llama.cpp',
  url: 'http://localhost:8080/v1',
  usual: 'default',
  examples: [],
  description: 'A llama.cpp server of your own, started with --jinja.',
});

const openaiCompatible = z
  .object({
    provider: z.literal('openai_compatible'),
    base_url: serviceAddress(/^https?$/).describe('Up to and including the version.'),
    api_key: optionalKey,
    model: z.string().trim().min(1).max(NAME_CHARACTERS_MAX),
    ...ours,
  })
  .meta({
    title: 'OpenAI-compatible',
    description: 'Any other service with the chat interface of OpenAI.',
  });

export const llmServices = {
  scripted,
  openai,
  azure,
  anthropic,
  google,
  groq,
  openrouter,
  atlascloud,
  together,
  fireworks,
  deepseek,
  cerebras,
  mistral,
  xai,
  huggingface,
  minimax,
  sarvam,
  speaches,
  ollama,
  vllm,
  llama_cpp: llamaCpp,
  openai_compatible: openaiCompatible,
} as const;

type Services = typeof llmServices;
/** Providers with a model; the scripted policy has none. */
export type LlmProvider = Exclude<keyof Services, 'scripted'>;
/** The settings of one model by its provider. */
export type LlmServiceSettings<P extends LlmProvider = LlmProvider> = z.output<Services[P]>;
