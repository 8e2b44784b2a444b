// Hosted language models with the chat interface of OpenAI, from vendors that have no other service here.

import { type Announcement, hostedModel } from '../service-fields.ts';
import { OPENAI_MODEL } from './openai.ts';

const openrouter = hostedModel('openrouter', {
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

const atlascloud = hostedModel('atlascloud', {
  title: 'Atlas Cloud',
  url: 'https://api.atlascloud.ai/v1',
  usual: 'qwen/qwen3.5-flash',
  examples: ['deepseek-ai/deepseek-v4-pro'],
  docs: 'https://www.atlascloud.ai/docs',
});

const together = hostedModel('together', {
  title: 'Together AI',
  url: 'https://api.together.xyz/v1',
  usual: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  examples: ['openai/gpt-oss-120b'],
  docs: 'https://docs.together.ai/docs/serverless-models',
});

const fireworks = hostedModel('fireworks', {
  title: 'Fireworks AI',
  url: 'https://api.fireworks.ai/inference/v1',
  usual: 'accounts/fireworks/models/gpt-oss-120b',
  examples: ['accounts/fireworks/models/gpt-oss-20b'],
  docs: 'https://docs.fireworks.ai',
});

const deepseek = hostedModel('deepseek', {
  title: 'DeepSeek',
  url: 'https://api.deepseek.com/v1',
  usual: 'deepseek-flash',
  examples: [],
  docs: 'https://api-docs.deepseek.com',
});

const cerebras = hostedModel('cerebras', {
  title: 'Cerebras',
  url: 'https://api.cerebras.ai/v1',
  usual: 'gpt-oss-120b',
  examples: [],
  docs: 'https://inference-docs.cerebras.ai/models/overview',
});

const mistral = hostedModel('mistral', {
  title: 'Mistral',
  url: 'https://api.mistral.ai/v1',
  usual: 'mistral-small-latest',
  examples: ['mistral-medium-latest', 'ministral-8b-latest'],
  docs: 'https://docs.mistral.ai/getting-started/models/models_overview',
});

const deepseekRetirements: Announcement = {
  source: 'https://api-docs.deepseek.com/quick_start/pricing',
  ends: [['2026-07-24', 'deepseek-flash', 'deepseek-chat deepseek-reasoner']],
};

const cerebrasRetirements: Announcement = {
  source: 'https://inference-docs.cerebras.ai/support/deprecation',
  ends: [
    ['2026-02-16', 'gpt-oss-120b', 'llama-3.3-70b qwen-3-32b'],
    ['2026-05-27', 'gpt-oss-120b', 'llama3.1-8b qwen-3-235b-a22b-instruct-2507'],
  ],
};

export const hostedModels = {
  llm: { openrouter, atlascloud, together, fireworks, deepseek, cerebras, mistral },
  retirements: { deepseek: [deepseekRetirements], cerebras: [cerebrasRetirements] },
} as const;
