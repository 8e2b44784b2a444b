// The recognisers of one call in order, and which one answers: a list for each step of the conversation that has services
// of its own.

import type { GatewayError } from '../../../errors/gateway-error.ts';
import type { CircuitBreaker } from '../../service/circuit-breaker.ts';
import { type ServiceChange, serviceChange } from '../../service/service-change.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceReports } from '../../service/service-reports.ts';
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

interface Change {
  before: SttFallbackService | undefined;
  after: SttFallbackService;
  isReturn: boolean;
}

interface LineListener {
  /** A list begins behind a service whose key is at its limit, or none of its services can be used. */
  onPassed: (fault: ServiceFault) => void;
  /** Another service has the call because of a fault that may pass. */
  reports: ServiceReports;
}

export class RecognizerLine {
  readonly #lists: readonly (readonly SttFallbackService[])[];
  #services: readonly SttFallbackService[];
  #index: number;
  /** Of the service that had the call before one that is asked about a single turn. */
  #returnTo: number | undefined;
  #wanted: readonly SttFallbackService[] | undefined;
  /** To the service that is asked about a single turn: it is none if that has no words. */
  #changeOfTurn: ServiceChange | undefined;
  readonly #listener: LineListener;

  /** The call begins with `service` of `list`. */
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

  /** `isLent`: for one turn; unless `keep` follows, `change` returns to the service in use now. */
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

  /** The service in use has had words: it stays. */
  keep(): void {
    const change = this.#changeOfTurn;
    this.#changeOfTurn = undefined;
    this.#returnTo = undefined;
    if (change !== undefined) this.#listener.reports.changed(change);
  }

  /** The service in use is the last one: nothing changes any more. */
  stay(): void {
    this.#wanted = undefined;
    this.#returnTo = undefined;
  }

  /** The next service whose circuit is closed and whose key has a session left. A half-open one waits for a new call.
   *  Behind the last one comes that to which the call would return. */
  next(): number | undefined {
    const at = this.#services.findIndex(
      ({ circuit, sessions }, index) =>
        index > this.#index && circuit.state === 'closed' && sessions?.isFull !== true,
    );
    return at === -1 ? this.#returnTo : at;
  }

  /** As `next`; undefined for one that knows closed answers only. */
  nextOfOpenSpeech(): number | undefined {
    const next = this.next();
    return this.at(next)?.service.capabilities.closedOnly === true ? undefined : next;
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

  /** Uses the wanted list, or returns from a service that was lent. Returns the service before and the one after it;
   *  undefined if nothing is wanted, or nothing in it can be used. */
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
