// What an edge's `data` may hold. Source: contract §5.3; `phrases`, `dtmf` and `slot` are ours, for
// calls without a language model.

import { z } from 'zod';

const PHRASES_MAX = 50;

export const edgeData = z.object({
  label: z.string({ error: 'label is required' }).regex(/\S/, { error: 'label is required' }),
  condition: z
    .string({ error: 'condition is required' })
    .regex(/\S/, { error: 'condition is required' })
    .describe('When to take this edge. `always`: as soon as the node has spoken.'),
  transition_speech: z.string().optional(),
  transition_speech_type: z.enum(['text', 'audio']).default('text'),
  transition_speech_recording_id: z.string().optional(),
  phrases: z
    .array(z.string().min(1).max(120))
    .max(PHRASES_MAX)
    .optional()
    .describe('Scripted mode: what the caller may say to go this way.'),
  dtmf: z
    .string()
    .regex(/^[0-9*#]$/, { error: 'dtmf must be one key of the keypad' })
    .optional()
    .describe('Scripted mode: the key that goes this way.'),
  value: z.string().optional().describe('Scripted mode: what `slot` takes in place of the phrase.'),
  slot: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Scripted mode: with `phrases`, the variable that takes the phrase which was said; alone, a ' +
        "slot of the node whose value, once known, goes this way (`all`: all of the node's slots).",
    ),
});
export type EdgeData = z.infer<typeof edgeData>;
