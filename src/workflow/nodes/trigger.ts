// A public address under which programs start calls of this agent. Not part of the conversation.
// Its path is globally unique, which the store knows. Source: contract §2, §5.3, §6.1.

import { z } from 'zod';
import { commonFields } from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

/** The length of a UUID, which is what a minted path is. */
export const TRIGGER_PATH_LENGTH_MAX = 36;
export const TRIGGER_PATH_PATTERN = /^[A-Za-z0-9_-]+$/;

const data = z.object({
  ...commonFields,
  trigger_path: z.string().optional(),
  enabled: z.boolean().default(true),
});

export const trigger = {
  name: 'trigger',
  displayName: 'API Trigger',
  description: 'Starts calls of this agent from a program.',
  category: 'trigger',
  icon: 'Webhook',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, instancesMax: 1 },
  data,
} as const satisfies NodeType;
