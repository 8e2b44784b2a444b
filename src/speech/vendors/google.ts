// Google: Gemini models with a key of the Gemini API, and the voices of Cloud Text-to-Speech by requests (never tried
// on a live account). Vertex AI is not supported: it requires a service account. Thoughts are never spoken. Gemini 3
// and later refuse a function call in the history without its thought signature, which is returned on the same part; a
// call by another model gets the placeholder that Google documents. Source: Gemini API reference, "generateContent",
// "GenerateContentResponse" and "Thought signatures"; types of @google/genai 2.32.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { LlmMessage, LlmTool, LlmToolCall, VendorPart } from '../../model/llm-message.ts';
import type { LlmServiceSettings } from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import { AnswerDraft, modelFamily, ownVendorData } from '../llm/client/answer-draft.ts';
import type { Dialect, OptionalField } from '../llm/client/dialect.ts';
import { ModelClient, type ModelMeans, modelOptions } from '../llm/client/model-client.ts';
import type { AnswerReader } from '../llm/client/protocol.ts';
import type { ErrorFacts } from '../llm/client/service-error.ts';
import { FUNCTION_NAME, wireName } from '../llm/client/wire-names.ts';
import { type FinishReason, type LanguageModel, type LlmRequest, NO_USAGE } from '../llm/llm.ts';
import { requestVoice } from '../tts/described/described-request.ts';
import { at, header, listIn, text, type Vendor, voiceText } from './vendor.ts';

/** The answer is one JSON object that contains a WAV file. */
const voice = {
  path: '/v1/text:synthesize',
  headers: { 'x-goog-api-key': '{key}' },
  body: {
    input: { text: '{text}' },
    voice: { languageCode: '{language}', name: '{voice}' },
    audioConfig: {
      audioEncoding: 'LINEAR16',
      sampleRateHertz: 8_000,
      speakingRate: '{speed}',
    },
  },
  audio: { in: 'json', path: 'audioContent', format: 's16@8000' },
};

export const google = {
  llm: (settings: LlmServiceSettings<'google'>, means: ModelMeans) =>
    createGemini({ ...means, ...modelOptions(settings) }),
  tts: requestVoice(voice),
  keyCheck: {
    // Azure lists voices at a separate host, which has no models.
    url: (fields) => {
      const isVoice = text(fields, 'base_url')?.includes('texttospeech') === true;
      const path = isVoice ? '/v1/voices?languageCode=en-US' : '/v1beta/models?pageSize=1';
      return at('https://generativelanguage.googleapis.com', path)(fields);
    },
    headers: header('x-goog-api-key'),
    refusingWords: /API key not valid/i,
  },
  voices: {
    url: at('https://texttospeech.googleapis.com', '/v1/voices'),
    headers: header('x-goog-api-key'),
    read: listIn('voices'),
    voice: (item) => ({
      voice_id: voiceText(item['name']),
      gender: voiceText(item['ssmlGender']).toLowerCase(),
      language: voiceText([item['languageCodes']].flat()[0]),
    }),
  },
} satisfies Vendor;

interface GeminiOptions extends ModelMeans {
  model: string;
  /** Base URL including the version: `https://generativelanguage.googleapis.com/v1beta`. */
  baseUrl: string;
  apiKey: string | undefined;
  /** Fields added to every request's body. */
  extra?: Record<string, unknown> | undefined;
}

const OPTIONAL_FIELDS: readonly OptionalField[] = [
  ['thinkingConfig', /thinking/i],
  ['temperature', /\btemperature\b/i],
  ['responseMimeType', /response_?mime_?type/i],
];

