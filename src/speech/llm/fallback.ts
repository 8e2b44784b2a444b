// Fallback of one call: several language models behind one interface. If a model fails before any text, the next one
// answers, and the call stays with it. After a temporary failure the same model is tried once more, and without the oldest
// turns where the conversation is longer than it takes. After the first text nothing is repeated, because the caller
// heard it. Models whose circuit is open come last.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { CircuitBreaker } from '../service/circuit-breaker.ts';
import { type ServiceChange, serviceChange } from '../service/service-change.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { ServiceReports } from '../service/service-reports.ts';
import { historyCharacters, shortenedHistory } from './history-limit.ts';
import type { LanguageModel, LlmListener, LlmRequest, LlmResponse } from './llm.ts';

export interface LlmFallbackService {
  model: LanguageModel;
  circuit: CircuitBreaker;
}

export interface FallbackOptions {
  /** At least one, best first. */
  services: readonly LlmFallbackService[];
  /** Whether `close` closes the models. Default: false, they are shared with other calls. */
  ownsModels?: boolean | undefined;
  clock: Clock;
  log: Log;
  /** Of all services of the call. Default: its own, with the two listeners below. */
  reports?: ServiceReports | undefined;
  /** A permanent fault, or a prompt that is too long without any history, once for each service: the owner of the call
   *  must change something. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** Another model is asked because of a fault that may pass, of this call or of others. */
  onChanged?: ((change: ServiceChange) => void) | undefined;
}

/** Before the second try on the same model. */
const RETRY_DELAY_MS = 150;
/** The longest wait that a server may ask for before it: after a longer one the next model is asked. */
const ASKED_MS_MAX = 1_000;
/** No further try starts later than this: the caller has waited long enough, and gets the fallback line. */
const TRIES_MS_MAX = 12_000;
/** Of the history that a model refuses as too long, what it is asked with next. Less than the last is no conversation. */
const HISTORY_SHARES = [1 / 2, 1 / 4, 1 / 8];

/** One for each call. */
export class FallbackModel implements LanguageModel {
  readonly name: string;
  readonly model: string;
  readonly #options: FallbackOptions;
  /** Those that failed in this call. */
  readonly #failed = new Set<LlmFallbackService>();
  readonly #reported = new Set<LlmFallbackService>();
  readonly #reports: ServiceReports;
  /** The model that failed last, until another one is asked. */
  #left: { model: LanguageModel; error: GatewayError } | undefined;
  /** Characters of history that a model is asked with, after it has refused more in this call. */
  readonly #historyMax = new Map<LlmFallbackService, number>();

  constructor(options: FallbackOptions) {
    const first = options.services[0]?.model;
    if (first === undefined) throw new TypeError('a fallback needs a model');
    this.name = first.name;
    this.model = first.model;
    this.#options = options;
    this.#reports = options.reports ?? new ServiceReports(options);
    this.#reports.planned(options.services);
  }

  async respond(
    request: LlmRequest,
    listener: LlmListener,
    signal: AbortSignal,
  ): Promise<LlmResponse> {
    signal.throwIfAborted();
    const { clock } = this.#options;
    const job = { request, listener, signal, untilMs: clock.monotonicMs() + TRIES_MS_MAX };
    let failure = new GatewayError('LLM_FAILED', { reason: 'no model' });
    for (const service of this.#line()) {
      this.#noteChange(service);
      const outcome = await this.#attemptInLength(service, job);
      if (!(outcome instanceof GatewayError)) {
        service.circuit.succeeded();
        const { name, model } = service.model;
        return { ...outcome, answeredBy: { service: name, model } };
      }
      failure = outcome;
      this.#fail(service, outcome);
      if (clock.monotonicMs() >= job.untilMs) break;
    }
    throw failure;
  }

