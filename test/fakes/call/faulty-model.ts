// A language model that is slow, breaks off, stalls or floods as its script says, in a clock's time. One script for each
// conversation: the caller's words name it.

import { GatewayError } from '../../../src/errors/gateway-error.ts';
import {
  type LanguageModel,
  type LlmListener,
  type LlmRequest,
  type LlmResponse,
  NO_USAGE,
} from '../../../src/speech/llm/llm.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { Clock } from '../../../src/std/clock.ts';

export interface Script {
  /** Before the first token. */
  firstMs?: number;
  /** Between two tokens. */
  tokenMs?: number;
  /** Words with white space, as they arrive; a number is a pause in milliseconds. */
  tokens?: readonly (string | number)[];
  /** After the tokens. */
  fails?: 'LLM_FAILED' | 'LLM_TIMEOUT' | 'LLM_EMPTY' | 'LLM_AUTH';
  call?: string;
}

/** `scriptOf`: by the caller's last words and whether a tool has answered since. */
export function faultyModel(options: {
  clock: Clock;
  name: string;
  scriptOf(request: LlmRequest): Script;
}): LanguageModel {
  const { clock, name, scriptOf } = options;
  return {
    name,
    model: 'faulty',
    prepare: () => undefined,
    close: () => Promise.resolve(),
    async respond(request, listener, signal) {
      if (request.json) return answerOf('{}', undefined);
      const script = scriptOf(request);
      const answer = await play(clock, script, listener, signal);
      if (script.fails !== 'LLM_AUTH') return answer;
      throw new ServiceFault('llm', name, 'auth', { detail: 'the key is refused' });
    },
  };
}

async function play(
  clock: Clock,
  script: Script,
  listener: LlmListener,
  signal: AbortSignal,
): Promise<LlmResponse> {
  const { firstMs = 200, tokenMs = 20, tokens = [], fails, call } = script;
  await wait(clock, firstMs, signal);
  let text = '';
  for (const token of tokens) {
    if (typeof token === 'number') {
      await wait(clock, token, signal);
      continue;
    }
    text += token;
    listener.onText(token);
    await wait(clock, tokenMs, signal);
  }
  if (fails !== undefined && fails !== 'LLM_AUTH')
    throw new GatewayError(fails, { reason: 'scripted', what: 'text' });
  return answerOf(text, call);
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function answerOf(text: string, call: string | undefined): LlmResponse {
  return {
    text,
    toolCalls: call === undefined ? [] : [{ id: 'call-1', name: call, arguments: {} }],
    finishReason: call === undefined ? 'stop' : 'tool_calls',
    usage: { ...NO_USAGE, promptTokens: 100, completionTokens: 10 },
    firstTokenMs: 20,
    totalMs: 100,
  };
}
