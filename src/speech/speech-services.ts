// The speech services of a process: makes the plan of each call from its settings. Calls with the same settings share
// clients and circuit breakers; behind an organization's services are the embedded ones.

import { GatewayError } from '../errors/gateway-error.ts';
import type {
  LlmSettings,
  SpeechSettings,
  SttSettings,
  TtsSettings,
} from '../model/speech-services/speech-settings.ts';
import type { LanguageModels } from './language-models.ts';
import type { LanguageModel } from './llm/llm.ts';
import { CircuitBreaker } from './service/circuit-breaker.ts';
import { ServiceCache } from './service/service-cache.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { ServiceMeans } from './service/service-means.ts';
import { SessionLimits } from './service/session-limit.ts';
import type { PlannedSpeech, SpeechPlan } from './speech-plan.ts';
import type { SttFallbackService } from './stt/fallback/fallback-recognizer.ts';
import { createSttService } from './stt/registry.ts';
import type { SpeechToText } from './stt/stt.ts';
import { createSttFallback } from './stt/stt-fallback.ts';
import { createTtsService } from './tts/registry.ts';
import type { TtsFallbackService } from './tts/service-line.ts';
import { serviceVoice } from './tts/service-voice.ts';
import type { TextToSpeech } from './tts/tts.ts';
import { createTtsFallback } from './tts/tts-fallback.ts';

export interface SpeechServicesOptions {
  /** Of calls without settings, and the last fallback of all others. */
  gateway: Pick<SpeechPlan, 'stt' | 'tts' | 'voice'>;
  models: LanguageModels;
  means: ServiceMeans;
  /** Call workers among which the concurrency limit of a key is divided. Default: 1. */
  workers?: number;
}

/** One call's plan in the making. */
interface Planning {
  faults: GatewayError[];
  onPermanentFault: (fault: ServiceFault) => void;
}

export class SpeechServices {
  readonly models: LanguageModels;
  readonly #gateway: SpeechServicesOptions['gateway'];
  readonly #means: ServiceMeans;
  readonly #stt: ServiceCache<SpeechToText>;
  readonly #tts: ServiceCache<TextToSpeech>;
  readonly #sessions: SessionLimits;
  /** The embedded services, each with its circuit. */
  readonly #embeddedStt: SttFallbackService | undefined;
  readonly #embeddedTts: TtsFallbackService;

  constructor({ gateway, models, means, workers = 1 }: SpeechServicesOptions) {
    const { clock } = means;
    const { stt, tts, voice } = gateway;
    const circuitOf = (service: string) => new CircuitBreaker({ clock, service });
    this.models = models;
    this.#gateway = gateway;
    this.#means = means;
    this.#stt = new ServiceCache(clock);
    this.#tts = new ServiceCache(clock);
    this.#sessions = new SessionLimits(clock, workers);
    this.#embeddedStt = stt && { service: stt, circuit: circuitOf(stt.name) };
    this.#embeddedTts = { service: tts, circuit: circuitOf(tts.name), voice };
  }

  /** Never throws: a service that cannot be used is left out and is one of the faults, as is one whose fault an earlier
   *  call met and that lasts. */
  plan({ stt, tts, llm }: SpeechSettings): PlannedSpeech {
    const faults: GatewayError[] = [];
    const onPermanentFault = (fault: ServiceFault): void => plan.onPermanentFault?.(fault);
    const planning = { faults, onPermanentFault };
    const plan: SpeechPlan = {
      stt: this.#recognizer(stt, planning),
      ...this.#synthesizer(tts, planning),
      llm: this.#languageModel(llm, planning),
    };
    return { plan, faults };
  }

  async close(): Promise<void> {
    const { stt, tts } = this.#gateway;
    const services = [stt, tts, this.models, ...this.#stt.all(), ...this.#tts.all()];
    await Promise.all(services.map((service) => service?.close()));
    this.#means.warm.close();
  }

  #recognizer(
    settings: readonly SttSettings[],
    { faults, onPermanentFault }: Planning,
  ): SpeechToText | undefined {
    const { clock, log } = this.#means;
    const embedded = this.#embeddedStt;
    const services = settings.flatMap((each) => {
      if (each.provider === 'pocketsphinx') return embedded === undefined ? [] : [embedded];
      const open = () => createSttService(each, this.#means);
      const limit = 'concurrency_limit' in each ? each.concurrency_limit : undefined;
      return usable(faults, () => ({
        ...this.#stt.of(each, each.provider, open),
        sessions: this.#sessions.of(each, limit),
      }));
    });
    if (embedded !== undefined && !services.includes(embedded)) services.push(embedded);
    noteKnownFaults(services, faults);
    if (services.every((each) => each === embedded)) return embedded?.service;
    return createSttFallback({ services, clock, log, onPermanentFault });
  }

  #synthesizer(
    settings: readonly TtsSettings[],
    { faults, onPermanentFault }: Planning,
  ): Pick<SpeechPlan, 'tts' | 'voice'> {
    const { clock, log } = this.#means;
    const services = settings.flatMap((each): TtsFallbackService[] => {
      if (each.provider === 'flite') return [{ ...this.#embeddedTts, voice: each.voice }];
      const open = () => serviceVoice(createTtsService(each, this.#means));
      return usable(faults, () => this.#tts.of(each, each.provider, open));
    });
    const isEmbedded = ({ circuit }: TtsFallbackService) => circuit === this.#embeddedTts.circuit;
    if (!services.some(isEmbedded)) services.push(this.#embeddedTts);
    noteKnownFaults(services, faults);
    const [first] = services;
    if (first !== undefined && services.every(isEmbedded)) {
      return { tts: first.service, voice: first.voice };
    }
    const tts = createTtsFallback({ services, clock, log, onPermanentFault });
    return { tts, voice: undefined };
  }

  #languageModel(
    settings: readonly LlmSettings[],
    { faults, onPermanentFault }: Planning,
  ): LanguageModel | undefined {
    const onKnownFault = (fault: ServiceFault): void => void faults.push(fault);
    const [found = { model: this.models.of([]) }] = usable(faults, () => ({
      model: this.models.of(settings, { onPermanentFault, onKnownFault }),
    }));
    return found.model;
  }
}

/** What `open` makes, or nothing and a fault. */
function usable<Service>(faults: GatewayError[], open: () => Service): Service[] {
  try {
    return [open()];
  } catch (error) {
    faults.push(settingsFaultOf(error));
    return [];
  }
}

/** Faults of earlier calls that last: this call's service is another one, and its owner gets the reason. */
function noteKnownFaults(
  services: readonly { circuit: CircuitBreaker }[],
  faults: GatewayError[],
): void {
  for (const { circuit } of services) {
    if (circuit.permanentFault !== undefined) faults.push(circuit.permanentFault);
  }
}

/** An error of the settings of speech services, with a stable code. */
export function settingsFaultOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const facts = { section: 'all', reason: 'unexpected' };
  return new GatewayError('SPEECH_SETTINGS_INVALID', facts, error);
}
