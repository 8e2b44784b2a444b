// Selects the language model of a review: the gateway's, or one that the node names with a key of its own.

import type { Log } from '../../log.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import { openLanguageModel } from '../../speech/llm/registry.ts';
import type { Clock } from '../../std/clock.ts';
import type { ReviewNodeSettings } from '../../workflow/graph/post-call-nodes.ts';
import type { GuardedHttp } from '../http/guarded-http.ts';

interface Service {
  /** Base URL up to and including the version; undefined where every customer has an own address. */
  baseUrl: string | undefined;
  /** For the model `default`. */
  model: string;
}

/** Services with the chat completions interface, by the node's `qa_provider`. */
const services: Readonly<Record<string, Service>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', model: 'gpt-4.1' },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', model: 'openai/gpt-4.1' },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', model: 'claude-sonnet-4-5' },
  azure: { baseUrl: undefined, model: 'gpt-4.1' },
};

export interface ReviewModelDeps {
  /** The gateway's model; undefined if it has none. */
  llm: LanguageModel | undefined;
  clock: Clock;
  log: Log;
  outside: Pick<GuardedHttp, 'check' | 'lookup'>;
}

/** Undefined without a model. Call `close` when the review is over. Throws OUTSIDE_FORBIDDEN. */
export function reviewModel(
  deps: ReviewModelDeps,
  review: ReviewNodeSettings,
): { model: LanguageModel; close: () => Promise<void> } | undefined {
  const { llm, clock, log } = deps;
  if (review.usesGatewayModel) {
    return llm === undefined ? undefined : { model: llm, close: () => Promise.resolve() };
  }
  const service = services[review.provider];
  const baseUrl = review.endpoint ?? service?.baseUrl;
  const model = review.model === 'default' ? service?.model : review.model;
  if (review.apiKey === null || baseUrl === undefined || model === undefined) return undefined;
  const { check, lookup } = deps.outside;
  check(baseUrl);
  const settings = { service: 'openai', baseUrl, apiKey: review.apiKey, model, lookup } as const;
  const own = openLanguageModel([settings], { clock, log });
  return own === undefined ? undefined : { model: own, close: () => own.close() };
}
