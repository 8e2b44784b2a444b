// The recognisers of one call in order, and which one answers: a list for each step of the conversation that has services
// of its own.

import type { CircuitBreaker } from '../../service/circuit-breaker.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import { limitFault, type SessionLimit } from '../../service/session-limit.ts';
import type { SpeechToText } from '../stt.ts';

export interface SttFallbackService {
  service: SpeechToText;
  circuit: CircuitBreaker;
  /** Of its key. Default: no limit. */
  sessions?: SessionLimit;
  /** Services of one family differ in their language alone, and a session of one changes to that of another. Undefined:
   *  it cannot. */
  family?: string | undefined;
  /** As its settings name it. */
  language?: string | undefined;
}

export class RecognizerLine {
  readonly #lists: readonly (readonly SttFallbackService[])[];
  #services: readonly SttFallbackService[];
  #index: number;
  #wanted: readonly SttFallbackService[] | undefined;
  readonly #onPassed: (fault: ServiceFault) => void;

  /** The call begins with `service` of `list`. `onPassed`: a list begins behind a service whose key is at its limit, or
   *  none of its services can be used. */
  constructor(
    lists: readonly (readonly SttFallbackService[])[],
    { list, service }: { list: number; service: number },
    onPassed: (fault: ServiceFault) => void,
  ) {
    this.#lists = lists;
    this.#onPassed = onPassed;
    this.#services = lists[list] ?? lists[0] ?? [];
    this.#index = service;
  }

  get index(): number {
    return this.#index;
  }

  get current(): SttFallbackService | undefined {
    return this.#services[this.#index];
  }

  at(index: number | undefined): SttFallbackService | undefined {
    return index === undefined ? undefined : this.#services[index];
  }

  use(index: number): void {
    this.#index = index;
  }

  /** The next service whose circuit is closed and whose key has a session left. A half-open one waits for a new call. */
  next(): number | undefined {
    const at = this.#services.findIndex(
      ({ circuit, sessions }, index) =>
        index > this.#index && circuit.state === 'closed' && sessions?.isFull !== true,
    );
    return at === -1 ? undefined : at;
  }

  /** The list for `change`; an unknown one is that in use. */
  want(list: number): void {
    const { [list]: wanted = this.#services } = this.#lists;
    this.#wanted = wanted === this.#services ? undefined : wanted;
  }

  /** Opens a connection ahead of `change`, if that will open a session of another service. */
  prepareWanted(): void {
    const before = this.current;
    const next = this.#wanted?.find((each) => this.#hasRoom(each) && isClosed(each));
    if (next === undefined || next.service === before?.service || isFamily(before, next)) return;
    if (next.sessions?.admitAhead() !== false) next.service.prepare?.();
  }

  /** Uses the wanted list. Returns the service before and the one after it; undefined if nothing is wanted, or nothing
   *  in it can be used. */
  change(): { before: SttFallbackService | undefined; after: SttFallbackService } | undefined {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    const before = this.current;
    const index = wanted?.findIndex((each) => this.#hasRoom(each) && each.circuit.admit()) ?? -1;
    const after = wanted?.[index];
    for (const each of wanted?.slice(0, index === -1 ? wanted.length : index) ?? []) {
      const { service, sessions } = each;
      if (sessions === undefined || this.#hasRoom(each)) continue;
      this.#onPassed(limitFault('stt', service.name, sessions));
    }
    if (wanted !== undefined && after === undefined) this.#onPassed(unusable(wanted, before));
    if (wanted === undefined || after === undefined) return undefined;
    this.#services = wanted;
    this.#index = index;
    return { before, after };
  }

  /** The session in use is closed first: it leaves its place to another one of its key. */
  #hasRoom({ sessions }: SttFallbackService): boolean {
    return sessions === this.current?.sessions || sessions?.isFull !== true;
  }
}

/** Whether a session of one changes to the language of the other. */
export function isFamily(
  one: SttFallbackService | undefined,
  other: SttFallbackService,
): other is SttFallbackService & { language: string } {
  if (one?.family === undefined || other.language === undefined) return false;
  return one.family === other.family;
}

/** For the owner of the node: the call goes on with `before`. */
export function unusable(
  wanted: readonly SttFallbackService[],
  before: SttFallbackService | undefined,
): ServiceFault {
  const names = wanted.map(({ service }) => service.name).join(', ');
  const kept = before === undefined ? '' : `; ${before.service.name} goes on`;
  const detail = `no recogniser of the node can be used (${names}): faults a short time ago, or keys at their limit`;
  const service = wanted[0]?.service.name ?? '';
  return new ServiceFault('stt', service, 'overload', { detail: `${detail}${kept}` });
}

function isClosed({ circuit }: SttFallbackService): boolean {
  return circuit.state === 'closed';
}
