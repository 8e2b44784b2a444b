// The language models of a process, by the settings of organizations; beside a process of calls also one that loads no
// recogniser and no voice.

import type { LlmSettings } from '../model/speech-services/speech-settings.ts';
import type { LanguageModel } from './llm/llm.ts';
import { openLanguageModel } from './llm/registry.ts';
import { ServiceCache } from './service/service-cache.ts';
import type { ServiceMeans } from './service/service-means.ts';

type Means = Pick<ServiceMeans, 'clock' | 'log' | 'egress'>;

export class LanguageModels {
  readonly #gateway: LanguageModel | undefined;
  readonly #means: Means;
  readonly #models: ServiceCache<LanguageModel | undefined>;

  /** `gateway`: for organizations without settings. It is not behind the models of the others: it is at the operator's
   *  expense. */
  constructor(gateway: LanguageModel | undefined, means: Means) {
    this.#gateway = gateway;
    this.#means = means;
    this.#models = new ServiceCache(means.clock);
  }

  /** Undefined: the scripted policy leads the conversation. Throws OUTSIDE_FORBIDDEN. */
  of(settings: readonly LlmSettings[]): LanguageModel | undefined {
    const [first] = settings;
    if (first === undefined) return this.#gateway;
    if (first.provider === 'scripted') return undefined;
    const services = settings.flatMap((each) => (each.provider === 'scripted' ? [] : [each]));
    const open = () => openLanguageModel(services, this.#means);
    return this.#models.of(services, first.provider, open).service;
  }

  async close(): Promise<void> {
    await Promise.all([this.#gateway, ...this.#models.all()].map((model) => model?.close()));
  }
}
