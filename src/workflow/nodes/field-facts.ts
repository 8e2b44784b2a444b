// The catalogue's facts about the fields of fields.ts. Source: contract §12.1; the texts are ours.

import type {
  agentTransferFields,
  commonFields,
  extractionFields,
  extractionVariable,
  scriptedFields,
  serviceFields,
  slotFields,
  toolFields,
} from './fields.ts';
import type { FactsFor, PropertyFacts } from './node-type.ts';

type FactsOfFields<Fields> = Readonly<Record<keyof Fields & string, PropertyFacts>>;

/** Facts of the name field. `name` is the name of a new node. */
export function nameFacts(name: string) {
  return {
    name: { type: 'string', displayName: 'Name', default: name },
  } as const satisfies FactsOfFields<typeof commonFields>;
}

export const promptFacts = {
  type: 'mention_textarea',
  displayName: 'Prompt',
  editor: 'textarea',
  placeholder: 'Greet {{first_name | the caller}} and ask how you can be of help.',
} as const satisfies PropertyFacts;

export const interruptFacts = {
  type: 'boolean',
  displayName: 'Caller may interrupt',
} as const satisfies PropertyFacts;

export const globalPromptFacts = {
  type: 'boolean',
  displayName: 'Add the global prompt',
} as const satisfies PropertyFacts;

const whileExtracting = { extraction_enabled: [true] };

const variableColumns = {
  name: {
    type: 'string',
    displayName: 'Name',
    placeholder: 'appointment_day',
    hint: 'Lower case with underscores. Later prompts read it as {{gathered_context.<name>}}.',
  },
  type: {
    type: 'options',
    displayName: 'Type',
    default: 'string',
    labels: { string: 'Text', number: 'Number', boolean: 'Yes or no' },
  },
  prompt: { type: 'string', displayName: 'What to look for', editor: 'textarea' },
} as const satisfies FactsFor<typeof extractionVariable>;

export const extractionFacts = {
  extraction_enabled: { type: 'boolean', displayName: 'Take values out of the conversation' },
  extraction_prompt: {
    type: 'string',
    displayName: 'Instructions for all values',
    editor: 'textarea',
    showIf: whileExtracting,
  },
  extraction_variables: {
    type: 'fixed_collection',
    displayName: 'Values',
    showIf: whileExtracting,
    columns: variableColumns,
  },
} as const satisfies FactsOfFields<typeof extractionFields>;

export const toolFacts = {
  tool_uuids: {
    type: 'tool_refs',
    displayName: 'Tools',
    hint: 'The `tool_uuid` of each tool, as the list of tools gives it.',
  },
  document_uuids: {
    type: 'document_refs',
    displayName: 'Documents',
    hint: 'The `document_uuid` of each document, as the list of documents gives it.',
  },
} as const satisfies FactsOfFields<typeof toolFields>;

export const agentTransferFacts = {
  transfer_to_agent: {
    type: 'string',
    displayName: 'Transfer to agent',
    placeholder: 'uuid of an agent',
    hint: 'Only for a step in which another agent of the organization takes the call over.',
  },
} as const satisfies FactsOfFields<typeof agentTransferFields>;

const slotColumns = {
  name: { type: 'string', displayName: 'Name', placeholder: 'weekday' },
  type: {
    type: 'options',
    displayName: 'Grammar',
    hint: 'Leave it out to expect one of `choices`; one of the two must be there.',
    labels: {
      yes_no: 'Yes or no',
      digit: 'One digit',
      digits: 'Digits',
      number: 'Number',
      date: 'Date',
      time: 'Time of day',
      weekday: 'Day of the week',
      money: 'Amount of money',
      spelling: 'Spelled letters',
    },
  },
  choices: { type: 'multi_options', displayName: 'Choices', hint: 'A list of texts.' },
  ask: { type: 'string', displayName: 'Question', editor: 'textarea' },
  digits_min: { type: 'number', displayName: 'Fewest digits', showIf: { type: ['digits'] } },
  digits_max: { type: 'number', displayName: 'Most digits', showIf: { type: ['digits'] } },
} as const satisfies FactsFor<typeof slotFields>;

export const scriptedFacts = {
  say: {
    type: 'string',
    displayName: 'Scripted: say',
    editor: 'textarea',
    hint: 'Needed only by gateways without a language model, which speak this word for word.',
  },
  reprompt: { type: 'string', displayName: 'Scripted: ask again', editor: 'textarea' },
  slots: {
    type: 'fixed_collection',
    displayName: 'Scripted: values to ask for',
    columns: slotColumns,
  },
} as const satisfies FactsOfFields<typeof scriptedFields>;

export const serviceFacts = {
  language: {
    type: 'string',
    displayName: 'Language',
    placeholder: 'de',
    hint: 'Only where the conversation changes its language. The services must be able to speak and understand it.',
  },
  voice: {
    type: 'string',
    displayName: 'Voice',
    hint: "An id or name of the organization's voice service.",
  },
  model_overrides: {
    type: 'json',
    displayName: 'Services',
    hint: 'As `model_overrides` of an agent, such as {"tts": {"provider": "cartesia", "voice": "..."}}. A key of the same account is found by itself.',
  },
} as const satisfies FactsOfFields<typeof serviceFields>;
