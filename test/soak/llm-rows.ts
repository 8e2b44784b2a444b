// The language models of a soak: what a fake of each protocol says, well and badly, and what its client is given.

import { llmServices } from '../../src/model/speech-services/services.ts';
import { openModel } from '../../src/speech/vendors/llm-registry.ts';
import type { Step } from '../fakes/scripted-server.ts';
import {
  event as anthropicEvent,
  refused as anthropicRefused,
  says as anthropicSays,
  startAnthropicServer,
  started,
  stopped,
  thought,
  toolUse,
} from '../fakes/services/anthropic-server.ts';
import {
  chunk as geminiChunk,
  event as geminiEvent,
  refused as geminiRefused,
  says as geminiSays,
  startGeminiServer,
} from '../fakes/services/gemini-server.ts';
import {
  chunk,
  DONE,
  data,
  failure,
  says,
  startOpenAiServer,
} from '../fakes/services/openai-server.ts';
import { LLM_FAULTS, type LlmRow } from './llm-soak.ts';
import { KEY } from './soak-run.ts';

const FIELDS = [
  ...['model', 'messages', 'stream', 'stream_options', 'tools', 'temperature', 'max_tokens'],
  ...['max_completion_tokens', 'reasoning_effort', 'tool_choice', 'parallel_tool_calls', 'store'],
];
const wordsIn = (text: string): number => (text.match(/\S+/g) ?? []).length;
const whole = (steps: Step[]) => ({ reply: () => ({ steps }) });

const openAi: LlmRow = {
  name: 'openai',
  start: (key) => startOpenAiServer({ key: ['authorization', `Bearer ${key}`], fields: FIELDS }),
  create({ baseUrl }, means) {
    const row = { provider: 'openai', api_key: KEY, base_url: baseUrl, model: 'gpt-5.2' };
    return openModel(llmServices.openai.parse(row), true, means);
  },
  says,
  tokens: wordsIn,
  refusal: (status) => failure(status, { message: 'refused', code: 'refused' }),
  faults: {
    ...LLM_FAULTS,
    'error after 200': whole([data({ error: { message: 'overloaded', code: 503 } })]),
    'empty STOP': whole([chunk({}, 'stop'), DONE]),
    'error as the reason of the end': whole([chunk({}, 'error'), DONE]),
    'conversation too long': {
      reply: () => failure(400, { message: 'refused', code: 'context_length_exceeded' }),
    },
    'usage in every chunk': {
      isWhole: true,
      reply: (good) => ({
        steps: good.steps.map((step) => withUsage(step)),
      }),
    },
    'a tool call that cannot be read': whole([
      chunk({
        tool_calls: [{ index: 0, id: 'x', function: { name: 'end_call', arguments: '{"' } }],
      }),
      chunk({}, 'tool_calls'),
      DONE,
    ]),
  },
};

/** The counts so far, as some servers send them. */
function withUsage(step: Step): Step {
  if (typeof step !== 'string' || !step.startsWith('data: {')) return step;
  const message = JSON.parse(step.slice(6));
  const usage = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
  return data({ usage, ...message });
}

const anthropic: LlmRow = {
  name: 'anthropic',
  start: startAnthropicServer,
  create({ baseUrl }, means) {
    const row = { provider: 'anthropic', api_key: KEY, base_url: baseUrl };
    return openModel(
      llmServices.anthropic.parse({ ...row, model: 'claude-haiku-4-5' }),
      true,
      means,
    );
  },
  says: (text) => {
    const { steps } = anthropicSays(text);
    const [first = '', ...rest] = steps;
    return { steps: [first, ...thought(9, 'Hm'), ...rest] };
  },
  tokens: () => 9,
  refusal: (status) => anthropicRefused(status, 'api_error', 'refused'),
  faults: {
    ...LLM_FAULTS,
    'error after 200': whole([
      started(),
      anthropicEvent({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ]),
    'empty STOP': whole([started(), ...stopped('end_turn')]),
    'conversation too long': {
      reply: () => anthropicRefused(400, 'invalid_request_error', 'prompt is too long: 9 tokens'),
    },
    'thoughts alone': whole([started(), ...thought(0, 'Hm'), ...stopped('max_tokens')]),
    'a tool call that cannot be read': whole([
      ...[
        started(),
        ...toolUse(0, { id: 'toolu_1', name: 'end_call' }, '{"'),
        ...stopped('tool_use'),
      ],
    ]),
  },
};

const gemini: LlmRow = {
  name: 'gemini',
  start: startGeminiServer,
  create(server, means) {
    const row = { provider: 'google', api_key: KEY, base_url: `${server.origin}/v1beta` };
    return openModel(llmServices.google.parse({ ...row, model: 'gemini-2.5-flash' }), true, means);
  },
  says: geminiSays,
  tokens: () => 8,
  refusal: (status) => geminiRefused(status, 'UNAVAILABLE', 'refused'),
  faults: {
    ...LLM_FAULTS,
    'error after 200': whole([geminiEvent({ error: { code: 503, status: 'UNAVAILABLE' } })]),
    'empty STOP': whole([geminiChunk([], 'STOP')]),
    'conversation too long': {
      reply: () => geminiRefused(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the'),
    },
    'thoughts alone': whole([geminiChunk([{ text: 'Hm', thought: true }], 'STOP')]),
    'a tool call that cannot be read': whole([geminiChunk([], 'MALFORMED_FUNCTION_CALL')]),
  },
};

export const LLM_ROWS: readonly LlmRow[] = [openAi, anthropic, gemini];
