// The Python SDK's models of tools, credentials, recordings and documents. Source: see values.ts.

import { z } from 'zod';
import { anyObject, integer, moment, text } from './values.ts';

export const toolResponse = z.object({
  id: integer,
  tool_uuid: text,
  name: text,
  description: text.nullable(),
  category: text,
  icon: text.nullable(),
  icon_color: text.nullable(),
  status: text,
  definition: anyObject,
  created_at: moment,
  updated_at: moment.nullable(),
  created_by: z.object({ id: integer, provider_id: text }).nullish(),
});

export const credentialResponse = z.object({
  uuid: text,
  name: text,
  description: text.nullable(),
  credential_type: text,
  created_at: moment,
  updated_at: moment.nullable(),
});

export const recordingListResponse = z.object({
  recordings: z.array(
    z.object({
      id: integer,
      recording_id: text,
      workflow_id: integer.nullish(),
      organization_id: integer,
      tts_provider: text.nullish(),
      tts_model: text.nullish(),
      tts_voice_id: text.nullish(),
      transcript: text,
      storage_key: text,
      storage_backend: text,
      metadata: anyObject,
      created_by: integer,
      created_at: moment,
      is_active: z.boolean(),
    }),
  ),
  total: integer,
});

export const documentListResponse = z.object({
  documents: z.array(
    z.object({
      id: integer,
      document_uuid: text,
      filename: text,
      file_size_bytes: integer,
      file_hash: text,
      mime_type: text,
      processing_status: text,
      processing_error: text.nullish(),
      total_chunks: integer,
      retrieval_mode: text.nullish(),
      custom_metadata: anyObject,
      docling_metadata: anyObject,
      source_url: text.nullish(),
      created_at: moment,
      updated_at: moment,
      organization_id: integer,
      created_by: integer,
      is_active: z.boolean(),
      has_live_content: z.boolean().nullish(),
    }),
  ),
  total: integer,
  limit: integer,
  offset: integer,
});

const valueType = z.enum(['string', 'number', 'boolean', 'object', 'array']);
const parameters = z
  .array(
    z.object({
      name: text,
      type: valueType,
      description: text,
      required: z.boolean().default(true),
    }),
  )
  .nullish();
const presetParameters = z
  .array(
    z.object({
      name: text,
      type: valueType,
      value_template: text,
      required: z.boolean().default(true),
    }),
  )
  .nullish();
const headers = z.record(z.string(), text).nullish();
const messageType = z.enum(['none', 'custom', 'audio']).default('none');
const schemaVersion = z.int().default(1);

const httpApi = z.object({
  schema_version: schemaVersion,
  type: z.literal('http_api'),
  config: z.object({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    url: text,
    headers,
    credential_uuid: text.nullish(),
    parameters,
    preset_parameters: presetParameters,
    timeout_ms: z.int().min(1).default(5_000),
    customMessage: text.nullish(),
    customMessageType: z.enum(['text', 'audio']).nullish(),
    customMessageRecordingId: text.nullish(),
    body_template: anyObject.nullish(),
    body_format: z.enum(['json', 'form']).default('json'),
  }),
});

const endCall = z.object({
  schema_version: schemaVersion,
  type: z.literal('end_call'),
  config: z.object({
    messageType,
    customMessage: text.nullish(),
    audioRecordingId: text.nullish(),
    endCallReason: z.boolean().default(false),
    endCallReasonDescription: text.nullish(),
  }),
});

const routes = z
  .array(z.object({ context_value: text.min(1).max(255), destination: text.min(1).max(255) }))
  .min(1)
  .max(100);

const transferCall = z.object({
  schema_version: schemaVersion,
  type: z.literal('transfer_call'),
  config: z.object({
    introduction_enabled: z.boolean().default(false),
    introduction_prompt: text.max(2_000).default('Say who is calling.'),
    destination_source: z.enum(['static', 'dynamic', 'context_mapping']).default('static'),
    destination: text.default(''),
    messageType,
    customMessage: text.nullish(),
    audioRecordingId: text.nullish(),
    timeout: z.int().min(5).max(120).default(30),
    call_disposition: text.max(64).nullish(),
    parameters,
    resolver: z
      .object({
        type: z.literal('http').default('http'),
        url: text,
        headers,
        credential_uuid: text.nullish(),
        timeout_ms: z.int().min(500).max(5_000).default(3_000),
        wait_message: text.nullish(),
        parameters,
        preset_parameters: presetParameters,
      })
      .nullish(),
    context_mapping: z
      .object({
        rules: z.array(z.object({ context_path: text.min(1).max(255), routes })).nullish(),
        /** With `routes` the older form of one rule. */
        context_path: text.nullish(),
        routes: routes.nullish(),
        fallback_destination: text.max(255).nullish(),
      })
      .nullish(),
  }),
});

const transferAgent = z.object({
  schema_version: schemaVersion,
  type: z.literal('transfer_agent'),
  config: z.object({
    workflow_id: z.int(),
    message: text.max(500).default('One moment.'),
    play_greeting: z.boolean().default(true),
  }),
});

const calculator = z.object({ schema_version: schemaVersion, type: z.literal('calculator') });

const mcp = z.object({
  schema_version: schemaVersion,
  type: z.literal('mcp'),
  config: z.object({
    transport: z.literal('streamable_http').default('streamable_http'),
    url: text,
    credential_uuid: text.nullish(),
    tools_filter: z.array(text).nullish(),
    timeout_secs: z.int().min(0).default(30),
    sse_read_timeout_secs: z.int().min(0).default(300),
    discovered_tools: z.array(anyObject).nullish(),
  }),
});

const definition = z.discriminatedUnion('type', [
  httpApi,
  endCall,
  transferCall,
  transferAgent,
  calculator,
  mcp,
]);

export const createToolRequest = z.object({
  name: text.max(255),
  description: text.nullish(),
  category: z
    .enum([
      'http_api',
      'end_call',
      'transfer_call',
      'transfer_agent',
      'calculator',
      'native',
      'integration',
      'mcp',
    ])
    .default('http_api'),
  icon: text.max(50).default('globe'),
  icon_color: text.max(7).default('#3B82F6'),
  definition,
});

export const updateToolRequest = z.object({
  name: text.max(255).nullish(),
  description: text.nullish(),
  icon: text.max(50).nullish(),
  icon_color: text.max(7).nullish(),
  definition: definition.nullish(),
  status: text.nullish(),
});
