// A tool with which the model transfers the caller: to a fixed number, to one that a server returns, or to one that
// a value of the call selects. Source: contract §10.1, §8.7.

import { z } from 'zod';
import { POST_DIAL_MAX, splitDestination, withDigits } from '../../model/post-dial-digits.ts';
import { isObject } from '../../std/json.ts';
import { render, valueAtPath } from '../variables/template.ts';
import { soleFunction } from './function-name.ts';
import { checkedArguments, presetValues, type ToolContext, type ToolValues } from './parameters.ts';
import {
  credentialUuid,
  messageDelay,
  messageFields,
  messageOrNull,
  orElse,
  presetParameters,
  requestHeaders,
  requestUrl,
  type ToolMessage,
  type ToolParameter,
  toolMessageOf,
  toolParameters,
} from './tool-fields.ts';
import { type ToolRequest, toolRequest } from './tool-request-builder.ts';
import { defineTool, type TransferAnnouncement } from './tool-type.ts';

const DESTINATION_CHARACTERS_MAX = 500;
const RULES_MAX = 20;
const ROUTES_MAX = 100;
const VALUE_MAX = 500;
/** Longest announcement: half a minute of speech, while the caller waits. */
const ANNOUNCEMENT_MAX = 500;
const MESSAGE_CHARACTERS_MAX = 2_000;
/** Longest spoken text: a minute of speech, as values may be long and the caller waits. */
const SPOKEN_CHARACTERS_MAX = 1_000;

/** Longest wait for the server that returns the destination. */
const RESOLVER_MS_MAX = 5_000;

const destination = z
  .string()
  .max(DESTINATION_CHARACTERS_MAX)
  .describe(
    'A telephone number, a SIP URI, or over a PBX an extension; at most 500 characters, with template variables.',
  );

const resolver = z.object({
  type: z.literal('http').default('http').describe('How the server is asked.'),
  url: requestUrl,
  headers: requestHeaders,
  credential_uuid: credentialUuid,
  timeout_ms: orElse(z.int().min(500).max(RESOLVER_MS_MAX), 3_000).describe(
    'Milliseconds that the answer may take, 500 to 5,000. Default: 3,000.',
  ),
  wait_message: messageOrNull.describe(
    'Text that is spoken while the server is asked, with template variables. Null: none.',
  ),
  wait_message_delay_ms: messageDelay(RESOLVER_MS_MAX),
  parameters: toolParameters,
  preset_parameters: presetParameters,
});

const routes = z
  .array(
    z.object({
      context_value: z
        .string()
        .max(VALUE_MAX)
        .describe('The value, compared without regard to case; each is in the list once.'),
      destination: destination.min(1),
    }),
  )
  .min(1)
  .max(ROUTES_MAX)
  .refine(
    (all) =>
      new Set(all.map(({ context_value: value }) => value.trim().toLowerCase())).size ===
      all.length,
    { error: 'each context_value may be used once, in whatever case' },
  )
  .describe('Destinations by value, 1 to 100.');
const contextMapping = z.preprocess(
  withRules,
  z
    .object({
      rules: z
        .array(
          z.object({
            context_path: z
              .string()
              .trim()
              .min(1)
              .max(VALUE_MAX)
              .describe("Dotted path of a value in the call's context."),
            routes,
          }),
        )
        .min(1)
        .max(RULES_MAX)
        .describe(
          'Rules that are tried in order, 1 to 20: the first whose value has a route counts.',
        ),
      fallback_destination: destination
        .nullable()
        .default(null)
        .describe('Destination if no rule fits. Null: the transfer fails then.'),
    })
    .nullable(),
);

/** Moves the path and routes of a single rule into its rules, as older clients send them, with null in all of them for
 *  none. */
function withRules(sent: unknown): unknown {
  if (!isObject(sent) || (sent['rules'] ?? null) !== null) return sent;
  const { rules: _none, context_path: path, routes: only, ...others } = sent;
  if ((path ?? only ?? null) === null) return 'rules' in sent || path === null ? null : sent;
  return { ...others, rules: [{ context_path: path, routes: only }] };
}

