// A request to another system once a call is over. Not part of the conversation; after-call.ts reads it
// leniently, this schema is what an author is held to. Source: contract §5.3, §8.10, §12.1.

import { z } from 'zod';
import { commonFields } from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

export const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
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

export const webhook = {
  name: 'webhook',
  displayName: 'Webhook',
  description: 'Tells another system about every call that is over.',
  category: 'integration',
  icon: 'Link2',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0 },
  data,
} as const satisfies NodeType;
