// Speculative answers: the model is asked while the end of the caller's turn is only probable. The text is kept, and
// function calls are part of the whole answer: nothing is said, stored or carried out before the turn has ended with
// the same words and its request takes the answer over. Otherwise the answer is aborted. Its tokens count in any case;
// its faults are not faults of the call.

import type { Log } from '../../../log.ts';
import { speculations } from '../../../metrics/metrics.ts';
import { plainWords } from '../../../model/control-phrases.ts';
import type { LlmMessage } from '../../../model/llm-message.ts';
import {
  estimatedUsage,
  type LanguageModel,
  type LlmListener,
  type LlmRequest,
  type LlmResponse,
  type LlmUsage,
} from '../../../speech/llm/llm.ts';
import type { Clock, Timer } from '../../../std/clock.ts';

/** Characters of an answer that waits for the end of the turn: more than a minute of speech. Services write less in
 *  that time. */
const WAITING_CHARACTERS_MAX = 4_000;
/** Longest wait for the end of the turn. Recognisers confirm or withdraw an early end within a second or two, and no
 *  later than their longest turn. */
const WAITING_MS_MAX = 10_000;

export interface SpeculativeRequest extends Pick<LlmRequest, 'messages' | 'tools'> {
  /** The agent's step. */
  nodeId: string | null;
}

export interface UsageReport {
  usage: LlmUsage;
  firstTokenMs: number;
  totalMs: number;
  /** Whether the usage is the gateway's estimate for an aborted request. */
  isEstimated?: boolean;
  answeredBy?: { service: string; model: string };
}

export interface SpeculationOptions {
  llm: LanguageModel | undefined;
  clock: Clock;
  log: Log;
  /** Aborted at the end of the call. */
  callSignal: AbortSignal;
  /** Cache key of the agent's prompts. */
  cacheKey?: string | undefined;
  /** Called with the usage of an answer that no turn has taken over. */
  onUsage(report: UsageReport): void;
}

/** Speculative answers of a call, one at a time. */
export class Speculation {
  readonly #options: SpeculationOptions;
  #answer: SpeculativeAnswer | undefined;
  #late: Timer | undefined;

  constructor(options: SpeculationOptions) {
    this.#options = options;
  }

  /** Asks the model and drops an earlier answer. */
  begin(request: SpeculativeRequest): void {
    const { llm, clock } = this.#options;
    this.withdraw();
    if (llm === undefined) return;
    this.#answer = new SpeculativeAnswer(llm, request, this.#options);
    this.#late = clock.after(WAITING_MS_MAX, () => this.withdraw());
  }

  /** Drops the answer: the turn goes on. */
  withdraw(): void {
    this.#drop('withdrawn');
  }

  /** The answer to this request, if it was asked for ahead and has not failed. Drops any other. */
  take(request: SpeculativeRequest): SpeculativeAnswer | undefined {
    const answer = this.#answer;
    if (answer === undefined) return undefined;
    const isSame = answer.isTo(request);
    if (!isSame || answer.hasFailed) {
      this.#drop(isSame ? 'failed' : 'different');
      return undefined;
    }
    this.#answer = undefined;
    this.#late?.cancel();
    speculations.inc({ outcome: 'used' });
    return answer;
  }

  #drop(outcome: 'withdrawn' | 'different' | 'failed'): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#answer = undefined;
    this.#late?.cancel();
    speculations.inc({ outcome: answer.hasFailed ? 'failed' : outcome });
    const report = answer.drop();
    if (report !== undefined) this.#options.onUsage(report);
  }
}

export class SpeculativeAnswer {
  readonly #request: SpeculativeRequest;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #abort = new AbortController();
  readonly #whole: Promise<LlmResponse>;
  /** Text that has come so far; the rest goes to the listener once there is one. */
  #text = '';
  #firstTokenMs: number | undefined;
  #listener: LlmListener | undefined;
  #response: LlmResponse | undefined;
  #hasFailed = false;

  constructor(
    llm: LanguageModel,
    request: SpeculativeRequest,
    { clock, log, callSignal, cacheKey }: Omit<SpeculationOptions, 'llm' | 'onUsage'>,
  ) {
    this.#request = request;
    this.#clock = clock;
    this.#startedAt = clock.monotonicMs();
    const { messages, tools } = request;
    this.#whole = llm.respond(
      { messages, tools, temperature: undefined, tokensMax: undefined, json: false, cacheKey },
      { onText: (delta) => this.#take(delta) },
      AbortSignal.any([callSignal, this.#abort.signal]),
    );
    this.#whole.then(
      (response) => {
        this.#response = response;
      },
      (error: unknown) => {
        if (this.#abort.signal.aborted) return;
        this.#hasFailed = true;
        if (this.#listener === undefined) log.debug({ err: error }, 'speculative answer failed');
      },
    );
  }

  get hasFailed(): boolean {
    return this.#hasFailed || this.#abort.signal.aborted;
  }

  /** Whether the request is the same: the same step, and the same conversation by its words. Prompts may differ,
   *  because they may contain the time. */
  isTo({ nodeId, messages, tools }: SpeculativeRequest): boolean {
    const own = this.#request;
    if (nodeId !== own.nodeId || tools.length !== own.tools.length) return false;
    if (messages.length !== own.messages.length) return false;
    return messages.every((message, at) => isSameMessage(message, own.messages[at]));
  }

  /** Takes the answer over: from then on it belongs to the call, as an answer of `LanguageModel.respond`. */
  respond(listener: LlmListener, signal: AbortSignal): Promise<LlmResponse> {
    this.#listener = listener;
    const stop = (): void => this.#abort.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    if (this.#text !== '') listener.onText(this.#text);
    return this.#whole;
  }

  /** Aborts the answer. Returns the usage that the service bills; undefined if the answer has failed by itself. */
  drop(): UsageReport | undefined {
    if (this.#response !== undefined) return this.#response;
    if (this.#hasFailed) return undefined;
    this.#abort.abort();
    const totalMs = this.#clock.monotonicMs() - this.#startedAt;
    return {
      usage: estimatedUsage(this.#request, this.#text),
      firstTokenMs: this.#firstTokenMs ?? totalMs,
      totalMs,
      isEstimated: true,
    };
  }

  #take(delta: string): void {
    if (this.#abort.signal.aborted) return;
    this.#firstTokenMs ??= this.#clock.monotonicMs() - this.#startedAt;
    if (this.#listener !== undefined) {
      this.#listener.onText(delta);
      return;
    }
    this.#text += delta;
    if (this.#text.length > WAITING_CHARACTERS_MAX) this.#abort.abort();
  }
}

function isSameMessage(one: LlmMessage, other: LlmMessage | undefined): boolean {
  if (one.role === 'system') return other?.role === 'system';
  if (one.role !== 'user' || other?.role !== 'user') {
    return JSON.stringify(one) === JSON.stringify(other);
  }
  return plainWords(one.content) === plainWords(other.content);
}
