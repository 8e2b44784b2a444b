// Client for Anthropic's language models over the Messages API.

import type { OptionalField } from '../../llm/client/dialect.ts';
import { ModelClient, type ModelMeans } from '../../llm/client/model-client.ts';
import type { LanguageModel } from '../../llm/llm.ts';
import { AnthropicAnswer, readAnthropicError } from './anthropic-answer.ts';
import { requestBody } from './anthropic-request.ts';

export interface AnthropicOptions extends ModelMeans {
  model: string;
  /** Base URL including the version: `https://api.anthropic.com/v1`. */
  baseUrl: string;
  apiKey: string | undefined;
  /** Fields added to every request's body. */
  extra?: Record<string, unknown> | undefined;
}

const OPTIONAL_FIELDS: readonly OptionalField[] = [
  ['temperature', /\btemperature\b/],
  ['thinking', /\bthinking\b/],
  ['output_config', /\b(output_config|effort)\b/],
];

export function createAnthropic(options: AnthropicOptions): LanguageModel {
  const { model, apiKey, extra = {} } = options;
  const form = { service: 'anthropic', model, extra };
  return new ModelClient({
    ...options,
    service: form.service,
    protocol: {
      path: 'messages',
      headers: {
        'anthropic-version': '2023-06-01',
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      },
      body: (request, dialect) => requestBody(form, request, dialect),
      createAnswer: (request) => new AnthropicAnswer(form, request),
      readError: readAnthropicError,
      dialect: { optional: OPTIONAL_FIELDS },
      warmUp: { method: 'GET', path: 'models?limit=1' },
    },
  });
}
