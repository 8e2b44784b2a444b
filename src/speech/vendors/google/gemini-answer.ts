// Assembles an answer from the chunks of Gemini's streamGenerateContent. Thoughts are never spoken; each signature
// stays with its part.
// Source: Gemini API reference, "GenerateContentResponse"; types of @google/genai 2.32.

import { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { VendorPart } from '../../../model/llm-message.ts';
import { AnswerDraft, modelFamily } from '../../llm/client/answer-draft.ts';
import type { AnswerReader } from '../../llm/client/protocol.ts';
import type { ErrorFacts } from '../../llm/client/service-error.ts';
import { type FinishReason, type LlmRequest, NO_USAGE } from '../../llm/llm.ts';

const part = z.object({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  functionCall: z
    .object({
      id: z.string().nullish(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
});
type Part = z.infer<typeof part>;

const chunk = z.object({
  candidates: z
    .array(
      z.object({
        index: z.number().nullish(),
        content: z.object({ parts: z.array(part).nullish() }).nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z
    .object({
      promptTokenCount: z.number().nullish(),
      cachedContentTokenCount: z.number().nullish(),
      candidatesTokenCount: z.number().nullish(),
      thoughtsTokenCount: z.number().nullish(),
    })
    .nullish(),
});
type Chunk = z.infer<typeof chunk>;

const error = z.object({
  error: z.object({
    code: z.number().nullish(),
    status: z.string().nullish(),
    message: z.string().nullish(),
    details: z.array(z.record(z.string(), z.unknown())).nullish(),
  }),
});

/** Reads the error. Its code is the reason (API_KEY_INVALID) or the status (RESOURCE_EXHAUSTED). */
export function readGeminiError(value: unknown): ErrorFacts | undefined {
  const parsed = error.safeParse(Array.isArray(value) ? value[0] : value);
  if (!parsed.success) return undefined;
  const { status, message, details } = parsed.data.error;
  const reason = details?.find((each) => 'reason' in each)?.['reason'];
  const delay = details?.find((each) => 'retryDelay' in each)?.['retryDelay'];
  const seconds = Number.parseFloat(String(delay));
  return {
    code: typeof reason === 'string' ? reason : status,
    type: status,
    message,
    ...(Number.isFinite(seconds) && { retryAfterMs: Math.ceil(seconds * 1_000) }),
  };
}

export function createGeminiAnswer(
  form: { service: string; model: string },
  request: LlmRequest,
): AnswerReader {
  const draft = new AnswerDraft(request);
  const usage = { ...NO_USAGE };
  let signature: string | undefined;
  let finish: string | undefined;
  let begun = false;

  const vendor = (data: Record<string, unknown>): VendorPart | undefined => {
    if (Object.keys(data).length === 0) return undefined;
    return { service: form.service, family: modelFamily(form.model), data };
  };

  function takeUsage({ usageMetadata: given }: Chunk): void {
    if (given === null || given === undefined) return;
    usage.promptTokens = given.promptTokenCount ?? usage.promptTokens;
    usage.cachedTokens = given.cachedContentTokenCount ?? usage.cachedTokens;
    usage.reasoningTokens = given.thoughtsTokenCount ?? usage.reasoningTokens;
    const { candidatesTokenCount: said } = given;
    if (said !== null && said !== undefined) usage.completionTokens = said + usage.reasoningTokens;
  }

  function takePart({ text, thought, thoughtSignature, functionCall }: Part): string | undefined {
    const signed = thoughtSignature ? { thoughtSignature } : {};
    if (functionCall) {
      const { id, name, args } = functionCall;
      const data = { ...signed, ...(id && { id }) };
      draft.addCall({ id: id ?? '', name, arguments: args ?? {}, vendor: vendor(data) });
      return '';
    }
    if (thoughtSignature) signature = thoughtSignature;
    return thought || !text ? undefined : draft.say(text) || undefined;
  }

  return {
    get begun() {
      return begun;
    },
    get finished() {
      return finish !== undefined;
    },
    complete: false,
    add(value) {
      const parsed = chunk.safeParse(value);
      if (!parsed.success) throw new GatewayError('LLM_MALFORMED', {}, parsed.error);
      takeUsage(parsed.data);
      const blocked = parsed.data.promptFeedback?.blockReason;
      if (blocked) finish = 'PROHIBITED_CONTENT';
      const candidate = parsed.data.candidates?.find((each) => (each.index ?? 0) === 0);
      if (candidate === undefined) return undefined;
      begun = true;
      finish = candidate.finishReason ?? finish;
      const said = (candidate.content?.parts ?? [])
        .map(takePart)
        .filter((each) => each !== undefined);
      return said.length === 0 ? undefined : said.join('');
    },
    flush: () => draft.flush(),
    result(newId) {
      const ending = {
        finish: finishReason(finish),
        reason: finish ?? 'none',
        vendor: vendor(signature === undefined ? {} : { thoughtSignature: signature }),
      };
      return { ...draft.result(ending, newId), usage };
    },
  };
}

const FILTERED = /^(SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY)$/;
const MALFORMED = /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS)$/;

function finishReason(reason: string | undefined): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTERED.test(reason ?? '')) return 'filtered';
  return MALFORMED.test(reason ?? '') ? 'malformed-tool' : 'other';
}
