// Recognisers of one call in order of preference, and the one in use. Each step of the conversation with its own
// services has a list.

import type { GatewayError } from '../../../errors/gateway-error.ts';
import type { CircuitBreaker } from '../../service/service-circuit-breaker.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import {
  type ServiceChange,
  type ServiceReports,
  serviceChange,
} from '../../service/service-reports.ts';
import { limitFault, type SessionLimit } from '../../service/session-limit.ts';
import type { SpeechToText } from '../stt.ts';

export interface SttFallbackService {
  service: SpeechToText;
  circuit: CircuitBreaker;
  /** Concurrency limit of its key. Default: no limit. */
  sessions?: SessionLimit;
  /** Services of one family differ only in their language, and a session of one can change to another. Undefined: it
   *  cannot. */
  family?: string | undefined;
  /** Language as in the settings. */
  language?: string | undefined;
}

interface Change {
  before: SttFallbackService | undefined;
  after: SttFallbackService;
  isReturn: boolean;
}

interface LineListener {
  /** Called when a list skips a service whose key is at its limit, or when none of its services can be used. */
  onPassed: (fault: ServiceFault) => void;
  /** Receives the report when another service is used because of a temporary fault. */
  reports: ServiceReports;
}

export class RecognizerLine {
  readonly #lists: readonly (readonly SttFallbackService[])[];
  #services: readonly SttFallbackService[];
  #index: number;
  /** Index of the service to return to after another one was lent for a single turn. */
  #returnTo: number | undefined;
  #wanted: readonly SttFallbackService[] | undefined;
  /** Change to a service that is lent for a turn. It is reported only if that service has words. */
  #changeOfTurn: ServiceChange | undefined;
  readonly #listener: LineListener;

  /** Starts the call with `service` of `list`. */
  constructor(
    lists: readonly (readonly SttFallbackService[])[],
    { list, service }: { list: number; service: number },
    listener: LineListener,
  ) {
    this.#lists = lists;
    this.#listener = listener;
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

  /** Uses another service. `isLent`: for one turn; `change` returns to the current service unless `keep` is called. */
  use(index: number, fault: GatewayError, isLent = false): void {
    const [from, to] = [this.current?.service, this.at(index)?.service];
    const change = from && to && serviceChange('stt', fault, { from, to });
    if (isLent && index !== this.#index) this.#returnTo ??= this.#index;
    const isReturn = index === this.#returnTo;
    if (isReturn) this.#returnTo = undefined;
    this.#index = index;
    this.#changeOfTurn = isLent ? (change ?? this.#changeOfTurn) : undefined;
    if (!isLent && !isReturn && change !== undefined) this.#listener.reports.changed(change);
  }

  /** Keeps the service in use, since it has had words. */
  keep(): void {
    const change = this.#changeOfTurn;
    this.#changeOfTurn = undefined;
    this.#returnTo = undefined;
    if (change !== undefined) this.#listener.reports.changed(change);
  }

  /** Keeps the service in use to the end of the call. */
  stay(): void {
    this.#wanted = undefined;
    this.#returnTo = undefined;
  }

  /** Index of the next service whose circuit is closed and whose key has a free session. A half-open circuit waits for
   *  a new call. The last candidate is the service to which the call would return. */
  next(): number | undefined {
    const at = this.#services.findIndex(
      ({ circuit, sessions }, index) =>
        index > this.#index && circuit.state === 'closed' && sessions?.isFull !== true,
    );
    return at === -1 ? this.#returnTo : at;
  }

  /** Like `next`, but undefined for a service that recognises closed answers only. */
  nextOfOpenSpeech(): number | undefined {
    const next = this.next();
    return this.at(next)?.service.capabilities.closedOnly === true ? undefined : next;
  }

  /** Sets the list for `change`. An unknown number means the list in use. */
  want(list: number): void {
    const { [list]: wanted = this.#services } = this.#lists;
    this.#wanted = wanted === this.#services ? undefined : wanted;
  }

  /** Opens a connection ahead of `change` if that will open a session of another service. */
  prepareWanted(): void {
    const before = this.current;
    const next = this.#wanted?.find((each) => this.#hasRoom(each) && isClosed(each));
    if (next === undefined || next.service === before?.service || isFamily(before, next)) return;
    if (next.sessions?.admitAhead() !== false) next.service.prepare?.();
  }

  /** Changes to the wanted list, or returns from a lent service. Returns the service before and after. Undefined if no
   *  change is wanted or no service in it can be used. */
  change(): Change | undefined {
    const wanted = this.#wanted;
    if (wanted === undefined) return this.#return();
    this.#returnTo = undefined;
    this.#changeOfTurn = undefined;
    this.#wanted = undefined;
    const before = this.current;
    const index = wanted.findIndex((each) => this.#hasRoom(each) && each.circuit.admit());
    const after = wanted[index];
    const passed = wanted.slice(0, index === -1 ? wanted.length : index);
    for (const each of passed) {
      const { service, sessions } = each;
      if (sessions === undefined || this.#hasRoom(each)) continue;
      this.#listener.onPassed(limitFault('stt', service.name, sessions));
    }
    if (after === undefined) this.#listener.onPassed(unusable(wanted, before));
    if (after === undefined) return undefined;
    const resting = passed.filter((each) => this.#hasRoom(each));
    this.#listener.reports.passedBy('stt', resting, after.service);
    this.#services = wanted;
    this.#index = index;
    return { before, after, isReturn: false };
  }

  #return(): Change | undefined {
    const change = this.#changeOfTurn;
    const index = this.#returnTo;
    const before = this.current;
    const after = this.at(index);
    this.#returnTo = undefined;
    this.#changeOfTurn = undefined;
    if (index === undefined || after === undefined) return undefined;
    if (!isClosed(after) || !this.#hasRoom(after)) {
      if (change !== undefined) this.#listener.reports.changed(change);
      return undefined;
    }
    this.#index = index;
    return { before, after, isReturn: true };
  }

  /** Whether a session is free. The session in use is closed first, which frees one of its key. */
  #hasRoom({ sessions }: SttFallbackService): boolean {
    return sessions === this.current?.sessions || sessions?.isFull !== true;
  }
}

/** Whether a session of one service can change to the language of the other. */
export function isFamily(
  one: SttFallbackService | undefined,
  other: SttFallbackService,
): other is SttFallbackService & { language: string } {
  if (one?.family === undefined || other.language === undefined) return false;
  return one.family === other.family;
}

/** Fault for the owner of the node: the call continues with `before`. */
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
