// Registry of language models by the provider in settings: one row each. Receives settings with one key; config and
// stored keys are read elsewhere.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { LlmProvider, LlmServiceSettings } from '../../model/speech-services/schemas/llm.ts';
import type { Clock } from '../../std/clock.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import { FallbackModel } from '../llm/fallback.ts';
import type { LanguageModel } from '../llm/llm.ts';
import { createOpenAi, type OpenAiOptions } from '../llm/openai/openai.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import { CircuitBreaker } from '../service/service-circuit-breaker.ts';
import { createAnthropic } from './anthropic/anthropic.ts';
import { createGemini } from './google/gemini.ts';

export interface LanguageModelMeans {
  clock: Clock;
  log: Log;
  /** Egress rule for addresses that users set. Undefined if the addresses are the operator's. */
  egress?: Pick<Egress, 'check' | 'connect'> | undefined;
}

/** Deadline of the first token if another model can take over. */
const FIRST_TOKEN_WITH_FALLBACK_MS_MAX = 3_500;

/** Opens the models, in order of preference, behind one interface. Returns undefined without any: the scripted dialogue
 *  is used then. Throws OUTSIDE_FORBIDDEN. */
export function openLanguageModel(
  settings: readonly LlmServiceSettings[],
  means: LanguageModelMeans,
): LanguageModel | undefined {
  if (settings.length === 0) return undefined;
  const { clock, log } = means;
  const services = settings.map((each, index) => ({
    model: openModel(each, index + 1 < settings.length, means),
    circuit: new CircuitBreaker({ clock, service: each.provider }),
  }));
  return new FallbackModel({ services, ownsModels: true, clock, log });
}

/** Opens one model. `hasNext`: whether another one answers if it fails. Throws OUTSIDE_FORBIDDEN. */
export function openModel(
  settings: LlmServiceSettings,
  hasNext: boolean,
  { clock, log, egress }: LanguageModelMeans,
): LanguageModel {
  const firstTokenMsMax = hasNext ? FIRST_TOKEN_WITH_FALLBACK_MS_MAX : undefined;
  egress?.check('endpoint' in settings ? settings.endpoint : settings.base_url);
  warnOfRetirement(settings, { clock, log });
  return createService(settings, { clock, log, connect: egress?.connect, firstTokenMsMax });
}

function createService<P extends LlmProvider>(
  settings: LlmServiceSettings<P> & { provider: P },
  means: ModelMeans,
): LanguageModel {
  return create[settings.provider](settings, means);
}

const create: {
  [P in LlmProvider]: (settings: LlmServiceSettings<P>, means: ModelMeans) => LanguageModel;
} = {
  anthropic: (settings, means) => createAnthropic({ ...means, ...common(settings) }),
  google: (settings, means) => createGemini({ ...means, ...common(settings) }),
  azure: (settings, means) =>
    compatible({ ...settings, base_url: azureUrl(settings.endpoint) }, means),
  huggingface: (settings, means) => {
    const headers = settings.bill_to === undefined ? {} : { 'x-hf-bill-to': settings.bill_to };
    return compatible(settings, means, { headers });
  },
  minimax: (settings, means) => compatible(settings, means, { temperature: settings.temperature }),
  sarvam: (settings, means) => compatible(settings, means, { temperature: settings.temperature }),
  openai: compatible,
  groq: compatible,
  openrouter: compatible,
  atlascloud: compatible,
  together: compatible,
  fireworks: compatible,
  deepseek: compatible,
  cerebras: compatible,
  mistral: compatible,
  xai: compatible,
  speaches: compatible,
  ollama: compatible,
  vllm: compatible,
  llama_cpp: compatible,
  openai_compatible: compatible,
};

interface Common {
  base_url: string;
  api_key?: string | undefined;
  model: string;
  extra_body?: Record<string, unknown> | undefined;
}

function common({ base_url: baseUrl, api_key: apiKey, model, extra_body: extra }: Common) {
  return { baseUrl, apiKey, model, extra };
}

function compatible(
  settings: Common & { provider: NonNullable<OpenAiOptions['service']> },
  means: ModelMeans,
  own: Pick<OpenAiOptions, 'headers' | 'temperature'> = {},
): LanguageModel {
  return createOpenAi({ ...means, ...own, ...common(settings), service: settings.provider });
}

/** URL of the v1 interface below the resource's address, unless the address already has a path. */
function azureUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, '');
  return new URL(base).pathname === '/' ? `${base}/openai/v1` : base;
}
