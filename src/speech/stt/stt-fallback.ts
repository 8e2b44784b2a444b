// Fallback of one call: several recognisers behind one interface. A call starts with the first one whose circuit admits
// it and whose key has a free session. A fault in the call costs a short pause but no word
// (fallback/fallback-recognizer.ts). Without any usable recogniser, the keypad remains.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { type ServiceChange, ServiceReports } from '../service/service-reports.ts';
import { limitFault } from '../service/session-limit.ts';
import { FallbackRecognizer } from './fallback/fallback-recognizer.ts';
import { type SttFallbackService, unusable } from './fallback/recognizer-line.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from './stt.ts';

export interface SttFallbackOptions {
  /** Services in order of preference, at least one. The embedded recogniser, which recognises closed answers only, is
   *  the last. */
  services: readonly SttFallbackService[];
  /** Further lists for other steps of the conversation, numbered from 1 for `switchTo`; `services` is 0. Default:
   *  none. */
  others?: readonly (readonly SttFallbackService[])[] | undefined;
  clock: Clock;
  log: Log;
  /** Receives the reports of all services of the call. Default: its own, with the two listeners below. */
  reports?: ServiceReports | undefined;
  /** Called for a permanent fault of a service that was replaced, or for the limit of its key: the owner of the call
   *  must change something. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** Called when another recogniser is used because of a temporary fault in this call or in others. */
  onChanged?: ((change: ServiceChange) => void) | undefined;
}

/** Creates the fallback of one call. `close` does not close the services. */
export function createSttFallback(options: SttFallbackOptions): SpeechToText {
  const { services, others = [], clock } = options;
  const lists = [services, ...others];
  const [primary] = services;
  if (primary === undefined) throw new Error('a fallback needs a recogniser');
  const reports = options.reports ?? new ServiceReports(options);
  reports.planned(lists.flat());
  const likely = () =>
    services.find((each) => each.circuit.state !== 'open' && !isFull(each)) ?? primary;
  /** Services that were reported as full, and lists as unusable: a call that has lost all recognisers opens them again
   *  and again. */
  const told = new Set<object>();
  const isNews = (subject: object): boolean => {
    const isNew = !told.has(subject);
    told.add(subject);
    return isNew;
  };
  /** Service of the last session, which the call's usage names even after its end. */
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
      const full = passed.filter((each) => isFull(each) && isNews(each));
      for (const fault of limitFaultsOf(full)) reports.permanent(fault);
      const entry = used[first];
      if (entry === undefined) return refused(own[0]?.service.name ?? '', clock, listener);
      if (used !== own && isNews(own)) {
        const fault = unusable(own, entry);
        options.log.warn({ service: fault.service, kind: fault.kind }, 'recogniser skipped');
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

/** Service to begin with: in the list of the step, else in the first list. `passed`: skipped services before it. */
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

/** Index of the first usable service. -1 if each has an open circuit or a key at its limit. */
function usableIn(list: readonly SttFallbackService[]): number {
  return list.findIndex((each) => !isFull(each) && each.circuit.admit());
}

function isFull({ sessions }: SttFallbackService): boolean {
  return sessions?.isFull === true;
}

/** Recogniser for the case that every circuit is open or every key at its limit: reports an error. */
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
