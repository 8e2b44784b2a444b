// What a tool is made of: one schema for all types, as clients send it and as it is stored. What is
// parsed has every field. `native` and `integration` are reserved: nothing can be made of them.
// Source: contract §10.1; the camelCase keys are the contract's.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import {
  messageOrNull,
  messageType,
  orElse,
  presetParameters,
  referenceOrNull,
  requestHeaders,
  requestUrl,
  textOrNull,
  toolParameters,
} from './tool-fields.ts';

/** The caller waits in silence: nobody does for longer. */
const TIMEOUT_MS_MAX = 120_000;
const DESTINATION_MAX = 500;
const RULES_MAX = 20;
const ROUTES_MAX = 100;
const VALUE_MAX = 500;
/** Names of a server's functions. */
const FUNCTIONS_MAX = 200;
const SECONDS_MAX = 3_600;
/** Half a minute of speech, while the caller waits. */
const ANNOUNCEMENT_MAX = 500;

const schemaVersion = orElse(z.int().min(1), 1);

const httpApiConfig = z.object({
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
  /** Takes the place of the flat arguments; any JSON object, its texts are templates. */
  body_template: z.record(z.string(), z.unknown()).nullable().default(null),
});
export type HttpApiConfig = z.infer<typeof httpApiConfig>;

const endCallConfig = z.object({
  messageType,
  customMessage: messageOrNull,
  audioRecordingId: referenceOrNull,
  endCallReason: orElse(z.boolean(), false),
  endCallReasonDescription: textOrNull,
});
export type EndCallConfig = z.infer<typeof endCallConfig>;

const destination = z.string().max(DESTINATION_MAX);

const resolver = z.object({
  type: z.literal('http').default('http'),
  url: requestUrl,
  headers: requestHeaders,
  credential_uuid: referenceOrNull,
  timeout_ms: orElse(z.int().min(500).max(5_000), 3_000),
  wait_message: messageOrNull,
  parameters: toolParameters,
  preset_parameters: presetParameters,
});

const routes = z
  .array(z.object({ context_value: z.string().max(VALUE_MAX), destination: destination.min(1) }))
  .min(1)
  .max(ROUTES_MAX)
  .refine(
    (all) =>
      new Set(all.map(({ context_value: value }) => value.trim().toLowerCase())).size ===
      all.length,
    { error: 'each context_value may be used once, in whatever case' },
  );
const contextMapping = z.preprocess(
  withRules,
  z.object({
    rules: z
      .array(z.object({ context_path: z.string().trim().min(1).max(VALUE_MAX), routes }))
      .min(1)
      .max(RULES_MAX),
    fallback_destination: destination.nullable().default(null),
  }),
);

/** Older clients send a single rule's path and routes where its rules would be. */
function withRules(sent: unknown): unknown {
  if (!isObject(sent) || (sent['rules'] ?? null) !== null) return sent;
  const { rules: _none, context_path: path, routes: only, ...others } = sent;
  if (path === undefined && only === undefined) return sent;
  return { ...others, rules: [{ context_path: path, routes: only }] };
}

/** Before caller and colleague are joined, the agent speaks to the colleague. Beyond the reference's. */
const warm = z.object({
  /** Who calls, and why: a template. */
  message: z.string().trim().min(1).max(ANNOUNCEMENT_MAX),
  /** `key`: they take the call by any key but `refuse_key`. `stay`: by not hanging up. */
  accept: orElse(z.enum(['key', 'stay']), 'key'),
  refuse_key: orElse(z.string().regex(/^[0-9*#]$/), '*'),
  /** Seconds to press a key in, once the message was said. */
  timeout: orElse(z.int().min(5).max(60), 15),
  caller_hears: orElse(z.enum(['music', 'ringback']), 'music'),
});

const transferCallConfig = z
  .object({
    destination_source: orElse(z.enum(['static', 'dynamic', 'context_mapping']), 'static'),
    destination: orElse(destination, ''),
    messageType,
    customMessage: messageOrNull,
    audioRecordingId: referenceOrNull,
    timeout: orElse(z.int().min(5).max(120), 30),
    parameters: toolParameters,
    resolver: resolver.nullable().default(null),
    context_mapping: contextMapping.nullable().default(null),
    warm: warm.nullable().default(null),
  })
  .refine((config) => config.destination_source !== 'dynamic' || config.resolver !== null, {
    path: ['resolver'],
    error: 'a dynamic destination needs a resolver',
  })
  .refine(
    (config) => config.destination_source !== 'context_mapping' || config.context_mapping !== null,
    { path: ['context_mapping'], error: 'this source of the destination needs a context_mapping' },
  );
export type TransferCallConfig = z.infer<typeof transferCallConfig>;

const mcpConfig = z.object({
  transport: z.literal('streamable_http').default('streamable_http'),
  url: requestUrl,
  credential_uuid: referenceOrNull,
  tools_filter: orElse(z.array(z.string().max(VALUE_MAX)).max(FUNCTIONS_MAX), []),
  timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 30),
  sse_read_timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 300),
  /** Filled by the gateway: what a client sends here is dropped. */
  discovered_tools: z
    .unknown()
    .optional()
    .transform((): Record<string, unknown>[] => []),
});

const calculatorConfig = orElse(z.object({}), {});

export const toolDefinition = z
  .discriminatedUnion('type', [
    z.object({
      schema_version: schemaVersion,
      type: z.literal('http_api'),
      config: httpApiConfig,
    }),
    z.object({
      schema_version: schemaVersion,
      type: z.literal('end_call'),
      config: endCallConfig,
    }),
    z.object({
      schema_version: schemaVersion,
      type: z.literal('transfer_call'),
      config: transferCallConfig,
    }),
    z.object({
      schema_version: schemaVersion,
      type: z.literal('calculator'),
      config: calculatorConfig,
    }),
    z.object({ schema_version: schemaVersion, type: z.literal('mcp'), config: mcpConfig }),
  ])
  .meta({ description: 'What the tool does: one shape for each type.' });
export type ToolDefinition = z.infer<typeof toolDefinition>;
