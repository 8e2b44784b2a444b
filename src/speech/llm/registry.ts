// The registry of language models by the names of settings. The settings are values: config and stored keys are
// read elsewhere.

import type { LookupFunction } from 'node:net';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { createFallback } from './fallback.ts';
import type { LanguageModel } from './llm.ts';
import { createOpenAi } from './openai/openai.ts';

export interface LanguageModelSettings {
  service: 'openai';
  /** Base URL up to and including the version. */
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
  /** Fields added to every request's body. */
  extra?: Record<string, unknown>;
  /** Resolves the server's name; default: the system. */
  lookup?: LookupFunction;
}

/** The models in order of preference behind one interface, or undefined without any: the scripted dialogue is
 *  used then. */
export function openLanguageModel(
  settings: readonly LanguageModelSettings[],
  means: { clock: Clock; log: Log },
): LanguageModel | undefined {
  if (settings.length === 0) return undefined;
  const models = settings.map((each) => create[each.service]({ ...each, ...means }));
  return createFallback({ models, ...means });
}

const create = { openai: createOpenAi };
