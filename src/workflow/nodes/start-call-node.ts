// The node in which every call begins: the opening, and the first step of the conversation.
// Source: contract §5.3, §8.1, §12.1.

import { z } from 'zod';
import type { Direction } from '../../model/provider.ts';
import {
  extractionFacts,
  globalPromptFacts,
  interruptFacts,
  nameFacts,
  promptFacts,
  scriptedFacts,
  serviceFacts,
  toolFacts,
} from './field-facts.ts';
import {
  commonFields,
  extractionFields,
  interruptible,
  requiredPrompt,
  scriptedFields,
  serviceFields,
  toolFields,
  withGlobalPrompt,
} from './fields.ts';
import {
  type FactsFor,
  type NodeData,
  type NodeType,
  type Opening,
  type PreCallRequest,
  UNCONSTRAINED,
} from './node-type.ts';

const DELAY_SECONDS_DEFAULT = 2;

const data = z.object({
  ...commonFields,
  greeting_type: z
    .enum(['text', 'audio'])
    .default('text')
    .describe('Whether the greeting is spoken or a recording.'),
  greeting: z
    .string()
    .optional()
    .describe('Spoken as the first thing, word for word. May name {{variables}}.'),
  greeting_recording_id: z.string().optional().describe('The recording that is played first.'),
  prompt: requiredPrompt(
    'start',
    'What the agent shall do first, after the greeting. May name {{variables}}.',
  ),
  allow_interrupt: interruptible,
  add_global_prompt: withGlobalPrompt,
  delayed_start: z
    .boolean()
    .default(false)
    .describe('Whether the agent waits a moment after the call is answered.'),
  delayed_start_duration: z
    .number()
    .min(0.1)
    .max(10)
    .default(DELAY_SECONDS_DEFAULT)
    .describe('How many seconds it waits.'),
  ...extractionFields,
  ...toolFields,
  pre_call_fetch_mode: z
    .enum(['disabled', 'always', 'inbound', 'outbound'])
    .default('disabled')
    .describe('For which calls another system is asked for variables before the agent speaks.'),
  pre_call_fetch_url: z
    .string()
    .optional()
    .describe('Asked by POST with the numbers of the call; its JSON object becomes variables.'),
  pre_call_fetch_credential_uuid: z
    .string()
    .optional()
    .describe('The stored credential that is sent with the request.'),
  pre_call_fetch_enabled: z
    .boolean()
    .optional()
    .describe('Older form of the mode: true is `always`. Becomes the mode when it is stored.'),
  ...scriptedFields,
  ...serviceFields,
});

const whileFetching = { pre_call_fetch_mode: ['always', 'inbound', 'outbound'] };