  prepare(): void {
    for (const { model } of this.#options.services) model.prepare();
  }

  ofCall(): FallbackModel {
    return new FallbackModel({ ...this.#options, ownsModels: false });
  }

  async close(): Promise<void> {
    const { services, ownsModels } = this.#options;
    if (ownsModels === true) await Promise.all(services.map(({ model }) => model.close()));
  }

  /** In the order in which they are tried. A circuit is asked when its turn comes: it may admit one request only. */
  *#line(): Generator<LlmFallbackService> {
    const { services } = this.#options;
    const tried = new Set<LlmFallbackService>();
    const passed: LlmFallbackService[] = [];
    for (const service of services) {
      if (this.#failed.has(service)) continue;
      if (!service.circuit.admit()) {
        passed.push(service);
        continue;
      }
      tried.add(service);
      this.#notePassed(passed, service);
      yield service;
    }
    for (const service of services) {
      if (tried.has(service)) continue;
      // It comes after all that have not failed in this call.
      if (this.#failed.has(service)) this.#notePassed(passed, service);
      yield service;
    }
  }

  /** A model that refuses the history as too long is asked again at once without its oldest turns, or the middle of long results. */
  async #attemptInLength(
    service: LlmFallbackService,
    job: Job,
  ): Promise<LlmResponse | GatewayError> {
    const { clock, log } = this.#options;
    const known = this.#historyMax.get(service);
    let { messages } = job.request;
    if (known !== undefined) messages = shortenedHistory(messages, known) ?? messages;
    const characters = historyCharacters(messages);
    let outcome = await this.#attemptTwice(service, job, messages);
    for (const share of HISTORY_SHARES) {
      if (!isTooLong(outcome) || clock.monotonicMs() >= job.untilMs) break;
      const shorter = shortenedHistory(messages, characters * share);
      if (shorter === undefined) break;
      messages = shorter;
      log.info(
        { service: service.model.name, messages: messages.length },
        'history is longer than the model takes, the oldest turns are left out',
      );
      this.#historyMax.set(service, characters * share);
      outcome = await this.#attemptTwice(service, job, messages);
    }
    return outcome;
  }

  async #attemptTwice(
    service: LlmFallbackService,
    job: Job,
    messages: LlmRequest['messages'],
  ): Promise<LlmResponse | GatewayError> {
    const { clock } = this.#options;
    const outcome = await this.#attempt(service, job, messages);
    if (!(outcome instanceof GatewayError) || !worthRepeating(outcome)) return outcome;
    if (clock.monotonicMs() >= job.untilMs) return outcome;
    await pause(clock, Math.max(RETRY_DELAY_MS, askedMs(outcome)), job.signal);
    return this.#attempt(service, job, messages);
  }

  /** An answer, or the error after which another model is tried. Throws an error that ends the request. */
  async #attempt(
    service: LlmFallbackService,
    job: Job,
    messages: LlmRequest['messages'],
  ): Promise<LlmResponse | GatewayError> {
    let spoke = false;
    const listener: LlmListener = {
      onText(delta) {
        spoke = true;
        job.listener.onText(delta);
      },
    };
    try {
      return await service.model.respond({ ...job.request, messages }, listener, job.signal);
    } catch (error) {
      if (job.signal.aborted || !(error instanceof GatewayError)) {
        service.circuit.abandoned();
        throw error;
      }
      if (spoke) {
        // The rest of the answer is asked of another model.
        this.#fail(service, error);
        throw error;
      }
      return error;
    }
  }

  /** Models whose circuit is open. The run has the reason already where one has failed just now. */
  #notePassed(services: readonly LlmFallbackService[], { model: to }: LlmFallbackService): void {
    const passed = services.map(({ circuit, model: service }) => ({ circuit, service }));
    if (this.#left === undefined) this.#reports.passedBy('llm', passed, to);
    else this.#reports.known('llm', passed);
  }

  #noteChange({ model: to }: LlmFallbackService): void {
    const left = this.#left;
    this.#left = undefined;
    if (left === undefined) return;
    const change = serviceChange('llm', left.error, { from: left.model, to });
    if (change !== undefined) this.#reports.changed(change);
  }

  #fail(service: LlmFallbackService, error: GatewayError): void {
    const { log } = this.#options;
    const { model, circuit } = service;
    this.#failed.add(service);
    const facts = { service: model.name, model: model.model, code: error.code };
    log.warn(facts, 'language model failed, the next one is used');
    const fault = faultOf(model, error);
    const isOfOwner = fault?.isPermanent === true || fault?.kind === 'context';
    this.#left = isOfOwner ? undefined : { model, error };
    if (fault === undefined) {
      circuit.abandoned();
      return;
    }
    circuit.failed(fault);
    if (!isOfOwner || this.#reported.has(service)) return;
    this.#reported.add(service);
    this.#reports.permanent(fault);
  }
}

interface Job {
  request: LlmRequest;
  listener: LlmListener;
  signal: AbortSignal;
  /** Monotonic. */
  untilMs: number;
}

/** Undefined: the service works, and the model will not answer. */
function faultOf({ name }: LanguageModel, error: GatewayError): ServiceFault | undefined {
  if (error instanceof ServiceFault) return error;
  const code = codeOf(error);
  if (code === 'LLM_REFUSED') return undefined;
  const kind = code === 'LLM_TIMEOUT' ? 'timeout' : 'protocol';
  return new ServiceFault('llm', name, kind, { detail: error.message, cause: error });
}

/** The model takes no conversation of this length. */
function isTooLong(outcome: LlmResponse | GatewayError): boolean {
  return outcome instanceof ServiceFault && outcome.kind === 'context';
}

/** A second time-out, most rate limits, and most waits that a server asks for take longer than a caller waits. */
function worthRepeating(error: GatewayError): boolean {
  if (askedMs(error) > ASKED_MS_MAX) return false;
  if (codeOf(error) === 'LLM_RATE') return 'retryAfterMs' in error.facts;
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
