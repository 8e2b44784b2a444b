// A server that speaks Gemini's streamGenerateContent by a script, as strictly as the service: unknown fields, a wrong
// key (400), function calls without their thought signature and roles out of order are refused in its error shape.
// Source: Gemini API reference, "generateContent", "Thought signatures"; google.rpc.Status.

import { z } from 'zod';
import {
  type RecordedRequest,
  type Reply,
  type ScriptedServer,
  type Step,
  startScriptedServer,
} from '../scripted-server.ts';
import { promptTokens } from './prompt-tokens.ts';

/** Its refusal: "Must start with a letter or an underscore". */
const functionName = z.string().regex(/^[A-Za-z_][\w.:-]{0,63}$/, 'Invalid function name');
const signature = { thoughtSignature: z.string().optional() };
const part = z.union([
  z.strictObject({ text: z.string().min(1), ...signature }),
  z.strictObject({
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: functionName,
      args: z.record(z.string(), z.unknown()),
    }),
    ...signature,
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      id: z.string().optional(),
      name: functionName,
      response: z.record(z.string(), z.unknown()),
    }),
  }),
]);
type Part = z.infer<typeof part>;

const requestSchema = z.strictObject({
  systemInstruction: z
    .strictObject({ parts: z.array(z.strictObject({ text: z.string() })) })
    .optional(),
  contents: z
    .array(z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) }))
    .min(1),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: functionName,
            description: z.string(),
            parametersJsonSchema: z.record(z.string(), z.unknown()),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({ mode: z.enum(['AUTO', 'NONE', 'ANY']) }),
    })
    .optional(),
  generationConfig: z.strictObject({
    temperature: z.number().min(0).max(2).optional(),
    maxOutputTokens: z.int().optional(),
    responseMimeType: z.enum(['application/json', 'text/plain']).optional(),
    thinkingConfig: z
      .union([
        z.strictObject({ thinkingBudget: z.int() }),
        z.strictObject({ thinkingLevel: z.enum(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']) }),
      ])
      .optional(),
  }),
});
type Body = z.infer<typeof requestSchema>;

const PLACEHOLDER = 'skip_thought_signature_validator';

export interface FakeGeminiServer extends ScriptedServer {
  /** With the version `v1beta`. */
  readonly betaUrl: string;
}

/** `contextTokensMax`: of its model; a longer conversation is refused. */
export async function startGeminiServer(
  key: string,
  contextTokensMax = Number.POSITIVE_INFINITY,
): Promise<FakeGeminiServer> {
  const server = await startScriptedServer({
    unscripted: refused(500, 'INTERNAL', 'no reply scripted'),
    check: (request) => refusal(key, request) ?? contextRefusal(request.body, contextTokensMax),
  });
  return Object.assign(server, { betaUrl: `${server.origin}/v1beta` });
}

function contextRefusal(body: Record<string, unknown>, tokensMax: number): Reply | undefined {
  const tokens = promptTokens(body);
  if (tokens <= tokensMax) return undefined;
  const message = `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${tokensMax}).`;
  return refused(400, 'INVALID_ARGUMENT', message);
}

function refusal(key: string, { headers, path, body }: RecordedRequest): Reply | undefined {
  if (headers['x-goog-api-key'] !== key) {
    const reason = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
    };
    return refused(400, 'INVALID_ARGUMENT', 'API key not valid.', [reason]);
  }
  const model = /^\/v1beta\/models\/([\w.-]+):streamGenerateContent\?alt=sse$/.exec(path)?.[1];
  if (model === undefined) return refused(404, 'NOT_FOUND', path);
  const parsed = requestSchema.safeParse(body);
  const issue = parsed.error?.issues[0];
  const reason = parsed.success
    ? ruleBroken(parsed.data, model)
    : `Invalid JSON payload received. Unknown name at '${issue?.path.join('.')}': ${issue?.message}`;
  return reason === undefined ? undefined : refused(400, 'INVALID_ARGUMENT', reason);
}

function ruleBroken({ contents, generationConfig }: Body, model: string): string | undefined {
  if (contents[0]?.role !== 'user') return 'contents must begin with the user';
  if (contents.at(-1)?.role !== 'user') return 'contents must end with the user';
  const { thinkingConfig } = generationConfig;
  if (/3\.7-flash/.test(model) && JSON.stringify(thinkingConfig)?.includes('MINIMAL')) {
    return 'Thinking level MINIMAL is not supported for this model.';
  }
  const isSigned = !/^gemini-[12]\b/.test(model);
  return contents
    .map(({ parts }, at) => turnBroken(parts, contents[at + 1]?.parts ?? [], isSigned))
    .find((reason) => reason !== undefined);
}

function turnBroken(parts: Part[], next: Part[], isSigned: boolean): string | undefined {
  const calls = parts.filter((each) => 'functionCall' in each);
  const results = next.filter((each) => 'functionResponse' in each);
  const [first] = calls;
  if (first === undefined) return undefined;
  if (calls.length !== results.length) {
    return 'the number of function response parts is equal to the number of function call parts';
  }
  if (calls.some((call, at) => call.functionCall.name !== results[at]?.functionResponse.name)) {
    return 'function responses out of order';
  }
  const given = first.thoughtSignature;
  if (isSigned && given !== PLACEHOLDER && given !== signatureOf(first.functionCall.name)) {
    return 'Function call is missing a thought_signature in functionCall parts.';
  }
  return undefined;
}

/** What this fake signs a call with. */
export function signatureOf(name: string): string {
  return Buffer.from(`signed ${name}`).toString('base64');
}

export function refused(
  status: number,
  name: string,
  message: string,
  details: unknown[] = [],
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    steps: [JSON.stringify({ error: { code: status, status: name, message, details } })],
  };
}

/** A chunk with these parts. */
export function chunk(parts: Record<string, unknown>[], finishReason?: string): Step {
  const candidate = {
    index: 0,
    content: { role: 'model', parts },
    ...(finishReason && { finishReason }),
  };
  return event({
    candidates: [candidate],
    usageMetadata: {
      promptTokenCount: 12,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
      totalTokenCount: 20,
    },
    modelVersion: 'gemini-test',
    responseId: 'r',
  });
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

/** A function call with its signature. */
export function callPart(name: string, args: Record<string, unknown>): Record<string, unknown> {
  return { functionCall: { name, args }, thoughtSignature: signatureOf(name) };
}

/** A well-behaved answer, one chunk per word. */
export function says(text: string): Reply {
  const words = text.match(/\S+\s*/g) ?? [];
  return { steps: [...words.map((word) => chunk([{ text: word }])), chunk([], 'STOP')] };
}
