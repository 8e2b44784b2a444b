// A tool that sends a request to another system over HTTP. Source: contract §8.7, §10.1.

import { z } from 'zod';
import { soleFunction } from './function-name.ts';
import { checkedArguments, presetValues, type ToolValues } from './parameters.ts';
import {
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

const config = z.object({
  method: z
    .string()
    .max(10)
    .transform((word) => word.toUpperCase())
    .pipe(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
  url: requestUrl,
  headers: requestHeaders,
  credential_uuid: referenceOrNull,
  parameters: toolParameters,
  preset_parameters: presetParameters,
  timeout_ms: orElse(z.int().min(1).max(TIMEOUT_MS_MAX), 5_000),
  customMessage: messageOrNull,
  customMessageType: z.enum(['text', 'audio']).nullable().default(null),
  customMessageRecordingId: referenceOrNull,
  /** Body that replaces the flat arguments: any JSON object, whose texts are templates. */
  body_template: z.record(z.string(), z.unknown()).nullable().default(null),
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
  const { customMessage, customMessageType, customMessageRecordingId } = settings;
  return {
    text: customMessage ?? '',
    recordingId: customMessageType === 'audio' ? customMessageRecordingId || null : null,
  };
}
