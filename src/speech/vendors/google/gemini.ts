// Client for Google's language models over the Gemini API with a key. Vertex AI is not supported: it requires a service
// account.

import type { OptionalField } from '../../llm/client/dialect.ts';
import { ModelClient, type ModelMeans } from '../../llm/client/model-client.ts';
import type { LanguageModel } from '../../llm/llm.ts';
import { createGeminiAnswer, readGeminiError } from './gemini-answer.ts';
import { requestBody } from './gemini-request.ts';

export interface GeminiOptions extends ModelMeans {
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