export function createGemini(options: GeminiOptions): LanguageModel {
  const { apiKey, extra = {} } = options;
  const model = options.model.replace(/^models\//, '');
  const form = { service: 'google', model, extra };
  return new ModelClient({
    ...options,
    model,
    service: form.service,
    protocol: {
      path: `models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
      headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
      body: (request, dialect) => requestBody(form, request, dialect),
      createAnswer: (request) => createGeminiAnswer(form, request),
      readError: readGeminiError,
      dialect: { optional: OPTIONAL_FIELDS },
      warmUp: { method: 'GET', path: 'models?pageSize=1' },
    },
  });
}

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
function readGeminiError(value: unknown): ErrorFacts | undefined {
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

function createGeminiAnswer(
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

const NO_SIGNATURE = 'skip_thought_signature_validator';
/** Models without signatures. */
const UNSIGNED = /^gemini-[12]\b/;

/** Settings for the least thinking that each model family accepts. */
const THINKING: readonly (readonly [models: RegExp, config: Record<string, unknown>])[] = [
  [/^gemini-2\.5-flash/, { thinkingBudget: 0 }],
  [/^gemini-2\.5-pro/, { thinkingBudget: 128 }],
  [/^gemini-[12]\b/, {}],
  [/^gemini-3\.7-flash/, { thinkingLevel: 'LOW' }],
  [/^gemini-.*flash/, { thinkingLevel: 'MINIMAL' }],
  [/^gemini-/, { thinkingLevel: 'LOW' }],
];

type SentPart = Record<string, unknown>;
interface Content {
  role: 'user' | 'model';
  parts: SentPart[];
}

interface GeminiForm {
  service: string;
  model: string;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

function requestBody(
  form: GeminiForm,
  request: LlmRequest,
  dialect: Dialect,
): Record<string, unknown> {
  const { messages, tools } = request;
  const systems = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const system = systems.join('\n\n').trim();
  return {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    contents: contentsOf(form, messages),
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map(wireTool) }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    }),
    generationConfig: generationConfig(form, request, dialect),
    ...form.extra,
  };
}

function generationConfig(
  { model }: GeminiForm,
  request: LlmRequest,
  dialect: Dialect,
): Record<string, unknown> {
  const thinkingConfig = THINKING.find(([models]) => models.test(model))?.[1] ?? {};
  const config: Record<string, unknown> = {
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.tokensMax !== undefined && { maxOutputTokens: request.tokensMax }),
    ...(request.json && { responseMimeType: 'application/json' }),
    ...(Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
  };
  for (const field of dialect.without) delete config[field];
  return config;
}

function wireTool({ name, description, parameters }: LlmTool): Record<string, unknown> {
  return { name: wireName(name, FUNCTION_NAME), description, parametersJsonSchema: parameters };
}

function contentsOf(form: GeminiForm, messages: readonly LlmMessage[]): Content[] {
  const made = messages.flatMap((each) => (each.role === 'assistant' ? each.toolCalls : []));
  const calls = new Map(made.map((call) => [call.id, call]));
  const contents: Content[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = partsOf(form, message, calls);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [{ text: '.' }] });
  if (contents.at(-1)?.role === 'model') contents.push({ role: 'user', parts: [{ text: '…' }] });
  return contents;
}

function partsOf(
  form: GeminiForm,
  message: LlmMessage,
  calls: ReadonlyMap<string, LlmToolCall>,
): SentPart[] {
  if (message.role === 'tool') return [resultPart(form, message, calls.get(message.callId))];
  const text = message.content.trim();
  if (message.role !== 'assistant') return text === '' ? [] : [{ text }];
  const own = kept(form, message.vendor);
  const texts = text === '' ? [] : [{ text, ...signatureOf(own) }];
  return [...texts, ...message.toolCalls.map((call, index) => callPart(form, call, index === 0))];
}

/** `isFirst`: only the first of several parallel calls has the signature. */
function callPart(form: GeminiForm, call: LlmToolCall, isFirst: boolean): SentPart {
  const own = kept(form, call.vendor);
  const isForeign = call.vendor === undefined || own === undefined;
  const placeholder = isForeign && isFirst && !UNSIGNED.test(form.model);
  return {
    functionCall: {
      name: wireName(call.name, FUNCTION_NAME),
      args: call.arguments,
      ...idOf(own),
    },
    ...(placeholder ? { thoughtSignature: NO_SIGNATURE } : signatureOf(own)),
  };
}

function resultPart(
  form: GeminiForm,
  { callId, content }: Extract<LlmMessage, { role: 'tool' }>,
  call: LlmToolCall | undefined,
): SentPart {
  const own = kept(form, call?.vendor);
  const response = { result: content };
  const name = wireName(call?.name ?? callId, FUNCTION_NAME);
  return { functionResponse: { name, ...idOf(own), response } };
}

function kept(
  form: GeminiForm,
  vendor: LlmToolCall['vendor'],
): Record<string, unknown> | undefined {
  const data = ownVendorData(vendor, form);
  return isObject(data) ? data : undefined;
}

function signatureOf(own: Record<string, unknown> | undefined): SentPart {
  const signature = own?.['thoughtSignature'];
  return signature === undefined ? {} : { thoughtSignature: signature };
}

/** Returns an id only if the service itself created it. */
function idOf(own: Record<string, unknown> | undefined): SentPart {
  const id = own?.['id'];
  return id === undefined ? {} : { id };
}
