// A review of finished calls by a language model. Not part of the conversation; after-call.ts reads it
// leniently, this schema is what an author is held to. Source: contract §5.3, §8.10, §12.1.

import { z } from 'zod';
import { commonFields } from './fields.ts';
import { type NodeType, UNCONSTRAINED } from './node-type.ts';

export const REVIEW_PROVIDERS = ['openai', 'azure', 'openrouter', 'anthropic'] as const;
export const DURATION_MIN_S_DEFAULT = 15;

const data = z.object({
  ...commonFields,
  qa_enabled: z.boolean().default(true).describe('Off: no call is reviewed.'),
  qa_system_prompt: z
    .string()
    .max(20_000)
    .optional()
    .describe(
      'What the reviewer is told. May name {{node_summary}}, {{previous_conversation_summary}}, ' +
        '{{transcript}} and {{metrics}}. Left out: the text that is shown here.',
    ),
  qa_min_call_duration: z
    .number()
    .min(0)
    .default(DURATION_MIN_S_DEFAULT)
    .describe('Seconds. Shorter calls are not reviewed.'),
  qa_voicemail_calls: z
    .boolean()
    .default(false)
    .describe('Whether calls that a machine took are reviewed too.'),
  qa_sample_rate: z
    .number()
    .min(1)
    .max(100)
    .default(100)
    .describe('Percent of the calls that are reviewed, chosen by chance.'),
  qa_use_workflow_llm: z
    .boolean()
    .default(true)
    .describe('Whether the gateway’s own language model reviews. Off: the one named below.'),
  qa_provider: z.enum(REVIEW_PROVIDERS).optional().describe('Whose language model reviews.'),
  qa_model: z.string().max(200).default('default').describe('Its name; `default` for a usual one.'),
  qa_api_key: z.string().max(4_000).optional().describe('The key to it. Shown masked.'),
  qa_endpoint: z
    .string()
    .max(4_000)
    .optional()
    .describe('Its address, for services where every customer has one.'),
});

export const qa = {
  name: 'qa',
  displayName: 'QA Analysis',
  description: 'Lets a language model review calls that are over.',
  category: 'integration',
  icon: 'ClipboardCheck',
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0 },
  data,
} as const satisfies NodeType;
