// Waiting with a limit. Times come from the Clock, so that tests control them.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from './clock.ts';

/** Settles as `work` does, or rejects with TIMED_OUT after `ms`. `work` continues. */
export function withDeadline<T>(
  clock: Clock,
  ms: number,
  what: string,
  work: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(new GatewayError('TIMED_OUT', { what, ms })));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** A signal that is aborted after `ms` or with `parent`. `done` frees its timer. */
export function deadlineSignal(
  clock: Clock,
  ms: number,
  what: string,
  parent?: AbortSignal,
): { signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const timer = clock.after(ms, () =>
    controller.abort(new GatewayError('TIMED_OUT', { what, ms })),
  );
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    done() {
      timer.cancel();
      parent?.removeEventListener('abort', follow);
    },
  };
}

/** Settles as `work` does, or rejects with the signal's reason. `work` continues. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
}
