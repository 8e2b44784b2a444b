// Deadlines of an answer: to its first token, between tokens and in all. Aborts the request through its own signal
// and gives the reason.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../../std/clock.ts';

export interface ResponseTimeouts {
  firstTokenMsMax: number;
  betweenTokensMsMax: number;
  totalMsMax: number;
}

export interface ResponseTimeout {
  /** Aborted by the caller's signal or by a deadline. */
  readonly signal: AbortSignal;
  /** LLM_TIMEOUT once a deadline has passed. */
  readonly expired: GatewayError | undefined;
  /** A token arrived. */
  noteToken(): void;
  stop(): void;
}

export function startResponseTimeout(
  clock: Clock,
  limits: ResponseTimeouts,
  caller: AbortSignal,
): ResponseTimeout {
  const controller = new AbortController();
  let expired: GatewayError | undefined;
  let waiting: Timer;

  function expire(what: string): void {
    expired ??= new GatewayError('LLM_TIMEOUT', { what });
    controller.abort(expired);
  }
  const onAbort = () => controller.abort(caller.reason);
  caller.addEventListener('abort', onAbort, { once: true });
  if (caller.aborted) onAbort();
  const total = clock.after(limits.totalMsMax, () => expire('complete answer'));
  waiting = clock.after(limits.firstTokenMsMax, () => expire('first token'));

  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    noteToken() {
      waiting.cancel();
      waiting = clock.after(limits.betweenTokensMsMax, () => expire('further token'));
    },
    stop() {
      waiting.cancel();
      total.cancel();
      caller.removeEventListener('abort', onAbort);
    },
  };
}
