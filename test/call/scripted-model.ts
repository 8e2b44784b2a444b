// A language model that says what a test wrote down, in the fake clock's time.

import { GatewayError } from '../../src/errors/gateway-error.ts';
import {
  type LanguageModel,
  type LlmListener,
  type LlmRequest,
  type LlmResponse,
  NO_USAGE,
} from '../../src/speech/llm/llm.ts';
import type { Clock } from '../../src/std/clock.ts';

/** One answer: its pieces come `stepMs` apart, then the calls, or the failure. */
export interface Answer {
  say?: readonly string[];
  call?: string;
  /** Arguments of the call. */
  given?: Record<string, unknown>;
  stepMs?: number;
  fails?: 'LLM_FAILED' | 'LLM_TIMEOUT';
  /** Nothing ever comes. */
  hangs?: boolean;
}

export class ScriptedModel implements LanguageModel {
  readonly name = 'scripted-model';
  readonly model = 'test';
  readonly requests: LlmRequest[] = [];
  aborted = 0;
  prepared = 0;
  /** In order; the last one is given again and again. */
  answers: Answer[] = [];
  /** Values for extractions, as the model would write them. */
  extraction = '{}';
  /** Requests with such messages are refused, as by a content filter. */
  refuses: RegExp | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests that are no extraction. */
  get spoken(): LlmRequest[] {
    return this.requests.filter(({ json }) => !json);
  }

  prepare(): void {
    this.prepared += 1;
  }

  respond(request: LlmRequest, listener: LlmListener, signal: AbortSignal): Promise<LlmResponse> {
    this.requests.push(request);
    if (this.refuses?.test(JSON.stringify(request.messages))) {
      return Promise.reject(new GatewayError('LLM_REFUSED', { reason: 'content filter' }));
    }
    const next = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    const answer: Answer = request.json ? { say: [this.extraction] } : (next ?? {});
    return new Promise((resolve, reject) => {
      let over = false;
      signal.addEventListener('abort', () => {
        if (over) return;
        over = true;
        this.aborted += 1;
        reject(signal.reason);
      });
      const { hangs, say = [], stepMs = 20 } = answer;
      if (hangs === true) return;
      say.forEach((piece, index) => {
        this.#clock.after((index + 1) * stepMs, () => {
          if (!over) listener.onText(piece);
        });
      });
      this.#clock.after((say.length + 1) * stepMs, () => {
        if (over) return;
        over = true;
        if (answer.fails === undefined) resolve(whole(answer));
        else reject(new GatewayError(answer.fails, { reason: 'scripted', what: 'answer' }));
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function whole({ say = [], call, given = {} }: Answer): LlmResponse {
  return {
    text: say.join(''),
    toolCalls: call === undefined ? [] : [{ id: 'call-1', name: call, arguments: given }],
    finishReason: call === undefined ? 'stop' : 'tool_calls',
    usage: { ...NO_USAGE, promptTokens: 100, completionTokens: 10, cachedTokens: 40 },
    firstTokenMs: 20,
    totalMs: 40,
  };
}
