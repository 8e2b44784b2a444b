// A call's requests to the language model: answers that are spoken as they arrive, and values extracted in separate
// requests. Each request is reported exactly once, unless it was abandoned.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import { type LanguageModel, type LlmResponse, NO_USAGE } from '../../speech/llm/llm.ts';
import type { Clock } from '../../std/clock.ts';
import { isObject, parseJson } from '../../std/json.ts';
import type { DialogueAction } from '../../workflow/engine/dialogue-events.ts';

/** Receives a request's text as it arrives (the pipeline's UtteranceText). */
export interface GenerationSink {
  text(delta: string): void;
  end(): void;
  cancel(): void;
}

export interface GenerationListener {
  onAnswer(requestId: number, answer: LlmResponse): void;
  onFailure(requestId: number, code: string): void;
  onExtracted(extractionId: number, values: Record<string, unknown>): void;
  onExtractionFailure(extractionId: number, code: string): void;
  onUsage(usage: CallEventBody): void;
  onFault(error: unknown): void;
  /** A fault of ours: the call cannot go on. */
  onBroken(error: unknown): void;
}

type GenerateAction = Extract<DialogueAction, { type: 'generate' }>;
type ExtractAction = Extract<DialogueAction, { type: 'extract' }>;

/** Longer than a model's own limits and a second model's attempt. The longest wait for a word. */
const FIRST_TEXT_MS = 20_000;

export class Generation {
  readonly #llm: LanguageModel | undefined;
  readonly #listener: GenerationListener;
  readonly #log: Log;
  readonly #clock: Clock;
  /** Ends with the call. */
  readonly #callSignal: AbortSignal;
  readonly #running = new Map<number, { controller: AbortController; speech: GenerationSink }>();
  readonly #extracting = new Set<number>();

  constructor(deps: {
    llm: LanguageModel | undefined;
    listener: GenerationListener;
    log: Log;
    clock: Clock;
    callSignal: AbortSignal;
  }) {
    this.#llm = deps.llm;
    this.#listener = deps.listener;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#callSignal = deps.callSignal;
  }

  get pending(): boolean {
    return this.#running.size > 0;
  }

  /** Whether values are being extracted. */
  get isExtracting(): boolean {
    return this.#extracting.size > 0;
  }

  start(action: GenerateAction, speech: GenerationSink): void {
    const controller = new AbortController();
    this.#running.set(action.requestId, { controller, speech });
    this.#generate(action, speech, controller).catch((error: unknown) => {
      this.#listener.onBroken(error);
    });
  }

  /** The request's answer is not needed any more: its connection is closed, its speech is cut. */
  abandon(requestId: number): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    running.controller.abort();
    running.speech.cancel();
  }

  extract(action: ExtractAction): void {
    this.#extracting.add(action.extractionId);
    void this.#extract(action);
  }

  async #generate(
    action: GenerateAction,
    speech: GenerationSink,
    controller: AbortController,
  ): Promise<void> {
    let said = '';
    const patience = this.#clock.after(FIRST_TEXT_MS, () => {
      this.#timedOut(action, speech, controller);
    });
    try {
      const answer = await this.#respond(
        action,
        AbortSignal.any([this.#callSignal, controller.signal]),
        {
          onText: (delta) => {
            if (controller.signal.aborted) return;
            patience.cancel();
            said += delta;
            speech.text(delta);
          },
        },
      );
      if (!this.#settle(action.requestId)) return;
      speech.end();
      this.#listener.onAnswer(action.requestId, answer);
    } catch (error) {
      if (!this.#settle(action.requestId)) return;
      this.#failed(action, speech, said, error);
    } finally {
      patience.cancel();
    }
  }

  #timedOut(action: GenerateAction, speech: GenerationSink, controller: AbortController): void {
    if (!this.#settle(action.requestId)) return;
    controller.abort();
    this.#failed(action, speech, '', new GatewayError('LLM_TIMEOUT', { what: 'text' }));
  }

  /** Text received so far counts as the answer; a request without text has failed. */
  #failed(action: GenerateAction, speech: GenerationSink, said: string, error: unknown): void {
    const code = codeOf(error) ?? 'LLM_FAILED';
    this.#log.warn({ err: error, said: said.length }, 'model request failed');
    this.#listener.onFault(error);
    if (said.trim() === '') {
      speech.cancel();
      this.#listener.onFailure(action.requestId, code);
      return;
    }
    speech.end();
    this.#listener.onAnswer(action.requestId, { ...EMPTY_ANSWER, text: said });
  }

  /** False if the request was abandoned or the call is over. */
  #settle(requestId: number): boolean {
    return this.#running.delete(requestId) && !this.#callSignal.aborted;
  }

  async #respond(
    action: Pick<GenerateAction, 'messages'> & Partial<Pick<GenerateAction, 'tools'>>,
    signal: AbortSignal,
    listener: { onText(delta: string): void },
  ): Promise<LlmResponse> {
    const llm = this.#llm;
    if (llm === undefined) throw new Error('a model was asked for in a call without one');
    const answer = await llm.respond(
      {
        messages: action.messages,
        tools: action.tools ?? [],
        temperature: undefined,
        tokensMax: undefined,
        json: action.tools === undefined,
      },
      listener,
      signal,
    );
    this.#report(llm, answer);
    return answer;
  }

  #report(llm: LanguageModel, answer: LlmResponse): void {
    this.#listener.onUsage({
      type: 'model.usage',
      service: llm.name,
      model: llm.model,
      firstTokenMs: answer.firstTokenMs,
      totalMs: answer.totalMs,
      ...answer.usage,
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

const EMPTY_ANSWER: LlmResponse = {
  text: '',
  toolCalls: [],
  finishReason: 'other',
  usage: NO_USAGE,
  firstTokenMs: 0,
  totalMs: 0,
};

function ignoreText(): void {
  // An extraction is parsed when it is complete.
}

/** The JSON object in a model's answer, with or without a code fence; else `{ raw }`. */
export function valuesOf(text: string): Record<string, unknown> {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  const value = start < 0 || end < start ? undefined : parseJson(text.slice(start, end + 1));
  return isObject(value) ? value : { raw: text };
}
