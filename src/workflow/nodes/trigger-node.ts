// A public URL with which programs start calls of this agent. Not part of the conversation. The store keeps its path
// globally unique. Source: contract §2, §5.3, §6.1.

import { z } from 'zod';
import { nameFacts } from './field-facts.ts';
import { commonFields } from './fields.ts';
import { type FactsFor, type NodeType, UNCONSTRAINED } from './node-type.ts';

/** The length of a UUID: a generated path is one. */
export const TRIGGER_PATH_LENGTH_MAX = 36;
export const TRIGGER_PATH_PATTERN = /^[A-Za-z0-9_-]+$/;

const data = z.object({
  ...commonFields,
  enabled: z.boolean().default(true).describe('Off: the address answers as if it did not exist.'),
  trigger_path: z
    .string()
    .optional()
    .describe(
      'Last piece of the address. Left out, the gateway makes one; no two agents share one.',
    ),
});

export const triggerNode = {
  name: 'trigger',
  displayName: 'API Trigger',
  description: 'Starts calls of this agent from a program.',
  hint:
    'POST /api/v1/public/agent/<trigger_path> with an `X-API-Key` header and {"phone_number", ' +
    '"initial_context"?} calls that number with the published agent; /api/v1/public/agent/test/' +
    '<trigger_path> with the draft.',
  category: 'trigger',
  icon: 'Webhook',
  hasTriggerPath: true,
  constraints: { ...UNCONSTRAINED, incomingMax: 0, instancesMax: 1 },
  data,
  properties: {
    ...nameFacts('API Trigger'),
    enabled: { type: 'boolean', displayName: 'Enabled' },
    trigger_path: {
      type: 'string',
      displayName: 'Path',
      placeholder: 'appointment-reminders',
      lengthMax: TRIGGER_PATH_LENGTH_MAX,
      pattern: TRIGGER_PATH_PATTERN.source,
    },
  },
  examples: [
    { name: 'An address of its own', description: null, data: { name: 'From the web shop' } },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };
