// Body of a request to Gemini's streamGenerateContent. Gemini 3 and later refuse a function call in the history without
// its thought signature. The signature is returned on the same part; a call by another model gets the placeholder that
// Google documents.
// Source: Gemini API reference, "generateContent" and "Thought signatures"; types of @google/genai 2.32.

import type { LlmMessage, LlmTool, LlmToolCall } from '../../../model/llm-message.ts';
import { isObject } from '../../../std/json.ts';
import { ownVendorData } from '../../llm/client/answer-draft.ts';
import type { Dialect } from '../../llm/client/dialect.ts';
import { FUNCTION_NAME, wireName } from '../../llm/client/wire-names.ts';
import type { LlmRequest } from '../../llm/llm.ts';

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

type Part = Record<string, unknown>;
interface Content {
  role: 'user' | 'model';
  parts: Part[];
}

export interface GeminiForm {
  service: string;
  model: string;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

export function requestBody(
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
): Part[] {
  if (message.role === 'tool') return [resultPart(form, message, calls.get(message.callId))];
  const text = message.content.trim();
  if (message.role !== 'assistant') return text === '' ? [] : [{ text }];
  const own = kept(form, message.vendor);
  const texts = text === '' ? [] : [{ text, ...signatureOf(own) }];
  return [...texts, ...message.toolCalls.map((call, index) => callPart(form, call, index === 0))];
}

/** `isFirst`: only the first of several parallel calls has the signature. */
function callPart(form: GeminiForm, call: LlmToolCall, isFirst: boolean): Part {
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
): Part {
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

function signatureOf(own: Record<string, unknown> | undefined): Part {
  const signature = own?.['thoughtSignature'];
  return signature === undefined ? {} : { thoughtSignature: signature };
}

/** Returns an id only if the service itself created it. */
function idOf(own: Record<string, unknown> | undefined): Part {
  const id = own?.['id'];
  return id === undefined ? {} : { id };
}
