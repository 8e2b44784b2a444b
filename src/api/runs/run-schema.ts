// Schemas of runs and starts of calls. Source: specification §2.5, §4.6 and §4.9, contract decisions 2 and 3, §6 and
// Appendix D.

import { z } from 'zod';
import { WEB_CALL_ITEMS } from '../../call/start/setup/web-call.ts';
import { callStatus, configuredProviderName } from '../../model/provider.ts';
import {
  type RunFieldFacts,
  type RunFields,
  type RunFieldWith,
  runFields,
} from '../../model/run.ts';
import { pageFigures } from '../http/page-parameters.ts';
import { freeObject, idIn, idOut, nameIn, storedObject, timeOut } from '../http/values.ts';

/** Longest number or SIP address to dial. */
const ADDRESS_LENGTH_MAX = 255;

/** Where a call goes out, in every start of one. */
const outbound = {
  telephony_configuration_id: idIn
    .nullish()
    .describe(
      'Id of the telephony configuration that places the call. Default: the default configuration; without one, the oldest that is ready.',
    ),
  from_phone_number_id: idIn
    .nullish()
    .describe(
      "`id` of the phone number that is the caller id, an active one of that configuration. Default: the configuration's default caller id, else any of its active numbers.",
    ),
};

export const startCallBody = z.object({
  phone_number: z
    .string()
    .min(1)
    .max(ADDRESS_LENGTH_MAX)
    .meta({
      description:
        "What is called, in 1 to 255 characters: a number, best with `+` and country code (E.164), a SIP URI, or over a PBX an extension. A number without `+` is one of the caller id's country.",
      examples: ['+14155550100'],
    }),
  initial_context: storedObject.nullish().meta({
    description:
      "Values for the agent's template variables, such as `{{first_name}}`, by name: at most 64 kB and 2,000 values. They stay with the run. `greeting_override` takes the place of the greeting. Default: none.",
  }),
  ...outbound,
});

/** Longest idempotency key: a longer one is a body, not a key. */
const START_KEY_LENGTH_MAX = 255;

/** Headers of every operation that starts a call. */
export const startHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .min(1)
    .max(START_KEY_LENGTH_MAX)
    .regex(/^[\x21-\x7e]+$/)
    .optional()
    .meta({
      description:
        'A name for this request, 1 to 255 visible ASCII characters. Sent again with the same request within a day it gets the first answer and starts no second call; with another request it is 409. Default: every request starts a call.',
    }),
});

/** Modes of a run without a call; the last three are historical. */
const runMode = z
  .enum([
    ...configuredProviderName.options,
    'webrtc',
    'smallwebrtc',
    'textchat',
    'stasis',
    'VOICE',
    'CHAT',
  ])
  .describe(
    'A provider, for a run on which a call is placed later. The others are accepted and have no calls.',
  );

export const createRunBody = z.object({ mode: runMode, name: nameIn(255) });

export const runCreated = z
  .object({
    id: idOut,
    workflow_id: idOut,
    name: z.string(),
    mode: z.string(),
    created_at: timeOut,
    definition_id: idOut.describe('The version of the agent that the run is of.'),
    initial_context: freeObject,
  })
  .describe('A run without a call.');

export const testCall = z.object({
  workflow_id: idIn.describe("The agent's `id`; not its `workflow_uuid`."),
  workflow_run_id: idIn
    .nullish()
    .describe('A run of the agent without a call, from `createRun`. Default: a new run.'),
  phone_number: z.string().max(ADDRESS_LENGTH_MAX).nullish().meta({
    description:
      "What is called, in up to 255 characters: a number, best with `+` and country code, a SIP URI, or over a PBX an extension. Default: the organization's `test_phone_number`.",
  }),
  ...outbound,
});

const variablesWithoutValue = z.array(z.string()).optional().meta({
  description:
    "Template variables of the agent that have no value in the call's context, and no default.",
});

export const testCallStarted = z
  .object({
    message: z.string(),
    workflow_run_id: idOut,
    workflow_run_name: z.string(),
    variables_without_value: variablesWithoutValue,
  })
  .describe('The provider has accepted the call; it has not been answered yet.');

export const webCallBody = z.object({
  workflow_id: idIn.describe("The agent's `id`; not its `workflow_uuid`."),
  initial_context: startCallBody.shape.initial_context,
  draft: z.boolean().nullish().meta({
    description:
      "Whether the agent's draft answers, if it has one, with its template variables. Default: false, what is published.",
  }),
  items: z.enum(WEB_CALL_ITEMS).nullish().meta({
    description:
      'The live items of the run that the page gets over the media socket: `none`; `transcript`, the words of both sides; or `all` that `watchRun` has, tools and their results among them. Default: `transcript`.',
  }),
});

