// Fallback of one call: several language models behind one interface. If a model fails before any text, the next one
// answers, and the call stays with it. After a temporary failure the same model is tried once more; if it refuses the
// conversation as too long, without the oldest turns. After the first text nothing is repeated, because the caller
// heard it. Models whose circuit is open come last.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { LlmMessage } from '../../model/llm-message.ts';
import type { Clock } from '../../std/clock.ts';
import type { CircuitBreaker } from '../service/service-circuit-breaker.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { type ServiceChange, ServiceReports, serviceChange } from '../service/service-reports.ts';
import type { LanguageModel, LlmListener, LlmRequest, LlmResponse } from './llm.ts';
import { refusalOf } from './refusal.ts';

interface LlmFallbackService {
  model: LanguageModel;
  circuit: CircuitBreaker;
}

interface FallbackOptions {
  /** Services, at least one, best first. */
  services: readonly LlmFallbackService[];
  /** Whether `close` closes the models. Default: false, they are shared with other calls. */
  ownsModels?: boolean | undefined;
  clock: Clock;
  log: Log;
  /** Receives the reports of all services of the call. Default: its own, with the two listeners below. */
  reports?: ServiceReports | undefined;
  /** Called once for each service with a permanent fault, or with a prompt that is too long even without history: the
   *  owner of the call must change something. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  /** Called when another model is used because of a temporary fault in this call or in others. */
  onChanged?: ((change: ServiceChange) => void) | undefined;
}

/** Pause before the second try on the same model. */
const RETRY_DELAY_MS = 150;
/** Longest Retry-After to wait for. After a longer one the next model is used. */
const ASKED_MS_MAX = 1_000;
/** No try starts later than this. The caller has waited long enough and gets the fallback line. */
const TRIES_MS_MAX = 12_000;
/** Shares of the history to retry with after a model refused it as too long. A smaller share would be no
 *  conversation. */
const HISTORY_SHARES = [1 / 2, 1 / 4, 1 / 8];

/** Language model of one call, over several services. */
export class FallbackModel implements LanguageModel {
  readonly name: string;
  readonly model: string;
  readonly #options: FallbackOptions;
  /** Services that failed in this call. */
  readonly #failed = new Set<LlmFallbackService>();
  readonly #reported = new Set<LlmFallbackService>();
  readonly #reports: ServiceReports;
  /** The model that failed last, until another one is used. */
  #left: { model: LanguageModel; error: GatewayError } | undefined;
  /** Longest history, in characters, that each model accepts: set after it refused a longer one in this call. */
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
    let failure: GatewayError = new GatewayError('LLM_FAILED', { reason: 'no model' });
    for (const service of this.#line()) {
      this.#noteChange(service);
      const outcome = await this.#attemptInLength(service, job);
      if (!(outcome instanceof GatewayError)) {
        service.circuit.succeeded();
        const { name, model } = service.model;
        return { ...outcome, answeredBy: { service: name, model } };
      }
      // A refusal of the content can be helped by the conversation, unlike the faults of services behind it.
      if (refusalOf(failure) !== 'content') failure = outcome;
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

  /** Yields the services in the order to try. Each circuit is checked only at its turn, since it may admit a single
   *  request. */
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
      // It follows all services that have not failed in this call.
      if (this.#failed.has(service)) this.#notePassed(passed, service);
      yield service;
    }
  }

  /** Retries a model that refuses the history as too long, at once and without its oldest turns or the middle of long
   *  results. */
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

  /** Makes one attempt. Returns an answer, or the error after which another model is tried. Throws an error that ends
   *  the request. */
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
        // The rest of the answer comes from another model.
        this.#fail(service, error);
        throw error;
      }
      return error;
    }
  }

  /** Reports services that were skipped because their circuit is open. After a failure in this call the run has the
   *  reason already. */
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
  /** Deadline for tries, in milliseconds of the monotonic clock. */
  untilMs: number;
}

/** Returns undefined if the service works but the model refuses to answer. */
function faultOf({ name }: LanguageModel, error: GatewayError): ServiceFault | undefined {
  if (error instanceof ServiceFault) return error;
  const code = codeOf(error);
  if (code === 'LLM_REFUSED') return undefined;
  const kind = code === 'LLM_TIMEOUT' ? 'timeout' : 'protocol';
  return new ServiceFault('llm', name, kind, { detail: error.message, cause: error });
}

