// The node in which every call begins: how the agent opens, and the first step of the conversation.
// Source: contract §5.3, §8.1, §12.1.

import { z } from 'zod';
import {
  commonFields,
  extractionFields,
  requiredPrompt,
  scriptedFields,
  toolFields,
} from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

const DELAY_SECONDS_DEFAULT = 2;

const data = z.object({
  ...commonFields,
  prompt: requiredPrompt('start'),
  greeting_type: z.enum(['text', 'audio']).default('text'),
  greeting: z.string().optional().describe('Spoken as the first thing; a template.'),
  greeting_recording_id: z.string().optional(),
  allow_interrupt: z.boolean().default(false),
  add_global_prompt: z.boolean().default(true),
  delayed_start: z.boolean().default(false),
  delayed_start_duration: z.number().min(0.1).max(10).default(DELAY_SECONDS_DEFAULT),
  ...extractionFields,
  ...toolFields,
  pre_call_fetch_mode: z.enum(['disabled', 'always', 'inbound', 'outbound']).default('disabled'),
  pre_call_fetch_url: z.string().optional(),
  pre_call_fetch_credential_uuid: z.string().optional(),
  pre_call_fetch_enabled: z.boolean().optional().describe('Older form of the mode `always`.'),
  ...scriptedFields,
});

export const startCall = {
  name: 'startCall',
  displayName: 'Start Call',
  description: 'The first step of every call: greeting and opening prompt.',
  category: 'call_node',
  icon: 'Play',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, instancesMin: 1, instancesMax: 1 },
  data,
} as const satisfies NodeType;
