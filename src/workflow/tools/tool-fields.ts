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
  /** Milliseconds of silence before the message, which is said only if the tool still runs then. Absent: at once. */
  delayMs?: number;
}

/** The message of an end or a transfer. */
export const messageFields = {
  messageType: orElse(z.enum(['none', 'custom', 'audio']), 'none').describe(
    'What is heard before: nothing, `customMessage`, or the recording.',
  ),
  customMessage: messageOrNull.describe(
    'Text that is spoken, at most 2,000 characters, with template variables.',
  ),
  audioRecordingId: referenceOrNull.describe(
    'The `recording_id` of the recording that is played. Where it is not there, `customMessage` is spoken.',
  ),
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

/** Delay of a tool's message in milliseconds, at most `max`. Not in the reference. */
export function messageDelay(max: number) {
  return orElse(z.int().min(0).max(max), 0).describe(
    `Milliseconds of silence before that text, 0 to ${max.toLocaleString('en')}: it is spoken only if there is no answer by then. Default: 0, at once.`,
  );
}

/** URL whose part up to the path is fixed; the rest may contain templates. */
export const requestUrl = z
  .string()
  .max(URL_MAX)
  .refine(isRequestUrl, {
    error: 'must be an http:// or https:// address whose host is fixed and which holds no password',
  })
  .describe(
    'Address of http or https, at most 4,000 characters. The host is written out; path and query may have template variables.',
  );

export const requestHeaders = orElse(
  z
    .record(requestHeaderName, requestHeaderValue)
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, {
      error: `at most ${HEADERS_MAX} headers`,
    }),
  {},
).describe('Headers by name, at most 50. Values under names of secrets are masked in responses.');

const parameterName = z
  .string()
  .trim()
  .min(1)
  .max(PARAMETER_NAME_MAX)
  .describe('A name of 1 to 100 characters that no other parameter of the list has.');
const parameterType = z
  .enum(['string', 'number', 'boolean', 'object', 'array'])
  .describe('Type of the value in JSON; a text that can be read so is converted.');

/** A parameter whose value comes from the model. */
const toolParameter = z.object({
  name: parameterName,
  type: parameterType,
  description: z
    .string()
    .max(DESCRIPTION_MAX)
    .describe('Tells the model what the value is, in up to 4,000 characters.'),
  required: orElse(z.boolean(), true).describe('Whether the model must give it. Default: true.'),
});
export type ToolParameter = z.infer<typeof toolParameter>;

/** A parameter whose value comes from the author: fixed, or a template. */
const presetParameter = z.object({
  name: parameterName,
  type: parameterType,
  value_template: z
    .string()
    .max(TEMPLATE_MAX)
    .describe('The value, at most 10,000 characters, with template variables.'),
  required: orElse(z.boolean(), true).describe(
    'Whether an empty value is an error. Default: true.',
  ),
});
export type PresetParameter = z.infer<typeof presetParameter>;

export const toolParameters = parametersOf(toolParameter).describe(
  'Values that the model gives, at most 50. Default: none.',
);
export const presetParameters = parametersOf(presetParameter).describe(
  'Values that the model does not see, at most 50; they win over those of the model. Default: none.',
);
export const credentialUuid = referenceOrNull.describe(
  'The `uuid` of a credential whose headers the request gets. Null: none.',
);

function parametersOf<S extends typeof toolParameter | typeof presetParameter>(parameter: S) {
  const all = z
    .array(parameter)
    .max(PARAMETERS_MAX)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
      error: 'each name may be used once',
    });
  return orElse(all, []);
}
