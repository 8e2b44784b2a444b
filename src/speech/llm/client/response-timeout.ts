// Deadlines of an answer: first token, between tokens, and total. Aborts the request through its own signal and
// provides the reason.

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
  /** LLM_TIMEOUT after a deadline has passed, else undefined. */
  readonly expired: GatewayError | undefined;
  /** Records that a token arrived. */
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
