// Client for language models behind an OpenAI-compatible chat completions server. Differences between services are rows
// in profiles.ts.
// Source: OpenAI API reference, "Create chat completion".

import { ModelClient, type ModelMeans, modelOptions } from '../client/model-client.ts';
import type { ModelProtocol } from '../client/protocol.ts';
import type { ErrorFacts } from '../client/service-error.ts';
import type { LanguageModel } from '../llm.ts';
import { OpenAiAnswer } from './openai-answer.ts';
import { requestBody, USER_AFTER_TOOL } from './openai-request.ts';
import { readOpenAiError } from './openai-wire.ts';
import { type OpenAiProfile, type ProfileName, profiles } from './profiles.ts';

export interface OpenAiOptions extends ModelMeans {
  /** Service whose profile applies. Default: openai. */
  service?: ProfileName;
  model: string;
  /** Base URL including the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Undefined for servers without keys. */
  apiKey: string | undefined;
  /** Default for requests without a temperature. */
  temperature?: number | undefined;
  /** Fields added to every request's body, such as `reasoning_effort`. */
  extra?: Record<string, unknown> | undefined;
  headers?: Record<string, string>;
}

/** Creates the model of any service with the interface from its settings. */
export function createChatModel(
  settings: Parameters<typeof modelOptions>[0] & { provider: ProfileName },
  means: ModelMeans,
  own: Pick<OpenAiOptions, 'headers' | 'temperature'> = {},
): LanguageModel {
  return createOpenAi({ ...means, ...own, ...modelOptions(settings), service: settings.provider });
}

const FIELDS = [
  'stream_options',
  'temperature',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'reasoning',
  'thinking',
  'chat_template_kwargs',
  'prompt_cache_key',
].map((field) => [field, new RegExp(`\\b${field}\\b`)] as const);
/** Mistral's models behind other servers refuse a user message after a tool result, too. */
const OPTIONAL = [[USER_AFTER_TOOL, /role '?user'? after role '?tool/] as const, ...FIELDS];

export function createOpenAi(options: OpenAiOptions): LanguageModel {
  const { service = 'openai', model, apiKey } = options;
  const profile: OpenAiProfile = profiles[service];
  const { returnsReasoning, errorCodes } = profile;
  const { temperature, extra = {} } = options;
  const form = { service, model, profile, temperature, extra };
  const protocol: ModelProtocol = {
    path: 'chat/completions',
    headers: { ...keyHeader(profile, apiKey), ...profile.headers, ...options.headers },
    body: (request, dialect) => requestBody(form, request, dialect),
    createAnswer: (request) => new OpenAiAnswer({ service, model, returnsReasoning }, request),
    readError: (value) => renamed(readOpenAiError(value), errorCodes),
    dialect: { optional: OPTIONAL, renamed: /max_completion_tokens/ },
    warmUp: profile.warmUp(model),
  };
  return new ModelClient({ ...options, service, protocol });
}

function keyHeader({ keyHeader: name }: OpenAiProfile, apiKey: string | undefined) {
  if (apiKey === undefined) return {};
  return { [name]: name === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}

function renamed(
  error: ErrorFacts | undefined,
  codes: OpenAiProfile['errorCodes'],
): ErrorFacts | undefined {
  const code = codes[String(error?.code)];
  return error === undefined || code === undefined ? error : { ...error, code };
}
