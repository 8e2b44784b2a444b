// Schemas of runs and starts of calls. Source: specification §2.5, §4.6 and §4.9, contract decisions 2 and 3, §6 and
// Appendix D.

import { z } from 'zod';
import { callStatus, providerName } from '../../model/provider.ts';
import { freeObject, idIn, idOut, nameIn, storedObject, timeOut } from '../http/values.ts';

/** Longest number or SIP address to dial. */
const ADDRESS_LENGTH_MAX = 255;

export const startCallBody = z.object({
  phone_number: z.string().min(1).max(ADDRESS_LENGTH_MAX),
  initial_context: storedObject.nullish(),
  telephony_configuration_id: idIn.nullish(),
  from_phone_number_id: idIn.nullish(),
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
        'A name for this request. Sent again within a day it gets the first answer and starts no second call.',
    }),
});

/** Modes of a run without a call; the last three are historical. */
const runMode = z.enum([
  ...providerName.options,
  'webrtc',
  'smallwebrtc',
  'textchat',
  'stasis',
  'VOICE',
  'CHAT',
]);

export const createRunBody = z.object({ mode: runMode, name: nameIn(255) });

export const runCreated = z.object({
  id: idOut,
  workflow_id: idOut,
  name: z.string(),
  mode: z.string(),
  created_at: timeOut,
  definition_id: idOut,
  initial_context: freeObject,
});

export const testCall = z.object({
  workflow_id: idIn,
  workflow_run_id: idIn.nullish(),
  phone_number: z.string().max(ADDRESS_LENGTH_MAX).nullish().meta({
    description: "Default: the organization's test number.",
  }),
  telephony_configuration_id: idIn.nullish(),
  from_phone_number_id: idIn.nullish(),
});

const variablesWithoutValue = z.array(z.string()).optional().meta({
  description:
    "Template variables of the agent that have no value in the call's context, and no default.",
});

export const testCallStarted = z.object({
  message: z.string(),
  workflow_run_id: idOut,
  workflow_run_name: z.string(),
  variables_without_value: variablesWithoutValue,
});

export const callStarted = z.object({
  status: z.literal('initiated'),
  workflow_run_id: idOut,
  workflow_run_name: z.string(),
  variables_without_value: variablesWithoutValue,
});

export const runOut = z
  .object({
    id: idOut,
    workflow_id: idOut,
    name: z.string(),
    mode: z.string(),
    created_at: timeOut,
    is_completed: z.boolean(),
    transcript_url: z.string().nullable(),
    recording_url: z.string().nullable(),
    user_recording_url: z.string().nullable(),
    bot_recording_url: z.string().nullable(),
    transcript_public_url: z.string().nullable(),
    recording_public_url: z.string().nullable(),
    user_recording_public_url: z.string().nullable(),
    bot_recording_public_url: z.string().nullable(),
    public_access_token: z.string().nullable(),
    cost_info: freeObject.nullable(),
    usage_info: freeObject.nullable(),
    definition_id: idOut.nullable(),
    initial_context: freeObject.nullable(),
    gathered_context: freeObject.nullable(),
    call_type: z.enum(['inbound', 'outbound']),
    logs: freeObject.nullable(),
    annotations: freeObject.nullable(),
    state: z.enum(['initialized', 'running', 'completed']),
    status: z.enum([...callStatus.options, 'error']),
    duration: z.number().nullable().meta({ description: 'Seconds.' }),
    started_at: timeOut.nullable(),
    ended_at: timeOut.nullable(),
    disposition: z.string().nullable(),
  })
  .meta({ id: 'WorkflowRunResponseSchema' });
export type RunOut = z.infer<typeof runOut>;

export const runPage = z.object({
  runs: z.array(runOut),
  total_count: z.int(),
  page: z.int(),
  limit: z.int(),
  total_pages: z.int(),
  applied_filters: z.array(freeObject).nullable(),
});
