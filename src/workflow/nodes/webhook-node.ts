// A request to another system once a call is over. Not part of the conversation; after-call.ts reads it
// leniently, this schema is what an author is held to. Source: contract §5.3, §8.10, §12.1.

import { z } from 'zod';
import { nameFacts } from './field-facts.ts';
import { commonFields } from './fields.ts';
import { type FactsFor, type NodeType, UNCONSTRAINED } from './node-type.ts';

const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Far above any sensible receiver. */
export const WEBHOOK_HEADERS_MAX = 50;
export const HEADER_NAME_CHARACTERS_MAX = 200;
export const HEADER_VALUE_CHARACTERS_MAX = 4_000;
export const URL_CHARACTERS_MAX = 4_000;

const header = z.object({
  key: z.string().min(1).max(HEADER_NAME_CHARACTERS_MAX).describe('Name of the header.'),
  value: z.string().min(1).max(HEADER_VALUE_CHARACTERS_MAX).describe('What it says.'),
});

const data = z.object({
  ...commonFields,
  enabled: z.boolean().default(true).describe('Off: nothing is sent.'),
  http_method: z.enum(WEBHOOK_METHODS).default('POST').describe('GET and DELETE carry no body.'),
  endpoint_url: z
    .string()
    .max(URL_CHARACTERS_MAX)
    .optional()
    .describe('Where the request goes. Without an address nothing is sent.'),
  credential_uuid: z
    .string()
    .max(64)
    .optional()
    .describe('The stored credential that the request shows.'),
  custom_headers: z
    .array(header)
    .max(WEBHOOK_HEADERS_MAX)
    .optional()
    .describe('More headers. Those that look as if they held a secret are left out.'),
  payload_template: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The JSON body; its texts are templates over the finished run.'),
});

const headerFacts = {
  key: { type: 'string', displayName: 'Header', placeholder: 'X-Source' },
  value: { type: 'string', displayName: 'Value' },
} as const satisfies FactsFor<typeof header>;

const payloadDefault = {
  call_id: '{{workflow_run_id}}',
  first_name: '{{initial_context.first_name}}',
  rsvp: '{{gathered_context.rsvp}}',
  duration: '{{cost_info.call_duration_seconds}}',
  recording_url: '{{recording_url}}',
  user_recording_url: '{{user_recording_url}}',
  bot_recording_url: '{{bot_recording_url}}',
  transcript_url: '{{transcript_url}}',
};

export const webhookNode = {
  name: 'webhook',
  displayName: 'Webhook',
  description: 'Tells another system about every call that is over.',
  hint:
    'Joined to nothing. Templates of the payload may name workflow_run_id, initial_context.<key>, ' +
    'gathered_context.<key>, cost_info.<key>, annotations.<key>, recording_url and transcript_url.',
  category: 'integration',
  icon: 'Link2',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0 },
  data,
  properties: {
    ...nameFacts('Webhook'),
    enabled: { type: 'boolean', displayName: 'Enabled' },
    http_method: {
      type: 'options',
      displayName: 'Method',
      labels: { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' },
    },
    endpoint_url: {
      type: 'url',
      displayName: 'Address',
      placeholder: 'https://crm.example.com/calls',
    },
    credential_uuid: {
      type: 'credential_ref',
      displayName: 'Credential',
      hint: 'The `uuid` of a credential, as the list of credentials gives it.',
    },
    custom_headers: {
      type: 'fixed_collection',
      displayName: 'Headers',
      columns: headerFacts,
    },
    payload_template: { type: 'json', displayName: 'Body', default: payloadDefault },
  },
  examples: [
    {
      name: 'To a customer database',
      description: 'The outcome of the call, by the id under which the other system knows it.',
      data: {
        name: 'Tell the CRM',
        http_method: 'POST',
        endpoint_url: 'https://crm.example.com/calls',
        custom_headers: [{ key: 'X-Source', value: 'voice-agent' }],
        payload_template: {
          customer: '{{initial_context.customer_id}}',
          coming: '{{gathered_context.coming}}',
          call: '{{workflow_run_id}}',
        },
      },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };
