// The synthesisers of one call in order, and which one speaks: one that failed is not used again, unless it is the last;
// one whose circuit is open is passed by.

import type { Log } from '../../log.ts';
import { serviceFaults } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { CircuitBreaker } from '../service/circuit-breaker.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { SentenceStream } from './streaming/stream-by-sentences.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener } from './tts.ts';

export interface TtsFallbackService {
  service: TextToSpeech;
  circuit: CircuitBreaker;
  /** Of this service. A voice that an utterance asks for is the first service's. */
  voice?: string | undefined;
}

export interface TtsFallbackOptions {
  /** At least one, best first; shared with other calls. */
  services: readonly TtsFallbackService[];
  clock: Clock;
  log: Log;
  /** A permanent fault, once for each service: the owner of the call must change something. */
  onPermanentFault?: (fault: ServiceFault) => void;
}

/** The services of one call, and which one speaks. */
export class ServiceLine {
  readonly #options: TtsFallbackOptions;
  readonly #failed = new Set<TtsFallbackService>();
  readonly #reported = new Set<TtsFallbackService>();
  #current: TtsFallbackService | undefined;

  constructor(options: TtsFallbackOptions) {
    this.#options = options;
  }

  /** An open circuit is passed by, unless nothing else is left. */
  current(): TtsFallbackService | undefined {
    if (this.#current !== undefined) return this.#current;
    const left = this.#options.services.filter((each) => !this.#failed.has(each));
    this.#current = left.find(({ circuit }) => circuit.admit()) ?? left.at(-1);
    return this.#current;
  }

  open(
    entry: TtsFallbackService,
    wanted: string | undefined,
    listener: UtteranceListener,
  ): SpeechStream {
    const { service, voice } = entry;
    const named = entry === this.#options.services[0] ? (wanted ?? voice) : voice;
    if (service.stream !== undefined) return service.stream(named, listener);
    return new SentenceStream(service, named, listener);
  }

  /** `isLeft`: the call does not use it any more. */
  failed(entry: TtsFallbackService, error: Error, isLeft: boolean): void {
    const { log, onPermanentFault } = this.#options;
    const { service } = entry;
    const fault = serviceFaultOf(service, error);
    entry.circuit.failed(fault);
    if (fault.isPermanent && !this.#reported.has(entry)) {
      this.#reported.add(entry);
      onPermanentFault?.(fault);
    }
    const facts = { service: service.name, model: service.model, kind: fault.kind };
    log.warn({ ...facts, isLeft }, 'voice failed');
    // The last one may not be able to say this text, and can say the next.
    const others = this.#options.services.filter((each) => each !== entry);
    if (!isLeft || others.every((each) => this.#failed.has(each))) return;
    this.#failed.add(entry);
    if (this.#current === entry) this.#current = undefined;
  }
}

function serviceFaultOf({ name }: TextToSpeech, error: Error): ServiceFault {
  if (error instanceof ServiceFault) return error;
  return new ServiceFault('tts', name, 'overload', { detail: error.message, cause: error });
}

/** A fault that no client reported. */
export function silenceOf(entry: TtsFallbackService, kind: 'timeout' | 'overload'): ServiceFault {
  const service = entry.service.name;
  serviceFaults.inc({ kind: 'tts', service, fault: kind });
  const detail = kind === 'timeout' ? 'no audio in time' : 'no audio for the text';
  return new ServiceFault('tts', service, kind, { detail });
}
