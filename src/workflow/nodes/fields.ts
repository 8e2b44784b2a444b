// Fields that several node types share: the extraction trio, tool references, and the optional hints
// with which a node works without a language model. Source: contract §5.3; the hints are ours.

import { z } from 'zod';

/** Hints and lists are written by hand: these bounds are far above any sensible agent. */
const SLOTS_MAX = 20;
const CHOICES_MAX = 50;
const VARIABLES_MAX = 100;

export const slotType = z.enum([
  'yes_no',
  'digit',
  'digits',
  'number',
  'date',
  'time',
  'weekday',
  'money',
  'spelling',
]);

export const slotHint = z
  .object({
    name: z.string().min(1).describe('Name of the variable that is filled.'),
    type: slotType
      .optional()
      .describe('Grammar of the value. Without a type, one of `choices` is expected.'),
    choices: z
      .array(z.string().min(1).max(80))
      .max(CHOICES_MAX)
      .optional()
      .describe('The values that may be said, word for word; with a type, the only ones of it.'),
    ask: z.string().optional().describe('Question for this value, if `say` does not ask for it.'),
    digits_min: z.int().min(1).max(32).optional().describe('Fewest digits of a `digits` value.'),
    digits_max: z.int().min(1).max(32).optional().describe('Most digits of a `digits` value.'),
  })
  .refine((slot) => slot.type !== undefined || (slot.choices?.length ?? 0) > 0, {
    error: 'a slot needs a type or choices',
  });
export type SlotHint = z.infer<typeof slotHint>;

/** Scripted mode: what a node says and asks for when no language model is there. */
export const scriptedFields = {
  say: z
    .string()
    .optional()
    .describe('Scripted mode: what the agent says here, as a literal template.'),
  reprompt: z
    .string()
    .optional()
    .describe('Scripted mode: what is said when the caller was not understood.'),
  slots: z
    .array(slotHint)
    .max(SLOTS_MAX)
    .optional()
    .describe('Scripted mode: values to ask for, in this order.'),
};

export const extractionVariable = z.object({
  name: z.string().min(1),
  type: z.enum(['string', 'number', 'boolean']),
  prompt: z.string().optional(),
});
export type ExtractionVariable = z.infer<typeof extractionVariable>;

export const extractionFields = {
  extraction_enabled: z.boolean().default(false),
  extraction_prompt: z.string().optional(),
  extraction_variables: z.array(extractionVariable).max(VARIABLES_MAX).optional(),
};

export const toolFields = {
  tool_uuids: z.array(z.string()).optional(),
  document_uuids: z.array(z.string()).optional(),
  mcp_tool_filters: z.record(z.string(), z.array(z.string())).optional(),
};

/** Every node has a name; the two flags come from an older form of the graph and are accepted. */
export const commonFields = {
  name: z.string({ error: 'name is required' }).min(1, { error: 'name is required' }),
  is_start: z.boolean().optional(),
  is_end: z.boolean().optional(),
};

/** A prompt that must say something. `nodes` is the word for the kind of node, as in `agent`. */
export function requiredPrompt(nodes: string): z.ZodString {
  const error = `prompt is required for ${nodes} nodes`;
  return z.string({ error }).regex(/\S/, { error });
}
