// A call's requests to the language model: answers that are spoken as they arrive, and values extracted in separate
// requests. Each request is reported exactly once, unless it was abandoned.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { CallEventBody } from '../../../model/call-event.ts';
import type { LlmMessage } from '../../../model/llm-message.ts';
import {
  estimatedUsage,
  type LanguageModel,
  type LlmListener,
  type LlmResponse,
  NO_USAGE,
} from '../../../speech/llm/llm.ts';
import { refusalOf } from '../../../speech/llm/refusal.ts';
import type { Clock } from '../../../std/clock.ts';
import { isObject, parseExactJson } from '../../../std/json.ts';
import { CLAUSE_MARKS, CLOSING_MARKS, SENTENCE_MARKS } from '../../../std/text/punctuation.ts';
import { joinTexts, withoutLastWord } from '../../../std/text/unspaced-text.ts';
import type { DialogueAction } from '../../../workflow/engine/dialogue-events.ts';
import {
  Speculation,
  type SpeculativeAnswer,
  type SpeculativeRequest,
  type UsageReport,
} from './speculation.ts';

/** Receives a request's text as it arrives (the pipeline's UtteranceText). */
export interface GenerationSink {
  text(delta: string): void;
  /** Called when the text broke off: an incomplete word is not spoken. */
  breakOff?(): void;
  end(): void;
  cancel(): void;
}

export interface GenerationListener {
  onAnswer(requestId: number, answer: LlmResponse): void;
  onFailure(requestId: number, code: string, refused: ReturnType<typeof refusalOf>): void;
  onExtracted(extractionId: number, values: Record<string, unknown>): void;
  onExtractionFailure(extractionId: number, code: string): void;
  onUsage(usage: CallEventBody): void;
  onFault(error: unknown): void;
  /** Called at a fault of ours: the call cannot go on. */
  onBroken(error: unknown): void;
}

type GenerateAction = Extract<DialogueAction, { type: 'generate' }>;
type ExtractAction = Extract<DialogueAction, { type: 'extract' }>;

/** Longest wait for the first text. Longer than a model's own limits and a second model's attempt. */
const FIRST_TEXT_MS = 20_000;
/** Deadline for the rest of an answer that broke off. */
const REPAIR_MS = 6_000;

const GO_ON =
  '(Your answer was cut off by a fault after these words. Say only the rest of it, from the next word on, without repeating anything.)';

interface AnswerRequest {
  messages: GenerateAction['messages'];
  /** Functions that the model may call. Undefined: the request asks for a JSON object. */
  tools?: GenerateAction['tools'];
  ahead?: SpeculativeAnswer | undefined;
}

interface Job {
  action: GenerateAction;
  speech: GenerationSink;
  controller: AbortController;
  /** The answer, if it was asked for before the caller's turn had certainly ended. */
  ahead: SpeculativeAnswer | undefined;
  /** Start of the request, monotonic milliseconds. */
  startedAt: number;
  /** Milliseconds from the start to the first text. */
  firstTextMs: number | undefined;
  /** The text so far. */
  said: string;
  /** Whether the next text belongs to another response, whose first word needs a space before it. */
  isAppended: boolean;
}

export class Generation {
  readonly #llm: LanguageModel | undefined;
  readonly #listener: GenerationListener;
  readonly #log: Log;
  readonly #clock: Clock;
  /** Aborted at the end of the call. */
  readonly #callSignal: AbortSignal;
  readonly #cacheKey: string | undefined;
  readonly #running = new Map<number, Job>();
  readonly #extracting = new Set<number>();
  readonly #speculation: Speculation;