/** Whether the model refused the conversation as too long. */
function isTooLong(outcome: LlmResponse | GatewayError): boolean {
  return outcome instanceof ServiceFault && outcome.kind === 'context';
}

/** Whether a second try can help in time. A repeated timeout, most rate limits and most Retry-After waits exceed the
 *  caller's patience. */
function worthRepeating(error: GatewayError): boolean {
  if (askedMs(error) > ASKED_MS_MAX) return false;
  if (codeOf(error) === 'LLM_RATE') return 'retryAfterMs' in error.facts;
  return error.retry && codeOf(error) !== 'LLM_TIMEOUT';
}

/** Retry-After of the server in milliseconds, 0 for none. */
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

/** Characters that remain of a shortened result: its beginning and end identify it. */
const RESULT_CHARACTERS_MIN = 300;

/** Characters of all spoken text, tool calls and tool results. */
export function historyCharacters(messages: readonly LlmMessage[]): number {
  return messages.reduce((sum, message) => sum + charactersOf(message), 0);
}

/** Returns the newest turns within `charactersMax`, at least the last one. Undefined if nothing has to be dropped. */
export function newestTurns(
  messages: readonly LlmMessage[],
  charactersMax: number,
): LlmMessage[] | undefined {
  let characters = 0;
  let begin: number | undefined;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as LlmMessage;
    characters += charactersOf(message);
    if (begin !== undefined && characters > charactersMax) break;
    if (message.role === 'user') begin = at;
  }
  const isDropped = (at: number, { role }: LlmMessage): boolean =>
    role !== 'system' && begin !== undefined && at < begin;
  if (!messages.some((message, at) => isDropped(at, message))) return undefined;
  return messages.filter((message, at) => !isDropped(at, message));
}

/** Shortens a conversation that exceeds a model's context: drops the oldest turns and, if the last turn alone is too
 *  long, the middle of its tool results. System prompts and the last turn stay. A turn begins with the caller's
 *  words, so that no tool result is without its call. Undefined if nothing can be left out. */
export function shortenedHistory(
  messages: readonly LlmMessage[],
  charactersMax: number,
): LlmMessage[] | undefined {
  const newest = newestTurns(messages, charactersMax);
  const kept = newest ?? messages;
  const over = historyCharacters(kept) - charactersMax;
  if (over <= 0) return newest;
  const limit = resultLimit(kept, over);
  let hasCut = false;
  const cut = kept.map((message) => {
    if (message.role !== 'tool' || message.content.length <= limit) return message;
    hasCut = true;
    return { ...message, content: withoutMiddle(message.content, limit) };
  });
  return hasCut ? cut : newest;
}

/** The length to which the longest results are cut so that together they lose `over` characters. */
function resultLimit(messages: readonly LlmMessage[], over: number): number {
  const lengths = messages
    .flatMap(({ role, content }) => (role === 'tool' ? [content.length] : []))
    .sort((one, other) => other - one);
  let longest = 0;
  for (const [at, length] of lengths.entries()) {
    longest += length;
    // Shorter results keep their length.
    const limit = Math.floor((longest - over) / (at + 1));
    if (limit >= (lengths[at + 1] ?? 0)) return Math.max(RESULT_CHARACTERS_MIN, limit);
  }
  return RESULT_CHARACTERS_MIN;
}

/** Keeps the beginning and the end, with a mark between them that the model understands. */
function withoutMiddle(text: string, charactersMax: number): string {
  const mark = `\n[... ${text.length - charactersMax} of ${text.length} characters left out here: the result is too long ...]\n`;
  const left = Math.max(0, charactersMax - mark.length);
  // Removes half of a surrogate pair: services refuse it.
  const begin = text.slice(0, Math.ceil(left / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const end = text.slice(text.length - Math.floor(left / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${begin}${mark}${end}`;
}

function charactersOf(message: LlmMessage): number {
  if (message.role === 'system') return 0;
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message.content.length;
  return message.content.length + JSON.stringify(message.toolCalls).length;
}
