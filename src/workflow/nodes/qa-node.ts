// A review of finished calls by a language model. Not part of the conversation. Read leniently after the call;
// validation checks the full schema. Source: contract §5.3, §8.10, §12.1.

import { z } from 'zod';
import { nameFacts } from './field-facts.ts';
import { commonFields, lenient, lenientName, lenientText } from './fields.ts';
import {
  type FactsFor,
  type NodeData,
  type NodeType,
  type ReviewSettings,
  UNCONSTRAINED,
} from './node-type.ts';

export const REVIEW_PROVIDERS = ['openai', 'azure', 'openrouter', 'anthropic'] as const;
const DURATION_MIN_S_DEFAULT = 15;

/** Default instructions of the reviewer. */
export const REVIEW_PROMPT = `You review one step of a telephone call between a voice agent (assistant) and a caller (user).

The agent's task in this step:
{{node_summary | not given}}

What was said before this step:
{{previous_conversation_summary | nothing}}

Figures of the step and of the call: {{metrics}}

Judge only what the transcript shows. Look for: a question of the caller that was not answered, the same question asked twice,
words of the caller that were misunderstood, something said that the task does not allow, a caller who is annoyed or confused,
and a step that ended before its task was done.

Answer with one JSON object and nothing else:
{"tags": [{"tag": "short_name", "reason": "what in the transcript shows it"}], "overall_sentiment": "positive, neutral or negative",
"call_quality_score": a number from 1 (useless) to 10 (perfect), "summary": "two sentences"}
Leave "tags" empty if nothing is wrong.`;

const data = z.object({
  ...commonFields,
  qa_enabled: z.boolean().default(true).describe('Off: no call is reviewed.'),
  qa_system_prompt: z
    .string()
    .max(20_000)
    .optional()
    .describe(
      'Instructions for the reviewer. May contain {{node_summary}}, {{previous_conversation_summary}}, ' +
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
    .describe('Whether calls answered by a machine are reviewed too.'),
  qa_sample_rate: z
    .number()
    .min(1)
    .max(100)
    .default(100)
    .describe('Percent of the calls that are reviewed, chosen at random.'),
  qa_use_workflow_llm: z
    .boolean()
    .default(true)
    .describe('Whether the gateway’s own language model reviews. Off: the one named below.'),
  qa_provider: z
    .enum(REVIEW_PROVIDERS)
    .optional()
    .describe('Provider of the language model that reviews.'),
  qa_model: z.string().max(200).default('default').describe('Its name; `default` for a usual one.'),
  qa_api_key: z.string().max(4_000).optional().describe('The key to it. Shown masked.'),
  qa_endpoint: z
    .string()
    .max(4_000)
    .optional()
    .describe('Its address, for services where every customer has one.'),
});

const withOwnModel = { qa_use_workflow_llm: [false] };

export const qaNode = {
  name: 'qa',
  displayName: 'QA Analysis',
  description: 'Lets a language model review calls that are over.',
  hint:
    'Joined to nothing. Its findings are in the annotations of the run under `qa_<node id>`, where ' +
    'webhooks may name it.',
  category: 'integration',
  icon: 'ClipboardCheck',
  review,
  withoutEffect,
  constraints: { ...UNCONSTRAINED, incomingMax: 0, outgoingMax: 0 },
  data,
  properties: {
    ...nameFacts('QA Analysis'),
    qa_enabled: { type: 'boolean', displayName: 'Enabled' },
    qa_system_prompt: {
      type: 'string',
      displayName: 'Instructions to the reviewer',
      editor: 'textarea',
      default: REVIEW_PROMPT,
    },
    qa_min_call_duration: { type: 'number', displayName: 'Shortest call, in seconds' },
    qa_voicemail_calls: { type: 'boolean', displayName: 'Review voicemail too' },
    qa_sample_rate: { type: 'number', displayName: 'Percent of calls' },
    qa_use_workflow_llm: { type: 'boolean', displayName: 'Use the gateway’s language model' },
    qa_provider: {
      type: 'options',
      displayName: 'Service',
      showIf: withOwnModel,
      labels: {
        openai: 'OpenAI',
        azure: 'Azure OpenAI',
        openrouter: 'OpenRouter',
        anthropic: 'Anthropic',
      },
    },
    qa_model: { type: 'string', displayName: 'Model', default: 'default', showIf: withOwnModel },
    qa_api_key: {
      type: 'string',
      displayName: 'API key',
      editor: 'password',
      hint: 'Never make one up. A masked key that is sent back keeps the stored one.',
      showIf: withOwnModel,
    },
    qa_endpoint: {
      type: 'url',
      displayName: 'Address of the service',
      placeholder: 'https://reviews.example.com/v1',
      showIf: withOwnModel,
    },
  },
  examples: [
    {
      name: 'Every fifth call',
      description: 'A sample, by the model that the gateway has anyway.',
      data: { name: 'Sample', qa_sample_rate: 20, qa_min_call_duration: 30 },
    },
  ],
} as const satisfies NodeType & { properties: FactsFor<typeof data> };

const read = z.object({
  name: lenientName,
  qa_enabled: lenient(data.shape.qa_enabled),
  qa_use_workflow_llm: lenient(data.shape.qa_use_workflow_llm),
  // Any provider name: a key is never sent to another service than the named one.
  qa_provider: lenientText,
  qa_model: lenientText,
  qa_api_key: lenientText,
  qa_endpoint: lenientText,
  qa_system_prompt: lenientText,
  qa_min_call_duration: lenient(data.shape.qa_min_call_duration),
  qa_voicemail_calls: lenient(data.shape.qa_voicemail_calls),
  qa_sample_rate: lenient(data.shape.qa_sample_rate),
});

function withoutEffect(sent: NodeData) {
  const node = read.parse(sent);
  if (!node.qa_enabled || node.qa_use_workflow_llm || node.qa_api_key) return undefined;
  const message = 'QA Analysis with its own model and without qa_api_key reviews nothing';
  return { field: 'qa_api_key', message };
}

function review(sent: NodeData): ReviewSettings | undefined {
  const node = read.parse(sent);
  if (!node.qa_enabled) return undefined;
  return {
    name: node.name,
    usesGatewayModel: node.qa_use_workflow_llm,
    provider: node.qa_provider ?? 'openai',
    model: node.qa_model ?? 'default',
    apiKey: node.qa_api_key ?? null,
    endpoint: node.qa_endpoint ?? null,
    systemPrompt: node.qa_system_prompt ?? null,
    durationMinS: node.qa_min_call_duration,
    reviewsVoicemail: node.qa_voicemail_calls,
    sampleRate: node.qa_sample_rate,
  };
}
