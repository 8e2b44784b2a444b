// Fields that the definitions of several tool types share. Null and absence mean the same; the parsed result has
// every field. Source: contract §10.1.

import { z } from 'zod';
import { requestHeaderName, requestHeaderValue } from '../../model/credential.ts';
import { isRequestUrl } from './tool-url.ts';

const HEADERS_MAX = 50;
const PARAMETERS_MAX = 50;
const PARAMETER_NAME_MAX = 100;
const DESCRIPTION_MAX = 4_000;
const TEMPLATE_MAX = 10_000;
const URL_MAX = 4_000;
const REFERENCE_MAX = 200;
/** Longest message: two minutes of speech. */
const MESSAGE_MAX = 2_000;

/** The schema with `value` in place of null or absence. */
export function orElse<S extends z.ZodType>(schema: S, value: z.output<S>) {
  return schema.nullish().transform((sent) => sent ?? value);
}

export const textOrNull = z.string().max(DESCRIPTION_MAX).nullable().default(null);
export const messageOrNull = z.string().max(MESSAGE_MAX).nullable().default(null);
/** Id of a credential or a recording. */
export const referenceOrNull = z.string().max(REFERENCE_MAX).nullable().default(null);

/** A message before a tool takes effect: none, a text, or a recorded clip. */
export interface ToolMessage {
  /** Text as a template; empty for none. */
  text: string;
  /** Id or name of the clip to play; the text replaces a missing clip. */
  recordingId: string | null;
}

/** The message of an end or a transfer. */
export const messageFields = {
  messageType: orElse(z.enum(['none', 'custom', 'audio']), 'none'),
  customMessage: messageOrNull,
  audioRecordingId: referenceOrNull,
};

/** The message of the fields. Source: contract §8.7. */
export function toolMessageOf(fields: z.output<z.ZodObject<typeof messageFields>>): ToolMessage {
  const { messageType, customMessage, audioRecordingId } = fields;
  if (messageType === 'none') return { text: '', recordingId: null };
  return {
    text: customMessage ?? '',
    recordingId: messageType === 'audio' ? audioRecordingId || null : null,
  };
}

/** URL whose part up to the path is fixed; the rest may contain templates. */
export const requestUrl = z.string().max(URL_MAX).refine(isRequestUrl, {
  error: 'must be an http:// or https:// address whose host is fixed and which holds no password',
});

export const requestHeaders = orElse(
  z
    .record(requestHeaderName, requestHeaderValue)
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, {
      error: `at most ${HEADERS_MAX} headers`,
    }),
  {},
);

const parameterName = z.string().trim().min(1).max(PARAMETER_NAME_MAX);

/** A parameter whose value comes from the model. */
const toolParameter = z.object({
  name: parameterName,
  type: z.enum(['string', 'number', 'boolean', 'object', 'array']),
  description: z.string().max(DESCRIPTION_MAX),
  required: orElse(z.boolean(), true),
});
export type ToolParameter = z.infer<typeof toolParameter>;

/** A parameter whose value comes from the author: fixed, or a template. */
const presetParameter = z.object({
  name: parameterName,
  type: z.enum(['string', 'number', 'boolean', 'object', 'array']),
  value_template: z.string().max(TEMPLATE_MAX),
  required: orElse(z.boolean(), true),
});
export type PresetParameter = z.infer<typeof presetParameter>;

export const toolParameters = parametersOf(toolParameter);
export const presetParameters = parametersOf(presetParameter);

function parametersOf<S extends typeof toolParameter | typeof presetParameter>(parameter: S) {
  const all = z
    .array(parameter)
    .max(PARAMETERS_MAX)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
      error: 'each name may be used once',
    });
  return orElse(all, []);
}
