// Wire format of OpenAI-compatible chat completions: schemas of the responses. They allow fields that servers omit,
// send as null or add.
// Source: OpenAI API reference, "Create chat completion" and its streaming object.

import { z } from 'zod';
import { isObject } from '../../../std/json.ts';
import { vendorMessage } from '../../service/service-fault.ts';
import type { ErrorFacts } from '../client/service-error.ts';

const toolCallDelta = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
  /** Google's thought signatures. */
  extra_content: z.unknown().optional(),
});
export type ToolCallDelta = z.infer<typeof toolCallDelta>;

const message = z.object({
  content: z
    .union([z.string(), z.array(z.object({ text: z.string().nullish() }))])
    .nullish()
    .transform((content) =>
      typeof content === 'string'
        ? content
        : (content ?? []).map((part) => part.text ?? '').join(''),
    ),
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCallDelta).nullish(),
  reasoning_content: z.string().nullish(),
  /** OpenRouter's signed reasoning, in fragments. */
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish(),
});

const usage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z
    .object({ cached_tokens: z.number().nullish(), cache_write_tokens: z.number().nullish() })
    .nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
  /** DeepSeek's name for cached_tokens. */
  prompt_cache_hit_tokens: z.number().nullish(),
});

/** Schema of a chunk in a stream (`delta`) and of a whole answer (`message`). */
export const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: message.nullish(),
        message: message.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: usage.nullish(),
  /** Groq's field for the usage of a stream. */
  x_groq: z.object({ usage: usage.nullish() }).nullish(),
});
export type Chunk = z.infer<typeof chunkSchema>;

const errorFacts = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
  param: z.string().nullish(),
  message: z.string().nullish(),
});

/** OpenRouter's own text says only that a provider returned an error. `raw` has the provider's text. */
const routedFacts = errorFacts
  .extend({ metadata: z.object({ raw: z.string().min(1) }) })
  .transform(({ metadata, ...facts }): ErrorFacts => {
    return { ...facts, message: `${facts.message ?? 'error'}: ${vendorMessage(metadata.raw)}` };
  });

const faulty = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() });

/** Shapes of errors: `{"error":{…}}`, `{"error":"text"}`, and `{"message":…}`, `{"detail":…}` and `{"base_resp":…}` of
 *  other servers; Google's in a list. */
const errorSchema = z.union([
  z.object({ error: routedFacts }).transform((body): ErrorFacts => body.error),
  z.object({ error: errorFacts }).transform((body): ErrorFacts => body.error),
  z.object({ error: z.string() }).transform((body): ErrorFacts => ({ message: body.error })),
  z.object({ detail: z.string() }).transform((body): ErrorFacts => ({ message: body.detail })),
  z.object({ detail: z.array(faulty) }).transform(
    ({ detail }): ErrorFacts => ({
      message: detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
    }),
  ),
  z.object({ message: z.string() }).and(errorFacts),
  z
    .object({ base_resp: z.object({ status_code: z.number(), status_msg: z.string().nullish() }) })
    .refine(({ base_resp }) => base_resp.status_code !== 0)
    .transform(
      ({ base_resp }): ErrorFacts => ({
        code: base_resp.status_code,
        message: base_resp.status_msg,
      }),
    ),
]);

/** The error in a response or an event. Undefined if it has none. */
export function readOpenAiError(value: unknown): ErrorFacts | undefined {
  const inner = Array.isArray(value) ? value[0] : value;
  if (!isObject(inner) || ('choices' in inner && !inner['error'])) return undefined;
  const parsed = errorSchema.safeParse(inner);
  return parsed.success ? parsed.data : undefined;
}
