// Fields that several node types share: the extraction trio, tool references, and the optional hints for calls
// without a language model. Source: contract §5.3; the hints are ours.

import { z } from 'zod';

/** Limits far above any sensible agent: hints and lists are written by hand. */
const SLOTS_MAX = 20;
const CHOICES_MAX = 50;
const VARIABLES_MAX = 100;
const REFERENCES_MAX = 200;

const NAME_MISSING = 'name is required';

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

export const slotFields = z.object({
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
});

export const slotHint = slotFields.refine(
  (slot) => slot.type !== undefined || (slot.choices?.length ?? 0) > 0,
  { error: 'a slot needs a type or choices' },
);
export type SlotHint = z.infer<typeof slotHint>;

/** Texts and questions of a node without a language model (scripted mode). */
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
  name: z.string().min(1).describe('Key of the value in the gathered context.'),
  type: z.enum(['string', 'number', 'boolean']).describe('What kind of value it is.'),
  prompt: z.string().optional().describe('What to look for in the conversation.'),
});
export type ExtractionVariable = z.infer<typeof extractionVariable>;

export const extractionFields = {
  extraction_enabled: z
    .boolean()
    .default(false)
    .describe('Whether values are taken out of the conversation when this step is left.'),
  extraction_prompt: z
    .string()
    .optional()
    .describe('What holds for all of these values. May name {{variables}}.'),
  extraction_variables: z
    .array(extractionVariable)
    .max(VARIABLES_MAX)
    .optional()
    .describe('The values to take out.'),
};

export const toolFields = {
  tool_uuids: z
    .array(z.string())
    .max(REFERENCES_MAX)
    .optional()
    .describe('Tools that the agent may use in this step.'),
  document_uuids: z
    .array(z.string())
    .max(REFERENCES_MAX)
    .optional()
    .describe('Documents that the agent may look things up in.'),
};

export const agentTransferFields = {
  transfer_to_agent: z
    .string()
    .max(100)
    .optional()
    .describe(
      'The `workflow_uuid` of an agent that takes the call over when this step is entered, after `say`. Where that is not possible, the step goes on.',
    ),
};

export const interruptible = z
  .boolean()
  .default(false)
  .describe('Whether the caller may interrupt the agent.');

export const withGlobalPrompt = z
  .boolean()
  .default(true)
  .describe("Whether the global node's prompt precedes this one.");

/** Longest language tag, or voice name of a service. */
const NAME_CHARACTERS_MAX = 200;

export const serviceFields = {
  language: z
    .string()
    .max(NAME_CHARACTERS_MAX)
    .optional()
    .describe(
      "Language of this step, as in BCP 47: of what the caller says, of the voice, and of the gateway's own lines. Default: that of the agent.",
    ),
  voice: z
    .string()
    .max(NAME_CHARACTERS_MAX)
    .optional()
    .describe('Voice of this step, as its service names it. Default: that of the agent.'),
  model_overrides: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Services of this step: fields of `stt`, `tts` and `llm` over those of the agent, or another provider.',
    ),
};

/** Fields of every node. */
export const commonFields = {
  name: z
    .string({ error: NAME_MISSING })
    .min(1, { error: NAME_MISSING })
    .describe('What the step is called, in the editor and in the logs of calls.'),
};

/** A required prompt. `nodes` is the kind of node in the error text, as in `agent`. */
export function requiredPrompt(nodes: string, description: string): z.ZodString {
  const error = `prompt is required for ${nodes} nodes`;
  return z.string({ error }).regex(/\S/, { error }).describe(description);
}

/** A field of a stored node for a call: an invalid value counts as absent. */
export function lenient<Field extends z.ZodType>(field: Field) {
  return field.catch(() => field.parse(undefined));
}

export const lenientName = z.string().min(1).catch('');
export const lenientText = z.string().trim().min(1).nullish().catch(null);

/** Texts and questions of a step, for any node type. The type's own schema has validated them. */
export const stepFields = z.object({
  ...commonFields,
  prompt: z.string(),
  allow_interrupt: interruptible,
  add_global_prompt: withGlobalPrompt,
  ...extractionFields,
  ...toolFields,
  ...agentTransferFields,
  ...scriptedFields,
  ...serviceFields,
});
