// The Python SDK's models of workflows, their versions, folders and runs, and of what it sends for them.
// Source: see values.ts.

import { z } from 'zod';
import { anyObject, integer, moment, text } from './values.ts';

export const workflowResponse = z.object({
  id: integer,
  name: text,
  status: text,
  created_at: moment,
  workflow_definition: anyObject,
  current_definition_id: integer.nullable(),
  template_context_variables: anyObject.nullish(),
  call_disposition_codes: z.object({ disposition_codes: z.array(text).nullish() }).nullish(),
  total_runs: integer.nullish(),
  workflow_configurations: anyObject.nullish(),
  version_number: integer.nullish(),
  version_status: text.nullish(),
  workflow_uuid: text.nullish(),
});

export const workflowListResponse = z.object({
  id: integer,
  name: text,
  status: text,
  created_at: moment,
  total_runs: integer,
  folder_id: integer.nullish(),
  workflow_uuid: text.nullish(),
});

export const validateWorkflowResponse = z.object({
  is_valid: z.boolean(),
  errors: z.array(
    z.object({
      kind: z.enum(['node', 'edge', 'workflow']),
      id: text.nullable(),
      field: text.nullable(),
      message: text,
    }),
  ),
});

export const versionSummaryResponse = z.object({
  id: integer,
  version_number: integer.nullable(),
  status: text,
  published_at: moment.nullable(),
});

export const folderResponse = z.object({ id: integer, name: text, created_at: moment });

export const runResponse = z.object({
  id: integer,
  workflow_id: integer,
  workflow_name: text.nullish(),
  version_number: integer.nullish(),
  name: text,
  mode: text,
  created_at: moment,
  is_completed: z.boolean(),
  transcript_url: text.nullable(),
  recording_url: text.nullable(),
  user_recording_url: text.nullish(),
  bot_recording_url: text.nullish(),
  transcript_public_url: text.nullish(),
  recording_public_url: text.nullish(),
  user_recording_public_url: text.nullish(),
  bot_recording_public_url: text.nullish(),
  public_access_token: text.nullish(),
  cost_info: anyObject.nullable(),
  usage_info: anyObject.nullish(),
  definition_id: integer.nullable(),
  initial_context: anyObject.nullish(),
  gathered_context: anyObject.nullish(),
  call_type: z.enum(['inbound', 'outbound']),
  logs: anyObject.nullish(),
  annotations: anyObject.nullish(),
});

export const runsResponse = z.object({
  runs: z.array(runResponse),
  total_count: integer,
  page: integer,
  limit: integer,
  total_pages: integer,
  applied_filters: z.array(anyObject).nullish(),
});

const fieldName = text.regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);

/** Settings that are left out are sent with the SDK's own defaults. */
export const workflowConfigurations = z.looseObject({
  ambient_noise_configuration: z
    .looseObject({ enabled: z.boolean().default(false), volume: z.number().default(0.3) })
    .nullish(),
  max_call_duration: z.int().gt(0).max(1_200).default(300),
  max_user_idle_timeout: z.number().default(10),
  smart_turn_stop_secs: z.number().default(2),
  turn_start_strategy: z.enum(['default', 'min_words']).default('min_words'),
  turn_start_min_words: z.int().min(1).default(2),
  turn_stop_strategy: z.enum(['transcription', 'turn_analyzer']).default('transcription'),
  dictionary: text.default(''),
  context_compaction_enabled: z.boolean().default(false),
  tts_cache_enabled: z.boolean().default(false),
  call_dispositions: z
    .array(
      z.object({
        code: text
          .min(1)
          .max(64)
          .regex(/^[A-Za-z][A-Za-z0-9_-]*$/),
        description: text.min(1).max(1_000),
      }),
    )
    .max(50)
    .nullish(),
  text_chat_inactivity_timeout_seconds: z.int().min(60).max(10_500).default(1_800),
  external_pbx_field_mappings: z
    .array(z.object({ context_path: text.min(1).max(255), destination_field: fieldName }))
    .max(100)
    .nullish(),
  external_pbx_lead_headers: z.array(fieldName).max(50).nullish(),
});

export const createWorkflowRequest = z.object({ name: text, workflow_definition: anyObject });

export const updateWorkflowRequest = z.object({
  name: text.nullish(),
  workflow_definition: anyObject.nullish(),
  template_context_variables: anyObject.nullish(),
  workflow_configurations: workflowConfigurations.nullish(),
});

export const initiateCallRequest = z.object({
  workflow_id: z.int(),
  workflow_run_id: z.int().nullish(),
  phone_number: text.nullish(),
  telephony_configuration_id: z.int().nullish(),
  from_phone_number_id: z.int().nullish(),
});

export const createFolderRequest = z.object({ name: text.min(1).max(100) });
