// A language model that reviews calls by a script: each request takes the next answer, the last one stays.

import { GatewayError } from '../../../src/errors/gateway-error.ts';
import {
  type LanguageModel,
  type LlmRequest,
  type LlmResponse,
  NO_USAGE,
} from '../../../src/speech/llm/llm.ts';

export class ReviewerModel implements LanguageModel {
  readonly name = 'reviewer';
  readonly model = 'judge-1';
  readonly requests: LlmRequest[] = [];
  /** Text, a failure, or no answer at all. */
  answers: (string | GatewayError | 'hang')[] = ['{}'];

  prepare(): void {
    // There is nothing to connect to.
  }

  async respond(
    request: LlmRequest,
    _listener: unknown,
    signal: AbortSignal,
  ): Promise<LlmResponse> {
    signal.throwIfAborted();
    this.requests.push(request);
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer instanceof GatewayError) throw answer;
    if (answer === 'hang') {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    return {
      text: answer ?? '',
      toolCalls: [],
      finishReason: 'stop',
      usage: { ...NO_USAGE, promptTokens: 100, completionTokens: 20, cachedTokens: 5 },
      firstTokenMs: 1,
      totalMs: 2,
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