/** Warm transfer: the agent announces the caller to the destination before it connects both. Not in the reference. */
const warm = z.object({
  message: z
    .string()
    .trim()
    .min(1)
    .max(ANNOUNCEMENT_MAX)
    .describe(
      'What is said to the person at the destination: the caller, and the reason of the call. 1 to 500 characters, with template variables.',
    ),
  accept: orElse(z.enum(['key', 'stay']), 'key').describe(
    '`key`: any key but `refuse_key` accepts the call. `stay`: staying on the line accepts it. Default: `key`.',
  ),
  refuse_key: orElse(z.string().regex(/^[0-9*#]$/), '*').describe(
    'The key that refuses the call, one of `0-9*#`. Default: `*`.',
  ),
  timeout: orElse(z.int().min(5).max(60), 15).describe(
    'Seconds to press a key after the message, 5 to 60. Default: 15.',
  ),
  queue_timeout: z
    .int()
    .min(10)
    .max(1_800)
    .nullable()
    .default(null)
    .describe(
      'Set if the destination is a call queue: seconds until a person in it presses a key, 10 to 1,800, in place of `timeout` and the ring time. The message is repeated meanwhile, and `accept` must be `key`. Null: no queue.',
    ),
  caller_hears: orElse(z.enum(['music', 'ringback']), 'music').describe(
    'What the caller hears meanwhile. Default: `music`.',
  ),
  if_unsupported: orElse(z.enum(['fail', 'cold']), 'fail').describe(
    'With a provider that cannot announce it, the transfer fails, or connects both at once (`cold`). Default: `fail`.',
  ),
});

const transferConfig = z
  .object({
    destination_source: orElse(z.enum(['static', 'dynamic', 'context_mapping']), 'static').describe(
      'Where the destination comes from: `destination`, the `resolver`, or the `context_mapping`. Default: `static`.',
    ),
    destination: orElse(destination, '').describe(
      'With `static`: a telephone number with `+` and country code, a SIP URI, or over a PBX an extension; at most 500 characters, with template variables.',
    ),
    post_dial_digits: z
      .string()
      .max(POST_DIAL_MAX)
      .nullable()
      .default(null)
      .describe(
        'Keys pressed after the destination has answered, such as an extension: `0-9*#A-D`, `,` for two seconds and `w` for half a second of pause, with template variables; at most 60. Also after a comma in the destination: `+4930123456,,204#`. Not added to the destination of a resolver.',
      ),
    ...messageFields,
    timeout: orElse(z.int().min(5).max(120), 30).describe(
      'Seconds for which the destination rings, 5 to 120. Default: 30.',
    ),
    parameters: toolParameters,
    resolver: resolver
      .nullable()
      .default(null)
      .describe('With `dynamic`: the server that is asked by POST for the destination.'),
    context_mapping: contextMapping
      .default(null)
      .describe("With `context_mapping`: destinations by a value of the call's context."),
    warm: warm
      .nullable()
      .default(null)
      .describe(
        'Announces the caller to the destination before both are connected. Null: they are connected at once.',
      ),
  })
  .refine(({ warm }) => warm === null || warm.queue_timeout === null || warm.accept === 'key', {
    path: ['warm', 'accept'],
    error: 'a queue needs `key`: it answers before a person does',
  })
  .refine((config) => config.destination_source !== 'dynamic' || config.resolver !== null, {
    path: ['resolver'],
    error: 'a dynamic destination needs a resolver',
  })
  .refine(
    (config) => config.destination_source !== 'context_mapping' || config.context_mapping !== null,
    { path: ['context_mapping'], error: 'this source of the destination needs a context_mapping' },
  );
type TransferCallConfig = z.infer<typeof transferConfig>;

/** What a provider or a PBX can be asked to call: a number or an extension in digits, a SIP or tel URI, or a PBX's
 *  endpoint such as `PJSIP/reception`. A template is known only in the call. */
const DESTINATION =
  /^(?:sips?:\S+|tel:\S+|[a-z][a-z0-9]*\/\S+|[+\uff0b]?[\p{Nd}\p{Cf}\s()./*#\u2010-\u2015\u2212-]*[\p{Nd}*#][\p{Nd}\p{Cf}\s()./*#\u2010-\u2015\u2212-]*)$/iu;

/** Paths in a definition of destinations that cannot be called. Stored tools may have some. */
export function wrongDestinations(definition: unknown): (string | number)[][] {
  const read = transferDefinition.safeParse(definition);
  if (!read.success) return [];
  const { destination, context_mapping: mapping } = read.data.config;
  const inRules = mapping?.rules.flatMap(({ routes }, rule) =>
    routes.map((route, at) => ({
      path: ['context_mapping', 'rules', rule, 'routes', at, 'destination'],
      text: route.destination,
    })),
  );
  const all = [
    { path: ['destination'], text: destination },
    {
      path: ['context_mapping', 'fallback_destination'],
      text: mapping?.fallback_destination ?? '',
    },
    ...(inRules ?? []),
  ];
  return all.filter(({ text }) => !isDestination(text.trim())).map(({ path }) => path);
}

function isDestination(text: string): boolean {
  const { address } = splitDestination(text);
  return text === '' || text.includes('{{') || DESTINATION.test(address);
}

const transferDefinition = z.object({ type: z.literal('transfer_call'), config: transferConfig });

export const transferCallTool = defineTool({
  type: 'transfer_call',
  config: transferConfig,
  open: (settings, tool) => ({
    functions: soleFunction(tool, parametersOf(settings)),
    leavesConversation: true,
    message: toolMessageOf(settings),
    call: (_key, given) => ({
      what: 'transfer',
      arguments: checkedArguments(parametersOf(settings), given),
    }),
    transfer: {
      ringS: settings.timeout,
      needsWarm: settings.warm?.if_unsupported === 'fail',
      needsDigits: hasDigits(settings) && settings.warm === null,
      asksServer: settings.destination_source === 'dynamic',
      waitMessage: waitMessageOf(settings),
      resolverRequest: (given, context) => resolverRequest(settings, given, context),
      knownDestination: (context) => knownDestination(settings, context),
      announcement: (context) => announcementOf(settings, context),
    },
  }),
});

function waitMessageOf({ resolver }: TransferCallConfig): ToolMessage {
  const delayMs = resolver?.wait_message_delay_ms ?? 0;
  return { text: resolver?.wait_message ?? '', recordingId: null, delayMs };
}

/** The parameters. Of two with the same name, the transfer's own precedes the resolver's. */
function parametersOf(config: TransferCallConfig): ToolParameter[] {
  const isDynamic = config.destination_source === 'dynamic';
  const asked = isDynamic ? (config.resolver?.parameters ?? []) : [];
  const own = new Set(config.parameters.map(({ name }) => name));
  return [...config.parameters, ...asked.filter(({ name }) => !own.has(name))];
}

/** Whether a fixed destination has keys that are pressed after its answer. */
function hasDigits({ destination, post_dial_digits: digits }: TransferCallConfig): boolean {
  return (digits ?? '') !== '' || splitDestination(destination).digits !== '';
}

/** The destination without a server; empty if there is none, and for dynamic destinations. */
function knownDestination(
  {
    destination_source: source,
    destination,
    post_dial_digits: digits,
    context_mapping: mapping,
  }: TransferCallConfig,
  { values, now }: ToolContext,
): string {
  const rendered = (template: string): string => {
    const known = render(template, values, { now }).trim();
    return withDigits(known, render(digits ?? '', values, { now }).trim());
  };
  if (source !== 'context_mapping' || mapping === null) return rendered(destination);
  for (const { context_path: path, routes } of mapping.rules) {
    const value = normal(valueAtPath(values, path));
    const route = routes.find((each) => value !== '' && normal(each.context_value) === value);
    if (route !== undefined) return rendered(route.destination);
  }
  return rendered(mapping.fallback_destination ?? '');
}

/** The message to the destination; undefined if the caller is connected at once. */
function announcementOf(
  { warm }: TransferCallConfig,
  { values, now }: ToolContext,
): TransferAnnouncement | undefined {
  if (warm === null) return undefined;
  return {
    text: render(warm.message, values, { now }).trim().slice(0, SPOKEN_CHARACTERS_MAX),
    accept: warm.accept,
    refuseKey: warm.refuse_key,
    decisionS: warm.timeout,
    ...(warm.queue_timeout !== null && { queueS: warm.queue_timeout }),
    callerHears: warm.caller_hears,
    isRequired: warm.if_unsupported === 'fail',
  };
}

/** The request to the server that returns the destination; undefined without one. Throws TOOL_URL,
 *  TOOL_ARGUMENTS. */
function resolverRequest(
  { destination_source: source, resolver }: TransferCallConfig,
  given: ToolValues,
  context: ToolContext,
): ToolRequest | undefined {
  if (source !== 'dynamic' || resolver === null) return undefined;
  return toolRequest(
    { ...resolver, method: 'POST', body_template: null },
    { arguments: given, presets: presetValues(resolver.preset_parameters, context), context },
  );
}

const resolved = z.object({
  transfer_context: z.object({
    destination: z.string().trim().min(1).max(DESTINATION_CHARACTERS_MAX),
    custom_message: z.string().max(MESSAGE_CHARACTERS_MAX).nullish(),
  }),
});

/** The server's destination, or why its reply is invalid. `data` may have any form. */
export function readResolved(
  status: number,
  data: unknown,
): { destination: string; message: string | null } | { reason: string } {
  if (status < 200 || status >= 300) return { reason: 'resolver_http_error' };
  const answer = resolved.safeParse(data);
  if (!answer.success) return { reason: 'resolver_invalid_response' };
  const { destination, custom_message: message } = answer.data.transfer_context;
  return { destination, message: message || null };
}

function normal(value: unknown): string {
  if (typeof value === 'object' || value === undefined) return '';
  return String(value).trim().toLowerCase();
}
