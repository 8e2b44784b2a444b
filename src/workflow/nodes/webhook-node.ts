// A request to another system after a call. Not part of the conversation. Read leniently after the call; validation
// checks the full schema. Source: contract §5.3, §8.10, §12.1.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import { nameFacts } from './field-facts.ts';
import { commonFields, lenient, lenientName, lenientText } from './fields.ts';
import {
  type FactsFor,
  type NodeData,
  type NodeType,
  UNCONSTRAINED,
  type WebhookSettings,
} from './node-type.ts';

const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Headers of a request, far above the needs of any receiver. */
const HEADERS_MAX = 50;
const HEADER_NAME_CHARACTERS_MAX = 200;
const HEADER_VALUE_CHARACTERS_MAX = 4_000;
const URL_CHARACTERS_MAX = 4_000;

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
    .describe('The stored credential that is sent with the request.'),
  custom_headers: z
    .array(header)
    .max(HEADERS_MAX)
    .optional()
    .describe('More headers. Those that look as if they held a secret are left out.'),
  payload_template: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'The JSON body; its texts are templates over the finished run. Default: ids and names of run and workflow, ' +
        'numbers, times, disposition and gathered_context.',
    ),
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
  description: 'Sends a request to another system after every call.',
  hint:
    'Joined to nothing. Templates of the payload may name workflow_run_id, initial_context.<key>, ' +
    'gathered_context.<key>, cost_info.<key>, annotations.<key>, recording_url and transcript_url.',
  category: 'integration',
  icon: 'Link2',
  webhook,
  withoutEffect,
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

const read = z.object({
  name: lenientName,
  enabled: lenient(data.shape.enabled),
  http_method: lenient(data.shape.http_method),
  endpoint_url: z.string().trim().min(1).max(URL_CHARACTERS_MAX).nullish().catch(null),
  credential_uuid: lenientText,
  custom_headers: z.array(z.unknown()).nullish().catch([]),
  payload_template: lenient(data.shape.payload_template),
});

function withoutEffect(sent: NodeData) {
  const node = read.parse(sent);
  if (!node.enabled || node.endpoint_url) return undefined;
  return { field: 'endpoint_url', message: 'Webhook without endpoint_url sends nothing' };
}

function webhook(sent: NodeData): WebhookSettings | undefined {
  const node = read.parse(sent);
  if (!node.enabled || !node.endpoint_url) return undefined;
  return {
    name: node.name,
    method: node.http_method,
    url: node.endpoint_url,
    credentialUuid: node.credential_uuid ?? null,
    headers: headersOf(node.custom_headers ?? []),
    payloadTemplate: node.payload_template ?? {},
  };
}

/** Characters of a header's name, a token of RFC 9110. Values have visible characters, spaces and tabs. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Names of headers that hold secrets: as a word of the name, or anywhere in it. */
const SECRET_NAME =
  /(^|[-_.])(auth|authorization|cookies?|credentials?|jwt|pass|passwd|password|secrets?|session|sid|signature|tokens?)($|[-_.])|set-?cookie|(api|access|private|auth|secret)[-_.]?key|(access|auth|bearer|api|secret|session)[-_.]?token|password|secret/i;
/** Headers that the connection or the gateway sets. */
const RESERVED_NAME =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*|x-(patchbay|dograh)-.*)$/i;

function headersOf(stored: readonly unknown[]): [string, string][] {
  return stored.slice(0, HEADERS_MAX).flatMap((each): [string, string][] => {
    if (!isObject(each)) return [];
    const { key, value } = each;
    if (typeof key !== 'string' || typeof value !== 'string') return [];
    return isHeader(key.trim(), value) ? [[key.trim(), value]] : [];
  });
}

function isHeader(key: string, value: string): boolean {
  const fits =
    key.length <= HEADER_NAME_CHARACTERS_MAX && value.length <= HEADER_VALUE_CHARACTERS_MAX;
  if (!fits || !HEADER_NAME.test(key) || !HEADER_VALUE.test(value)) return false;
  return !SECRET_NAME.test(key) && !RESERVED_NAME.test(key);
}