export const webCallStarted = z
  .object({
    run_id: idOut.describe('For `getRun`, `watchRun` and `hangUpCall`.'),
    workflow_run_id: idOut.describe('The same as `run_id`.'),
    token: z
      .string()
      .describe('For one media socket, offered as the subprotocol `token.` with the token.'),
    media_url: z.string().describe('Address of the media socket (wss).'),
    expires_in: z.int().describe('Seconds in which the socket must be opened.'),
    variables_without_value: variablesWithoutValue,
  })
  .describe('The call waits for its media socket.');

export const callStarted = z
  .object({
    status: z.literal('initiated'),
    workflow_run_id: idOut.describe('For `getRun`, `watchRun` and `hangUpCall`.'),
    workflow_run_name: z.string(),
    variables_without_value: variablesWithoutValue,
  })
  .describe('The provider has accepted the call; it has not been answered yet.');

const RECORDING_URL =
  'A link that needs no key. It works for an hour. Null: there is no recording (yet).';
const PUBLIC_URL =
  'A link that needs no key. It works for 30 days by default. Null in lists, and if there is no file.';

/** Schemas of the values, by the kind of the field. */
const valueSchemas = {
  id: idOut,
  text: z.string(),
  number: z.number(),
  time: timeOut,
  object: freeObject,
  direction: z.enum(['inbound', 'outbound']),
  state: z.enum(['initialized', 'running', 'completed']),
};

type SchemaOf<Name extends RunFieldWith<{ api: object }>> = RunFields[Name] extends
  | { isNullable: true }
  | { api: { isNullable: true } | { isDetail: true } }
  ? z.ZodNullable<(typeof valueSchemas)[RunFields[Name]['kind']]>
  : (typeof valueSchemas)[RunFields[Name]['kind']];

type FieldSchemas = {
  [Name in RunFieldWith<{ api: object }> as RunFields[Name]['api']['name']]: SchemaOf<Name>;
};

/** Schemas of the run's fields that are in the API. */
function fieldSchemas(): FieldSchemas {
  const schemas: Record<string, z.ZodType> = {};
  for (const { kind, isNullable, api } of Object.values<RunFieldFacts>(runFields)) {
    if (api === undefined) continue;
    const plain = valueSchemas[kind];
    const schema = isNullable || api.isNullable || api.isDetail ? plain.nullable() : plain;
    const { description } = api;
    schemas[api.name] = description === undefined ? schema : schema.describe(description);
  }
  return schemas as FieldSchemas; // Both follow `runFields`.
}

const { id, workflow_id, name, mode, created_at, ...others } = fieldSchemas();
const { duration, started_at, ended_at, disposition, ...more } = others;

export const runOut = z
  .object({
    id,
    workflow_id,
    name,
    mode,
    created_at,
    is_completed: z.boolean().describe('True from the end on, for good.'),
    transcript_url: z.string().nullable().describe('As `recording_url`, of the transcript.'),
    recording_url: z.string().nullable().describe(RECORDING_URL),
    user_recording_url: z
      .string()
      .nullable()
      .describe("As `recording_url`, of the caller's channel."),
    bot_recording_url: z
      .string()
      .nullable()
      .describe("As `recording_url`, of the agent's channel."),
    transcript_public_url: z.string().nullable().describe(PUBLIC_URL),
    recording_public_url: z.string().nullable().describe(PUBLIC_URL),
    user_recording_public_url: z.string().nullable().describe(PUBLIC_URL),
    bot_recording_public_url: z.string().nullable().describe(PUBLIC_URL),
    public_access_token: z.string().nullable().describe('The token of the public links.'),
    ...more,
    status: z
      .enum([...callStatus.options, 'error'])
      .describe("The furthest status that the provider reported, in providers' words."),
    duration,
    started_at,
    ended_at,
    disposition,
  })
  .meta({ id: 'WorkflowRunResponseSchema', description: 'One call or text chat.' });
export type RunOut = z.infer<typeof runOut>;
export type FieldsOut = z.infer<z.ZodObject<FieldSchemas>>;

export const runPage = z
  .object({
    runs: z.array(runOut),
    ...pageFigures,
    applied_filters: z
      .array(freeObject)
      .nullable()
      .describe('The items of `filters` that had an effect. Null: none.'),
  })
  .describe('A page of runs.');
