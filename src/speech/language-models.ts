// Language models of a process, shared between calls by their settings. A process without recognition and synthesis can
// use it alone.

import type { Log } from '../log.ts';
import type { LlmSettings } from '../model/speech-services/speech-settings.ts';
import { FallbackModel } from './llm/fallback.ts';
import type { LanguageModel } from './llm/llm.ts';
import { ServiceCache } from './service/service-cache.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { ServiceMeans } from './service/service-means.ts';
import type { ServiceReports } from './service/service-reports.ts';
import { openModel } from './vendors/llm-registry.ts';

type Means = Pick<ServiceMeans, 'clock' | 'log' | 'egress'>;

interface OfCall {
  /** Log of the call. Default: the gateway's. */
  log?: Log;
  /** Receives the reports of all services of the call. */
  reports?: ServiceReports | undefined;
  /** Called with a lasting fault that earlier calls have met. */
  onKnownFault?: ((fault: ServiceFault) => void) | undefined;
}

export class LanguageModels {
  readonly #gateway: LanguageModel | undefined;
  readonly #means: Means;
  readonly #models: ServiceCache<LanguageModel>;

  /** `gateway`: model for organizations without settings. It is never the fallback of an organization's own models,
   *  since the operator pays for it. */
  constructor(gateway: LanguageModel | undefined, means: Means) {
    this.#gateway = gateway;
    this.#means = means;
    this.#models = new ServiceCache(means.clock, 'llm');
  }

  /** Models of one call. Undefined: the scripted policy leads the conversation. Throws OUTSIDE_FORBIDDEN. */
  of(
    settings: readonly LlmSettings[],
    { reports, onKnownFault, log = this.#means.log }: OfCall = {},
  ): LanguageModel | undefined {
    const [first] = settings;
    if (first === undefined) return this.#gateway?.ofCall?.() ?? this.#gateway;
    if (first.provider === 'scripted') return undefined;
    const models = settings.flatMap((each) => (each.provider === 'scripted' ? [] : [each]));
    const services = models.map((each, index) => {
      const hasNext = index + 1 < models.length;
      const open = () => openModel(each, hasNext, this.#means);
      const { service: model, circuit } = this.#models.of(
        { ...each, hasNext },
        each.provider,
        open,
      );
      if (circuit.permanentFault !== undefined) onKnownFault?.(circuit.permanentFault);
      return { model, circuit };
    });
    const { clock } = this.#means;
    return new FallbackModel({ services, clock, log, reports });
  }

  /** Whether the model works with these settings, as far as earlier conversations show. */
  isUsable(settings: object): boolean {
    return this.#models.isOpenToCalls(settings);
  }

  async close(): Promise<void> {
    await Promise.all([this.#gateway, ...this.#models.all()].map((model) => model?.close()));
  }
}
