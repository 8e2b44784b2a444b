// A tool that sends a request to another system over HTTP. Source: contract §8.7, §10.1.

import { z } from 'zod';
import { soleFunction } from './function-name.ts';
import { checkedArguments, presetValues, type ToolValues } from './parameters.ts';
import {
  credentialUuid,
  messageDelay,
  messageOrNull,
  orElse,
  presetParameters,
  referenceOrNull,
  requestHeaders,
  requestUrl,
  type ToolMessage,
  toolParameters,
} from './tool-fields.ts';
import { type ToolRequest, toolRequest } from './tool-request-builder.ts';
import { defineTool } from './tool-type.ts';

/** Longest timeout; the caller waits in silence. */
const TIMEOUT_MS_MAX = 120_000;
/** Longest delay of the message: half a minute, after which the engine's own lines have been said several times. */
const MESSAGE_DELAY_MS_MAX = 30_000;

const config = z.object({
  method: z
    .string()
    .max(10)
    .transform((word) => word.toUpperCase())
    .pipe(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']))
    .meta({
      description:
        '`GET`, `POST`, `PUT`, `PATCH` or `DELETE`, in any case. GET and DELETE send the values as a query, the others as JSON.',
      examples: ['POST'],
    }),
  url: requestUrl,
  headers: requestHeaders,
  credential_uuid: credentialUuid,
  parameters: toolParameters,
  preset_parameters: presetParameters,
  timeout_ms: orElse(z.int().min(1).max(TIMEOUT_MS_MAX), 5_000).describe(
    'Milliseconds that the answer may take, 1 to 120,000; in a call 60,000 at most. Default: 5,000.',
  ),
  customMessage: messageOrNull.describe(
    'Text that is spoken before the request, at most 2,000 characters, with template variables. Null: none.',
  ),
  customMessageType: z
    .enum(['text', 'audio'])
    .nullable()
    .default(null)
    .describe('`audio`: the recording is played in place of the text.'),
  customMessageRecordingId: referenceOrNull.describe('The `recording_id` of that recording.'),
  customMessageDelayMs: messageDelay(MESSAGE_DELAY_MS_MAX),
  body_template: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .describe(
      'The JSON body of POST, PUT and PATCH, in place of the flat values; texts in it may have template variables. Null: the flat values.',
    ),
});
type HttpApiConfig = z.infer<typeof config>;

export const httpApiTool = defineTool({
  type: 'http_api',
  config,
  open: (settings, tool) => ({
    functions: soleFunction(tool, settings.parameters),
    message: messageOf(settings),
    call: (_key, given, context) => ({
      what: 'request',
      request: toolRequest(settings, {
        arguments: checkedArguments(settings.parameters, given),
        presets: presetValues(settings.preset_parameters, context),
        context,
      }),
    }),
    trial: {
      unsent: settings,
      request: (values, now) => trialRequest(settings, values, now),
    },
  }),
});

interface Values {
  given: ToolValues;
  presets: ToolValues;
}

/** Request of a test without a call: templates with a call's variables are empty, `presets` replace them. Throws
 *  TOOL_ARGUMENTS, TOOL_URL. */
function trialRequest(
  settings: HttpApiConfig,
  { given, presets }: Values,
  now: number,
): ToolRequest {
  const context = { values: {}, now };
  const isGiven = (name: string): boolean => (presets[name] ?? null) !== null;
  const all = settings.preset_parameters.map((preset) => ({ ...preset, description: '' }));
  const fromAuthor = presetValues(
    all.filter(({ name }) => !isGiven(name)),
    context,
  );
  const fromTest = checkedArguments(
    all.filter(({ name }) => isGiven(name)),
    presets,
  );
  return toolRequest(settings, {
    arguments: checkedArguments(settings.parameters, given),
    presets: { ...fromAuthor, ...fromTest },
    context,
  });
}

function messageOf(settings: HttpApiConfig): ToolMessage {
  const { customMessage, customMessageType, customMessageRecordingId, customMessageDelayMs } =
    settings;
  return {
    text: customMessage ?? '',
    recordingId: customMessageType === 'audio' ? customMessageRecordingId || null : null,
    delayMs: customMessageDelayMs,
  };
}