  constructor(deps: {
    llm: LanguageModel | undefined;
    listener: GenerationListener;
    log: Log;
    clock: Clock;
    callSignal: AbortSignal;
    /** Cache key of the agent's prompts. */
    cacheKey?: string | undefined;
  }) {
    this.#llm = deps.llm;
    this.#listener = deps.listener;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#callSignal = deps.callSignal;
    this.#cacheKey = deps.cacheKey;
    this.#speculation = new Speculation({
      ...deps,
      onUsage: (report) => this.#report(report),
    });
  }

  get pending(): boolean {
    return this.#running.size > 0;
  }

  /** Whether values are being extracted. */
  get isExtracting(): boolean {
    return this.#extracting.size > 0;
  }

  /** Asks ahead for the answer that `start` may request: the caller's turn has probably ended. */
  speculate(request: SpeculativeRequest): void {
    if (!this.pending) this.#speculation.begin(request);
  }

  /** Drops the answer that was asked for ahead: the turn goes on. */
  withdraw(): void {
    this.#speculation.withdraw();
  }

  /** Requests an answer. `nodeId`: the agent's step in which the model is asked. */
  start(action: GenerateAction, speech: GenerationSink, nodeId: string | null): void {
    const job: Job = {
      action,
      speech,
      controller: new AbortController(),
      ahead: this.#speculation.take({ ...action, nodeId }),
      startedAt: this.#clock.monotonicMs(),

      firstTextMs: undefined,
      said: '',
      isAppended: false,
    };
    this.#running.set(action.requestId, job);
    this.#generate(job).catch((error: unknown) => {
      this.#listener.onBroken(error);
    });
  }

  /** Abandons a request whose answer is not needed any more: closes its connection and cuts its speech. */
  abandon(requestId: number): void {
    const job = this.#running.get(requestId);
    if (job === undefined) return;
    this.#running.delete(requestId);
    job.controller.abort();
    job.speech.cancel();
    this.#reportAborted(job);
  }

  /** Called before the call aborts everything. */
  close(): void {
    this.withdraw();
    for (const job of this.#running.values()) this.#reportAborted(job);
  }

  extract(action: ExtractAction): void {
    this.#extracting.add(action.extractionId);
    void this.#extract(action);
  }

  async #generate(job: Job): Promise<void> {
    const { action } = job;
    try {
      const answer = await this.#attempt(job, FIRST_TEXT_MS);
      if (this.#settle(action.requestId)) this.#answered(job, answer);
    } catch (error) {
      if (!this.#running.has(action.requestId) || this.#callSignal.aborted) return;
      this.#log.warn({ err: error, said: job.said.length }, 'model request failed');
      this.#listener.onFault(error);
      if (job.said.trim() === '') this.#failed(job, error);
      else await this.#repair(job);
    }
  }

  /** Makes one request; its text goes to the voice as it arrives. Rejects with LLM_TIMEOUT if no text comes within
   *  `waitMs`. */
  async #attempt(job: Job, waitMs: number): Promise<LlmResponse> {
    const { action, speech, controller, ahead } = job;
    job.ahead = undefined;
    const attempt = new AbortController();
    const late = new GatewayError('LLM_TIMEOUT', { what: 'text' });
    const patience = this.#clock.after(waitMs, () => attempt.abort(late));
    const signals = [this.#callSignal, controller.signal, attempt.signal];
    try {
      return await this.#respond({ ...action, ahead }, AbortSignal.any(signals), {
        onText: (delta) => {
          if (controller.signal.aborted || attempt.signal.aborted) return;
          patience.cancel();
          job.firstTextMs ??= this.#clock.monotonicMs() - job.startedAt;
          const text = job.isAppended ? continuation(job.said, delta) : delta;
          job.isAppended &&= delta.trim() === '';
          job.said += text;
          speech.text(text);
        },
      });
    } finally {
      patience.cancel();
    }
  }

  /** Requests the rest of an answer, once, after the model's stream broke off within text that is being spoken. If the
   *  rest does not come either, a whole sentence counts as the answer; after part of a sentence the request has failed,
   *  and the engine apologises. */
  async #repair(job: Job): Promise<void> {
    const { action } = job;
    breakOff(job);
    const said = job.said.trim();
    const messages = said === '' ? action.messages : [...action.messages, ...brokenOff(said)];
    const again = { ...job, action: { ...action, messages } };
    try {
      const rest = await this.#attempt(again, REPAIR_MS);
      if (!this.#settle(action.requestId)) return;
      this.#answered(job, { ...rest, text: said + continuation(said, rest.text) });
    } catch (error) {
      if (!this.#settle(action.requestId)) return;
      this.#log.warn({ err: error }, 'model did not complete its answer');
      const hasMore = again.said !== job.said;
      if (hasMore) breakOff(again);
      const text = again.said.trim();
      if (!isWhole(text)) this.#failed(again, error);
      else this.#answered(job, { ...EMPTY_ANSWER, text });
    }
  }

  #answered({ action, speech }: Job, answer: LlmResponse): void {
    speech.end();
    this.#listener.onAnswer(action.requestId, answer);
  }

  #failed({ action, speech, said }: Job, error: unknown): void {
    this.#settle(action.requestId);
    if (said.trim() === '') speech.cancel();
    else speech.end();
    const code = codeOf(error) ?? 'LLM_FAILED';
    this.#listener.onFailure(action.requestId, code, refusalOf(error));
  }

  /** Removes a settled request. Returns false if it was abandoned or the call is over. */
  #settle(requestId: number): boolean {
    return this.#running.delete(requestId) && !this.#callSignal.aborted;
  }

  async #respond(
    { messages, tools, ahead }: AnswerRequest,
    signal: AbortSignal,
    listener: LlmListener,
  ): Promise<LlmResponse> {
    const llm = this.#llm;
    if (llm === undefined) throw new Error('a call without a language model requested an answer');
    const answer = await (ahead?.respond(listener, signal) ??
      llm.respond(
        {
          messages,
          tools: tools ?? [],
          temperature: undefined,
          tokensMax: undefined,
          json: tools === undefined,
          cacheKey: this.#cacheKey,
        },
        listener,
        signal,
      ));
    // An aborted request is counted where it is aborted.
    if (!signal.aborted) this.#report(answer);
    return answer;
  }

  /** Reports an aborted answer: services bill it, but do not count it. */
  #reportAborted({ action, said, startedAt, firstTextMs }: Job): void {
    const totalMs = this.#clock.monotonicMs() - startedAt;
    const times = { firstTokenMs: firstTextMs ?? totalMs, totalMs };
    this.#report({ usage: estimatedUsage(action, said), ...times, isEstimated: true });
  }

  #report({ usage, firstTokenMs, totalMs, isEstimated, answeredBy }: UsageReport): void {
    const llm = this.#llm;
    if (llm === undefined) return;
    this.#listener.onUsage({
      type: 'model.usage',
      ...(answeredBy ?? { service: llm.name, model: llm.model }),

      firstTokenMs,
      totalMs,
      ...usage,
      ...(isEstimated === true && { isEstimated }),
    });
  }

  async #extract(action: ExtractAction): Promise<void> {
    try {
      const answer = await this.#respond(action, this.#callSignal, { onText: ignoreText });
      if (this.#callSignal.aborted) return;
      this.#extracting.delete(action.extractionId);
      this.#listener.onExtracted(action.extractionId, valuesOf(answer.text));
    } catch (error) {
      if (this.#callSignal.aborted) return;
      this.#extracting.delete(action.extractionId);
      this.#log.warn({ err: error }, 'extraction failed');
      this.#listener.onExtractionFailure(action.extractionId, codeOf(error) ?? 'LLM_FAILED');
    }
  }
}

