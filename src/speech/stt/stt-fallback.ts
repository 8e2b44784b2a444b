// Several recognisers behind one interface. A call starts with the first whose circuit admits it and whose key has a
// session left; a fault in the call costs the caller a short pause, no word (fallback/fallback-recognizer.ts). With
// nothing left, the keypad remains.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { ServiceChange } from '../service/service-change.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { ServiceReports } from '../service/service-reports.ts';
import { limitFault } from '../service/session-limit.ts';
import { FallbackRecognizer } from './fallback/fallback-recognizer.ts';
import { type SttFallbackService, unusable } from './fallback/recognizer-line.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from './stt.ts';

export interface SttFallbackOptions {
  /** In order of preference, at least one. The embedded recogniser, which knows closed answers only, is the last. */
  services: readonly SttFallbackService[];
  /** Further lists for other steps of the conversation, which `switchTo` names from 1 on; `services` is 0. Default: none. */
  others?: readonly (readonly SttFallbackService[])[] | undefined;
  clock: Clock;
  log: Log;
  /** Of all services of the call. Default: its own, with the two listeners below. */
  reports?: ServiceReports | undefined;
  /** A permanent fault of a service that was replaced, or the limit of its key: the owner of the call must change
   *  something. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** Another recogniser has the call because of a fault that may pass, of this call or of others. */
  onChanged?: ((change: ServiceChange) => void) | undefined;
}

/** One for each call. `close` does not close the services. */
export function createSttFallback(options: SttFallbackOptions): SpeechToText {
  const { services, others = [], clock } = options;
  const lists = [services, ...others];
  const [primary] = services;
  if (primary === undefined) throw new Error('a fallback needs a recogniser');
  const reports = options.reports ?? new ServiceReports(options);
  reports.planned(lists.flat());
  const likely = () =>
    services.find((each) => each.circuit.state !== 'open' && !isFull(each)) ?? primary;
  /** Of the last session, which the call's usage names also after its end. */
  let used: SttFallbackService | undefined;
  const onSession = (entry: SttFallbackService): void => {
    used = entry;
  };
  return {
    get name() {
      return (used ?? likely()).service.name;
    },
    get model() {
      return (used ?? likely()).service.model;
    },
    get capabilities() {
      return likely().service.capabilities;
    },
    open(expectation, listener, list = 0) {
      const { capabilities } = likely().service;
      const own = lists[list] ?? services;
      const { used, first, passed } = beginningOf(own, services);
      for (const fault of limitFaultsOf(passed)) reports.permanent(fault);
      const entry = used[first];
      if (entry === undefined) return refused(own[0]?.service.name ?? '', clock, listener);
      if (used !== own) {
        const fault = unusable(own, entry);
        options.log.warn({ service: fault.service, kind: fault.kind }, 'recogniser passed by');
        reports.permanent(fault);
        reports.known('stt', passed);
      }
      const resting = passed.filter((each) => !isFull(each));
      reports.passedBy('stt', resting, entry.service);
      const actual = entry.service.capabilities;
      if (actual !== capabilities) clock.after(0, () => listener.onReplaced?.(actual));
      const from = { lists, list: used === own ? list : 0, first };
      return new FallbackRecognizer({
        ...options,
        ...from,
        reports,
        onSession,
        expectation,
        listener,
      });
    },
    prepare() {
      const { service, sessions } = likely();
      if (sessions?.admitAhead() !== false) service.prepare?.();
    },
    close: () => Promise.resolve(),
  };
}

/** In the list of the step; in the first one where none of its own can be used. `passed`: what comes before it. */
function beginningOf(own: readonly SttFallbackService[], services: readonly SttFallbackService[]) {
  const first = usableIn(own);
  if (first !== -1) return { used: own, first, passed: own.slice(0, first) };
  if (own === services) return { used: own, first, passed: own };
  const other = usableIn(services);
  const before = other === -1 ? services : services.slice(0, other);
  return { used: services, first: other, passed: [...own, ...before] };
}

function limitFaultsOf(passed: readonly SttFallbackService[]): ServiceFault[] {
  return [...new Set(passed)].flatMap(({ service, sessions }) =>
    sessions?.isFull === true ? [limitFault('stt', service.name, sessions)] : [],
  );
}

/** -1: each circuit is open, or the key at its limit. */
function usableIn(list: readonly SttFallbackService[]): number {
  return list.findIndex((each) => !isFull(each) && each.circuit.admit());
}

function isFull({ sessions }: SttFallbackService): boolean {
  return sessions?.isFull === true;
}

/** Every circuit is open, or every key at its limit. */
function refused(name: string, clock: Clock, listener: RecognizerListener): Recognizer {
  const detail = 'all recognisers of this call failed a short time ago, or are in use';
  const timer = clock.after(0, () => {
    listener.onError(new ServiceFault('stt', name, 'overload', { detail }));
  });
  const nothing = () => undefined;
  return {
    push: nothing,
    speechStarted: nothing,
    finalize: nothing,
    expect: nothing,
    close: () => timer.cancel(),
  };
}
