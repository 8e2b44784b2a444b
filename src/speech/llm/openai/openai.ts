// Language models behind an OpenAI-compatible chat completions server (OpenAI, Groq, vLLM, Ollama, llama.cpp, …),
// streamed. One request per answer and no retry: speech/llm/fallback does that.
// Source: OpenAI API reference, "Create chat completion".

import type { Readable } from 'node:stream';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import { modelTokens, serviceSeconds } from '../../../metrics/metrics.ts';
import type { LanguageModel, LlmListener, LlmRequest, LlmResponse } from '../llm.ts';
import { type ResponseTimeout, startResponseTimeout } from '../response-timeout.ts';
import { createAnswerBuilder } from './openai-answer.ts';
import { type OpenAiConnectionOptions, openConnection } from './openai-connection.ts';
import { adaptDialect, errorOfStatus, readError } from './openai-error.ts';
import { readAnswer } from './openai-stream.ts';
import { type Dialect, requestBody } from './openai-wire.ts';

export interface OpenAiOptions extends OpenAiConnectionOptions {
  /** The service's name in metrics and events; default "openai". */
  name?: string;
  model: string;
  /** Fields added to every request's body, such as `reasoning_effort`. */
  extra?: Record<string, unknown>;
  /** Default 8 s, 5 s and 60 s. */
  firstTokenMsMax?: number;
  betweenTokensMsMax?: number;
  totalMsMax?: number;
}

const ERROR_BYTES_MAX = 65_536;
/** max_tokens and each optional field may be refused once. */
const ADAPTATIONS_MAX = 4;

export function createOpenAi(options: OpenAiOptions): LanguageModel {
  const { clock, log, model } = options;
  const name = options.name ?? 'openai';
  const connection = openConnection(options, name);
  const limits = {
    firstTokenMsMax: options.firstTokenMsMax ?? 8_000,
    betweenTokensMsMax: options.betweenTokensMsMax ?? 5_000,
    totalMsMax: options.totalMsMax ?? 60_000,
  };
  const dialect: Dialect = { without: new Set(), completionTokens: false };
  let calls = 0;

  async function open(request: LlmRequest, watch: ResponseTimeout): Promise<Readable> {
    for (let attempt = 0; ; attempt++) {
      const body = requestBody(model, request, dialect, options.extra ?? {});
      const response = await connection.post(body, watch.signal);
      if (response.statusCode < 300) return response.body;
      const error = readError(await readText(response.body, ERROR_BYTES_MAX));
      const { statusCode: status } = response;
      const detail = withoutKey(error.message ?? '', options.apiKey);
      log.warn({ service: name, model, status, 'pii.detail': detail }, 'language model refused');
      if (attempt < ADAPTATIONS_MAX && adaptDialect(dialect, status, error)) continue;
      const after = response.headers['retry-after'];
      const retryAfter = Array.isArray(after) ? after[0] : after;
      throw errorOfStatus(status, error, { retryAfter, now: clock.now() });
    }
  }

  async function answer(
    request: LlmRequest,
    listener: LlmListener,
    watch: ResponseTimeout,
  ): Promise<LlmResponse> {
    const startedAt = clock.monotonicMs();
    const builder = createAnswerBuilder();
    let firstTokenMs: number | undefined;
    const heard = (speakable: string) => {
      firstTokenMs ??= clock.monotonicMs() - startedAt;
      if (speakable !== '' && !watch.signal.aborted) listener.onText(speakable);
    };
    const body = await open(request, watch);
    await readAnswer(body, { builder, watch, clock, onText: heard });
    watch.signal.throwIfAborted();
    const rest = builder.flush();
    if (rest !== '') heard(rest);
    const result = builder.result(() => `call_${++calls}`);
    const totalMs = clock.monotonicMs() - startedAt;
    return { ...result, firstTokenMs: firstTokenMs ?? totalMs, totalMs };
  }

  return {
    name,
    model,
    async respond(request, listener, signal) {
      signal.throwIfAborted();
      const startedAt = clock.monotonicMs();
      const watch = startResponseTimeout(clock, limits, signal);
      try {
        const given = await answer(request, listener, watch);
        record(name, 'ok', given.firstTokenMs);
        modelTokens.inc({ service: name, kind: 'prompt' }, given.usage.promptTokens);
        modelTokens.inc({ service: name, kind: 'completion' }, given.usage.completionTokens);
        return given;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const failure = named(watch.expired ?? error, name);
        record(name, codeOf(failure) ?? 'bug', clock.monotonicMs() - startedAt);
        throw failure;
      } finally {
        watch.stop();
      }
    },
    prepare: connection.prepare,
    close: connection.close,
  };
}

async function readText(body: Readable, bytesMax: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    if (!Buffer.isBuffer(part)) continue;
    parts.push(part);
    bytes += part.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, bytesMax);
}

function withoutKey(text: string, apiKey: string | undefined): string {
  return apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
}

function record(service: string, result: string, ms: number): void {
  serviceSeconds.observe({ kind: 'llm', service, result }, ms / 1_000);
}

/** Converts to a gateway error with the service's name in its facts; other errors (bugs) stay unchanged. */
function named(error: unknown, service: string): unknown {
  if (error instanceof GatewayError) {
    return new GatewayError(error.code, { service, ...error.facts }, error.cause);
  }
  if (!(error instanceof Error && 'code' in error)) return error;
  return new GatewayError('LLM_FAILED', { service, reason: String(error.code) }, error);
}