const WHOLE = new RegExp(`[${SENTENCE_MARKS}][${CLOSING_MARKS}]*$`);
/** A capital letter; not the English "I", which may continue a sentence. */
const NEW_SENTENCE = /^\s*(?!I\b)\p{Lu}/u;
const ENDS_CLAUSE = new RegExp(`[${SENTENCE_MARKS}${CLAUSE_MARKS}][${CLOSING_MARKS}]*\\s*$`);
const MARK_FIRST = new RegExp(`^[\\s${SENTENCE_MARKS}${CLAUSE_MARKS}]`);

/** Drops the last word, as the voice does (GenerationSink.breakOff). */
function breakOff(job: Job): void {
  job.speech.breakOff?.();
  job.said = withoutLastWord(job.said);
  job.isAppended = true;
}

const EMPTY_ANSWER: LlmResponse = {
  text: '',
  toolCalls: [],
  finishReason: 'other',
  usage: NO_USAGE,
  firstTokenMs: 0,
  totalMs: 0,
};

function brokenOff(said: string): LlmMessage[] {
  return [
    { role: 'assistant', content: said, toolCalls: [] },
    { role: 'user', content: GO_ON },
  ];
}

function isWhole(text: string): boolean {
  return WHOLE.test(text);
}

/** `after` as it follows `before`. A model may begin a new sentence in place of the rest: the unfinished one then ends
 *  with an ellipsis, or both would be spoken as one. */
function continuation(before: string, after: string): string {
  if (before.trim() === '' || after.trim() === '') return after;
  if (NEW_SENTENCE.test(after) && !ENDS_CLAUSE.test(before)) {
    return `… ${after.trimStart()}`;
  }
  const isJoined = /\s$/.test(before) || MARK_FIRST.test(after);
  return isJoined ? after : joinTexts([before, after]).slice(before.length);
}

function ignoreText(): void {
  // An extraction is parsed when it is complete.
}

/** The JSON object in a model's answer, with or without a code fence; else `{ raw }`. */
export function valuesOf(text: string): Record<string, unknown> {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  const value = start < 0 || end < start ? undefined : parseExactJson(text.slice(start, end + 1));
  return isObject(value) ? value : { raw: text };
}
