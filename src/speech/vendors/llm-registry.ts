// Registry of language models by the provider in settings: one row each. Receives settings with one key; config and
// stored keys are read elsewhere.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { LlmProvider, LlmServiceSettings } from '../../model/speech-services/services.ts';
import type { Clock } from '../../std/clock.ts';
import type { ModelMeans } from '../llm/client/model-client.ts';
import { FallbackModel } from '../llm/fallback.ts';
import type { LanguageModel } from '../llm/llm.ts';
import { warnOfRetirement } from '../service/retirement-warning.ts';
import { CircuitBreaker } from '../service/service-circuit-breaker.ts';
import type { LlmVendors } from './vendor.ts';
import { vendors } from './vendors.ts';

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
    circuit: new CircuitBreaker({ clock, job: 'llm', service: each.provider }),
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
  return models[settings.provider].llm(settings, means);
}

const models: LlmVendors = vendors;
