// Several recognisers behind one interface. A call starts with the first whose circuit admits it and whose key has a
// session left; a fault in the call costs the caller a short pause, no word (fallback/fallback-recognizer.ts). With
// nothing left, the keypad remains.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { limitFault } from '../service/session-limit.ts';
import { FallbackRecognizer } from './fallback/fallback-recognizer.ts';
import type { SttFallbackService } from './fallback/recognizer-line.ts';
import type { Recognizer, RecognizerListener, SpeechToText } from './stt.ts';

export interface SttFallbackOptions {
  /** In order of preference, at least one. The embedded recogniser, which knows closed answers only, is the last. */
  services: readonly SttFallbackService[];
  /** Further lists for other steps of the conversation, which `switchTo` names from 1 on; `services` is 0. Default: none. */
  others?: readonly (readonly SttFallbackService[])[] | undefined;
  clock: Clock;
  log: Log;
  /** A permanent fault of a service that was replaced, or the limit of its key: the owner of the call must change
   *  something. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
}

/** One for each call. `close` does not close the services. */
export function createSttFallback(options: SttFallbackOptions): SpeechToText {
  const { services, others = [], clock } = options;
  const lists = [services, ...others];
  const [primary] = services;
  if (primary === undefined) throw new Error('a fallback needs a recogniser');
  const likely = () =>
    services.find((each) => each.circuit.state !== 'open' && !isFull(each)) ?? primary;
  return {
    get name() {
      return likely().service.name;
    },
    get model() {
      return likely().service.model;
    },
    get capabilities() {
      return likely().service.capabilities;
    },
    open(expectation, listener, list = 0) {
      const { capabilities } = likely().service;
      const own = lists[list] ?? services;
      const first = own.findIndex((each) => !isFull(each) && each.circuit.admit());
      for (const { service, sessions } of own.slice(0, first === -1 ? undefined : first)) {
        if (sessions?.isFull !== true) continue;
        options.onPermanentFault?.(limitFault('stt', service.name, sessions));
      }
      if (first === -1) return refused(own[0]?.service.name ?? '', clock, listener);
      if (own[first]?.service.capabilities !== capabilities) {
        clock.after(0, () => {
          const actual = own[first]?.service.capabilities;
          if (actual !== undefined) listener.onReplaced?.(actual);
        });
      }
      return new FallbackRecognizer({ ...options, lists, list, first, expectation, listener });
    },
    prepare() {
      const { service, sessions } = likely();
      if (sessions?.admitAhead() !== false) service.prepare?.();
    },
    close: () => Promise.resolve(),
  };
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
