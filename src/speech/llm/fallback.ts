// Fallback: several language models behind one interface. If a model fails before any text, the next one answers.
// After a temporary failure the same model is tried once more. After the first text nothing is repeated, because
// the caller heard it.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { LanguageModel, LlmListener, LlmRequest, LlmResponse } from './llm.ts';

export interface FallbackOptions {
  /** At least one, best first. */
  models: readonly LanguageModel[];
  clock: Clock;
  log: Log;
}

/** Before the second try on the same model. */
const RETRY_DELAY_MS = 150;
/** A model that failed twice moves to the end of the list for this long. */
const REST_MS = 30_000;
/** No further try starts later than this: the caller has waited long enough, and gets the fallback line. */
const TRIES_MS_MAX = 12_000;

export function createFallback(options: FallbackOptions): LanguageModel {
  const { models, clock, log } = options;
  const first = models[0];
  if (first === undefined) throw new TypeError('a fallback needs a model');
  /** Monotonic time at which a failed model may be first again. */
  const restsUntilMs = new Map<LanguageModel, number>();

  function line(): LanguageModel[] {
    const now = clock.monotonicMs();
    const rests = (model: LanguageModel) => (restsUntilMs.get(model) ?? 0) > now;
    return [...models.filter((model) => !rests(model)), ...models.filter(rests)];
  }

  function rest(model: LanguageModel, error: GatewayError): void {
    restsUntilMs.set(model, clock.monotonicMs() + Math.max(askedMs(error), REST_MS));
    const facts = { service: model.name, model: model.model, code: error.code };
    log.warn(facts, 'language model failed, the next one is used');
  }

  /** An answer, or the error after which another model is tried. Throws an error that ends the request. */
  async function attempt(model: LanguageModel, job: Job): Promise<LlmResponse | GatewayError> {
    let spoke = false;
    const listener: LlmListener = {
      onText(delta) {
        spoke = true;
        job.listener.onText(delta);
      },
    };
    try {
      return await model.respond(job.request, listener, job.signal);
    } catch (error) {
      if (job.signal.aborted || spoke || !(error instanceof GatewayError)) throw error;
      return error;
    }
  }

  async function attemptTwice(model: LanguageModel, job: Job): Promise<LlmResponse | GatewayError> {
    const outcome = await attempt(model, job);
    if (!(outcome instanceof GatewayError) || !worthRepeating(outcome)) return outcome;
    if (clock.monotonicMs() >= job.untilMs) return outcome;
    await pause(clock, Math.max(RETRY_DELAY_MS, askedMs(outcome)), job.signal);
    return attempt(model, job);
  }

  return {
    name: first.name,
    model: first.model,
    async respond(request, listener, signal) {
      signal.throwIfAborted();
      const job = { request, listener, signal, untilMs: clock.monotonicMs() + TRIES_MS_MAX };
      let failure = new GatewayError('LLM_FAILED', { reason: 'no model' });
      for (const model of line()) {
        const outcome = await attemptTwice(model, job);
        if (!(outcome instanceof GatewayError)) {
          restsUntilMs.delete(model);
          return outcome;
        }
        failure = outcome;
        rest(model, outcome);
        if (clock.monotonicMs() >= job.untilMs) break;
      }
      throw failure;
    },
    prepare() {
      for (const model of models) model.prepare();
    },
    async close() {
      await Promise.all(models.map((model) => model.close()));
    },
  };
}

interface Job {
  request: LlmRequest;
  listener: LlmListener;
  signal: AbortSignal;
  /** Monotonic. */
  untilMs: number;
}

/** A second time-out, and most rate limits, take longer than a caller waits. */
function worthRepeating(error: GatewayError): boolean {
  if (codeOf(error) === 'LLM_RATE') return 'retryAfterMs' in error.facts && askedMs(error) <= 1_000;
  return error.retry && codeOf(error) !== 'LLM_TIMEOUT';
}

/** The wait that the server asked for (Retry-After). */
function askedMs(error: GatewayError): number {
  return Number(error.facts['retryAfterMs'] ?? 0);
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