export const startCallNode = {
  name: 'startCall',
  displayName: 'Start Call',
  description: 'The first step of every call: greeting and opening prompt.',
  hint:
    'Exactly one, and no edge leads into it. With a greeting the agent speaks first, word for word; the ' +
    'prompt then leads this step like any other.',
  category: 'call_node',
  icon: 'Play',
  step: 'first',
  templates: ['prompt', 'greeting', 'say', 'reprompt'],
  opening,
  preCallRequest,
  storedForm,
  constraints: { ...UNCONSTRAINED, incomingMax: 0, instancesMin: 1, instancesMax: 1 },
  data,
  properties: {
    ...nameFacts('Start Call'),
    greeting_type: {
      type: 'options',
      displayName: 'Greeting',
      labels: { text: 'Spoken text', audio: 'Recording' },
    },
    greeting: {
      type: 'string',
      displayName: 'Greeting text',
      editor: 'textarea',
      placeholder: 'Hello {{first_name}}, this is Riverside Dental.',
      showIf: { greeting_type: ['text'] },
    },
    greeting_recording_id: {
      type: 'recording_ref',
      displayName: 'Greeting recording',
      hint: 'The `id` of a recording, as the list of recordings gives it.',
      showIf: { greeting_type: ['audio'] },
    },
    prompt: promptFacts,
    allow_interrupt: interruptFacts,
    add_global_prompt: globalPromptFacts,
    delayed_start: { type: 'boolean', displayName: 'Wait before speaking' },
    delayed_start_duration: {
      type: 'number',
      displayName: 'Seconds to wait',
      showIf: { delayed_start: [true] },
    },
    ...extractionFacts,
    ...toolFacts,
    pre_call_fetch_mode: {
      type: 'options',
      displayName: 'Ask before the call',
      labels: {
        disabled: 'Never',
        always: 'For every call',
        inbound: 'For calls that come in',
        outbound: 'For calls that go out',
      },
    },
    pre_call_fetch_url: {
      type: 'url',
      displayName: 'Address to ask',
      placeholder: 'https://crm.example.com/callers',
      showIf: whileFetching,
    },
    pre_call_fetch_credential_uuid: {
      type: 'credential_ref',
      displayName: 'Credential',
      hint: 'The `uuid` of a credential, as the list of credentials gives it.',
      showIf: whileFetching,
    },
    // Kept for clients of the older form; the editor's form never shows it.
    pre_call_fetch_enabled: {
      type: 'boolean',
      displayName: 'Ask before the call (older form)',
      hint: 'Use `pre_call_fetch_mode`.',
      showIf: { pre_call_fetch_enabled: [true] },
    },
    ...scriptedFacts,
    ...serviceFacts,
  },
  examples: [
    {
      name: 'Greet and ask',
      description: 'The agent speaks first and then finds out what the caller wants.',
      data: {
        name: 'Welcome',
        greeting: 'Hello, this is Riverside Dental. How can I help you?',
        prompt: 'Find out whether the caller wants to book an appointment or to cancel one.',
        allow_interrupt: true,
      },
    },
    {
      name: 'Outbound, with a pause',
      description: 'Waits until the called person has put the phone to the ear.',
      data: {
        name: 'Reminder',
        greeting: 'Hello {{first_name}}, I am calling about your appointment {{appointment}}.',
        prompt: 'Ask whether the appointment suits.',
        delayed_start: true,
        delayed_start_duration: 1.5,
      },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };

function opening(sent: NodeData): Opening {
  const own = data.parse(sent);
  const recordingId = own.greeting_type === 'audio' ? (own.greeting_recording_id ?? '') : '';
  return {
    greeting: own.greeting === undefined || own.greeting.trim() === '' ? undefined : own.greeting,
    clip: recordingId.trim() === '' ? undefined : { by: 'id', value: recordingId },
    delayMs: own.delayed_start ? own.delayed_start_duration * 1_000 : 0,
  };
}

const fetchData = z.object({
  pre_call_fetch_mode: z
    .enum(['disabled', 'always', 'inbound', 'outbound'])
    .nullish()
    .catch('disabled'),
  /** The older form: `always` or `disabled`. The mode has precedence. */
  pre_call_fetch_enabled: z.boolean().nullish().catch(false),
  pre_call_fetch_url: z.string().trim().nullish().catch(null),
  pre_call_fetch_credential_uuid: z.string().trim().nullish().catch(null),
});

function preCallRequest(sent: NodeData, direction: Direction): PreCallRequest | undefined {
  const own = fetchData.parse(sent);
  const mode = own.pre_call_fetch_mode ?? modeOf(own.pre_call_fetch_enabled);
  const { pre_call_fetch_url: url, pre_call_fetch_credential_uuid: credential } = own;
  if (!url || (mode !== 'always' && mode !== direction)) return undefined;
  return { url, credentialUuid: credential || null };
}

/** The older flag of the request is converted to its mode. */
function storedForm(sent: NodeData): NodeData {
  if (!Object.hasOwn(sent, 'pre_call_fetch_enabled')) return sent;
  // The mode may be present too, as a default that a client's editor filled in.
  const { pre_call_fetch_enabled: isEnabled, pre_call_fetch_mode: mode, ...rest } = sent;
  const isMeant = mode !== undefined && mode !== null && mode !== 'disabled';
  return { ...rest, pre_call_fetch_mode: isMeant ? mode : modeOf(isEnabled) };
}

function modeOf(isEnabled: unknown): 'always' | 'disabled' {
  return isEnabled === true ? 'always' : 'disabled';
}
