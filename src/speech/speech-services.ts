// The speech services of a process: makes the plan of each call from its settings. Calls with the same settings share
// clients and circuit breakers; behind an organization's services are the embedded ones.

import type {
  SpeechSettings,
  SttSettings,
  TtsSettings,
} from '../model/speech-services/speech-settings.ts';
import type { LanguageModels } from './language-models.ts';
import { CircuitBreaker } from './service/circuit-breaker.ts';
import { ServiceCache } from './service/service-cache.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { ServiceMeans } from './service/service-means.ts';
import type { SpeechPlan } from './speech-plan.ts';
import { createSttService } from './stt/registry.ts';
import type { SpeechToText } from './stt/stt.ts';
import { createSttFallback } from './stt/stt-fallback.ts';
import { createTtsService } from './tts/registry.ts';
import type { TextToSpeech } from './tts/tts.ts';
import { createTtsFallback } from './tts/tts-fallback.ts';

export interface SpeechServicesOptions {
  /** Of calls without settings, and the last fallback of all others. */
  gateway: Pick<SpeechPlan, 'stt' | 'tts' | 'voice'>;
  models: LanguageModels;
  means: ServiceMeans;
}

export class SpeechServices {
  readonly models: LanguageModels;
  readonly #gateway: SpeechServicesOptions['gateway'];
  readonly #means: ServiceMeans;
  readonly #stt: ServiceCache<SpeechToText>;
  readonly #tts: ServiceCache<TextToSpeech>;
  /** Of the embedded services, which are the last in every line. */
  readonly #embedded: CircuitBreaker;

  constructor({ gateway, models, means }: SpeechServicesOptions) {
    const { clock } = means;
    this.models = models;
    this.#gateway = gateway;
    this.#means = means;
    this.#stt = new ServiceCache(clock);
    this.#tts = new ServiceCache(clock);
    this.#embedded = new CircuitBreaker({ clock, service: 'embedded' });
  }

  /** Throws OUTSIDE_FORBIDDEN. */
  plan({ stt, tts, llm }: SpeechSettings): SpeechPlan {
    const onPermanentFault = (fault: ServiceFault): void => plan.onPermanentFault?.(fault);
    const plan: SpeechPlan = {
      stt: this.#recognizer(stt),
      ...this.#synthesizer(tts, onPermanentFault),
      llm: this.models.of(llm),
    };
    return plan;
  }

  async close(): Promise<void> {
    const { stt, tts } = this.#gateway;
    const services = [stt, tts, this.models, ...this.#stt.all(), ...this.#tts.all()];
    await Promise.all(services.map((service) => service?.close()));
    this.#means.warm.close();
  }

  #recognizer(settings: readonly SttSettings[]): SpeechToText | undefined {
    const { clock, log } = this.#means;
    const { stt: embedded } = this.#gateway;
    const services = settings.flatMap((each) => {
      if (each.provider === 'pocketsphinx') return [];
      return [this.#stt.of(each, each.provider, () => createSttService(each, this.#means))];
    });
    if (services.length === 0) return embedded;
    if (embedded !== undefined) services.push({ service: embedded, circuit: this.#embedded });
    return createSttFallback({ services, clock, log });
  }

  #synthesizer(
    settings: readonly TtsSettings[],
    onPermanentFault: (fault: ServiceFault) => void,
  ): Pick<SpeechPlan, 'tts' | 'voice'> {
    const { clock, log } = this.#means;
    const { tts: embedded, voice } = this.#gateway;
    const [first] = settings;
    if (first === undefined) return { tts: embedded, voice };
    const services = settings.flatMap((each) => {
      if (each.provider === 'flite') return [];
      return [this.#tts.of(each, each.provider, () => createTtsService(each, this.#means))];
    });
    const flite = settings.find((each) => each.provider === 'flite');
    if (services.length === 0) return { tts: embedded, voice: flite?.voice ?? voice };
    const last = { service: embedded, circuit: this.#embedded, voice: flite?.voice ?? voice };
    const tts = createTtsFallback({
      services: [...services, last],
      clock,
      log,
      onPermanentFault,
    });
    return { tts, voice: undefined };
  }
}
