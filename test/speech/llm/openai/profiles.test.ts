// Each service by its own strict server: what it refuses is written here from its documentation, apart from the rows.

import { afterEach, describe, expect, it } from 'vitest';
import type { LlmServiceSettings } from '../../../../src/model/speech-services/services.ts';
import type { LanguageModel } from '../../../../src/speech/llm/llm.ts';
import type { profiles } from '../../../../src/speech/llm/openai/profiles.ts';
import { openLanguageModel } from '../../../../src/speech/vendors/llm-registry.ts';
import { isObject } from '../../../../src/std/json.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import type { ScriptedServer } from '../../../fakes/scripted-server.ts';
import {
  chunk,
  DONE,
  data,
  failure,
  type StrictService,
  says,
  startOpenAiServer,
  usage,
} from '../../../fakes/services/openai-server.ts';
import { afterTools, ask, foreignCalls } from '../model-history.ts';

const KEY = 'key-1234';
const BASIC = [
  'model',
  'messages',
  'stream',
  'tools',
  'temperature',
  'max_tokens',
  'response_format',
];
const BEARER = ['authorization', `Bearer ${KEY}`] as const;
const NEW = [
  ...['max_completion_tokens', 'reasoning_effort', 'verbosity', 'stream_options'],
  'prompt_cache_key',
];

/** OpenAI's reasoning models refuse a temperature and the old name of the limit. */
function openAiRules(body: Record<string, unknown>): string | undefined {
  if (!/^gpt-5/.test(String(body['model']))) return undefined;
  if ('temperature' in body) return "Unsupported value: 'temperature'";
  return 'max_tokens' in body ? "Unsupported parameter: 'max_tokens'" : undefined;
}

function mistralRules(body: Record<string, unknown>): string | undefined {
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isObject) : [];
  const ids = messages.map((each) => each['tool_call_id']).filter((id) => id !== undefined);
  if (ids.some((id) => !/^[A-Za-z0-9]{9}$/.test(String(id))))
    return 'Tool call id has to be 9 letters';
  const roles = messages.map((each) => each['role']);
  if (/tool,user/.test(roles.join())) return "Unexpected role 'user' after role 'tool'";
  return roles.at(-1) === 'assistant' ? 'Expected last role User or Tool' : undefined;
}

type Provider = keyof typeof profiles;
/** The strict service, the settings beside address and key, and the way of the address if it is its own. */
const SERVICES: Record<Provider, [StrictService, Record<string, unknown>]> = {
  openai: [
    { key: BEARER, fields: [...BASIC, ...NEW], refuses: openAiRules },
    { model: 'gpt-5.4-mini' },
  ],
  azure: [
    {
      key: ['api-key', KEY],
      path: '/openai/v1/chat/completions',
      fields: [...BASIC, ...NEW],
      refuses: openAiRules,
    },
    { model: 'gpt-5.4-mini' },
  ],
  groq: [
    { key: BEARER, fields: [...BASIC, 'stream_options', 'reasoning_effort'] },
    { model: 'openai/gpt-oss-120b' },
  ],
  openrouter: [
    { key: BEARER, fields: [...BASIC, 'usage', 'provider', 'reasoning'] },
    { model: 'openai/gpt-5.4-mini' },
  ],
  together: [{ key: BEARER, fields: [...BASIC, 'stream_options'] }, { model: 'm' }],
  fireworks: [{ key: BEARER, fields: BASIC }, { model: 'm' }],
  deepseek: [
    { key: BEARER, fields: [...BASIC, 'stream_options', 'thinking'] },
    { model: 'deepseek-flash' },
  ],
  cerebras: [
    {
      key: BEARER,
      fields: BASIC.map((field) => (field === 'max_tokens' ? 'max_completion_tokens' : field)),
    },
    { model: 'qwen-3.8-27b' },
  ],
  mistral: [
    { key: BEARER, fields: [...BASIC, 'stream_options'], refuses: mistralRules },
    { model: 'm' },
  ],
  xai: [
    {
      key: BEARER,
      fields: [...BASIC, 'stream_options', 'reasoning_effort'],
      refuses: (body) => (body['reasoning_effort'] === 'none' ? undefined : 'reasons'),
    },
    { model: 'grok-4.3' },
  ],
  atlascloud: [{ key: BEARER, fields: [...BASIC, 'stream_options'] }, { model: 'm' }],
  huggingface: [
    { key: BEARER, fields: [...BASIC, 'stream_options'] },
    { model: 'm', bill_to: 'acme' },
  ],
  minimax: [
    {
      key: BEARER,
      fields: [...BASIC, 'stream_options'],
      refuses: ({ temperature }) =>
        Number(temperature) > 0 ? undefined : 'temperature must be above 0',
    },
    { model: 'm', temperature: 1 },
  ],
  sarvam: [
    {
      key: ['api-subscription-key', KEY],
      fields: [...BASIC, 'stream_options', 'reasoning_effort'],
      refuses: (body) => (body['reasoning_effort'] === null ? undefined : 'reasons'),
    },
    { model: 'm', temperature: 0.5 },
  ],
  speaches: [{ key: BEARER, fields: [...BASIC, 'stream_options'] }, { model: 'm' }],
  ollama: [
    { key: BEARER, fields: [...BASIC, 'stream_options', 'reasoning_effort'] },
    { model: 'm' },
  ],
  vllm: [
    { key: BEARER, fields: [...BASIC, 'stream_options', 'chat_template_kwargs'] },
    { model: 'm' },
  ],
  llama_cpp: [
    { key: BEARER, fields: [...BASIC, 'stream_options', 'chat_template_kwargs', 'cache_prompt'] },
    { model: 'm' },
  ],
  openai_compatible: [{ key: BEARER, fields: [...BASIC, 'stream_options'] }, { model: 'm' }],
};

const never = new AbortController().signal;
const silent = { onText: () => undefined };
const closing: (() => Promise<void>)[] = [];

async function open(
  provider: Provider,
  changes: Record<string, unknown> = {},
): Promise<{ server: ScriptedServer; model: LanguageModel; clock: FakeClock }> {
  const [strict, own] = SERVICES[provider];
  const server = await startOpenAiServer(strict);
  const { origin, baseUrl } = server;
  const address = provider === 'azure' ? { endpoint: `${origin}/` } : { base_url: baseUrl };
  const settings = { provider, api_key: KEY, ...address, ...own, ...changes } as LlmServiceSettings;
  const clock = new FakeClock();
  const model = openLanguageModel([settings], { clock, log: quietLog().log });
  if (model === undefined) throw new Error('no model');
  closing.push(
    () => model.close(),
    () => server.close(),
  );
  return { server, model, clock };
}

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const interruptedTool = {
  ...foreignCalls,
  messages: [...foreignCalls.messages, { role: 'user' as const, content: 'Are you there?' }],
};

describe.each(Object.keys(SERVICES) as Provider[])('the profile %s', (provider) => {
  it('asks as its service takes it, at the first attempt', async () => {
    const { server, model } = await open(provider);
    server.otherwise(() => says('Ok.'));
    const requests = [
      ask,
      { ...ask, temperature: 0, tools: [], json: true },
      { ...ask, temperature: undefined, tokensMax: undefined, cacheKey: 'workflow-7' },
      foreignCalls,
      // The caller spoke while a tool ran, or before a word of the answer about it.
      interruptedTool,
      {
        ...ask,
        messages: [...ask.messages, { role: 'assistant' as const, content: 'Hi', toolCalls: [] }],
      },
    ];
    for (const request of requests) {
      const answer = await model.respond(request, silent, never);
      expect(answer.text).toBe('Ok.');
    }
    expect(model.name).toBe(provider);
    expect(server.requests).toHaveLength(requests.length);
  });

  it('says LLM_AUTH for a key that is unknown to its service', async () => {
    const { model } = await open(provider, { api_key: 'other' });
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({ code: 'LLM_AUTH' });
  });
});

describe('peculiarities of services', () => {
  const answers = async (provider: Provider, steps: string[]) => {
    const { server, model } = await open(provider);
    server.script({ steps });
    return { server, model, answer: await model.respond(ask, silent, never) };
  };
  const counted = { prompt_tokens: 9, completion_tokens: 3 };

  it.each<[Provider, string, string[]]>([
    [
      'groq',
      'in a field of its own',
      [chunk({ content: 'Hi.' }, 'stop'), data({ choices: [], x_groq: { usage: counted } }), DONE],
    ],
    [
      'vllm',
      'in every chunk',
      ['Hi', '.'].map((content, at) =>
        data({
          choices: [{ delta: { content }, finish_reason: at === 1 ? 'stop' : null }],
          usage: { prompt_tokens: 9, completion_tokens: 2 + at },
        }),
      ),
    ],
    [
      'fireworks',
      'in the last chunk',
      [
        data({ choices: [{ delta: { content: 'Hi.' }, finish_reason: 'stop' }], usage: counted }),
        DONE,
      ],
    ],
  ])('%s: usage comes %s', async (provider, _where, steps) => {
    expect((await answers(provider, steps)).answer.usage).toMatchObject({
      promptTokens: 9,
      completionTokens: 3,
    });
  });

  it.each<[Provider, Record<string, unknown>, string | undefined]>([
    ['openai', {}, 'workflow-7'],
    ['azure', {}, 'workflow-7'],
    // A server of its owner behind OpenAI's interface may refuse it.
    ['openai', { model: 'qwen3-8b' }, undefined],
    ['groq', {}, undefined],
  ])('%s with %j: the key of the prompt cache is %s', async (provider, settings, key) => {
    const { server, model } = await open(provider, settings);
    server.script(says('Ok.'));
    await model.respond({ ...ask, cacheKey: 'workflow-7' }, silent, never);
    expect(server.requests[0]?.body['prompt_cache_key']).toBe(key);
  });

  it('counts what was read from a cache under either name, and reasoning', async () => {
    const details = {
      completion_tokens_details: { reasoning_tokens: 2 },
      prompt_tokens_details: { cache_write_tokens: 5 },
    };
    const all = { ...counted, prompt_cache_hit_tokens: 8, ...details };
    const steps = [chunk({ content: 'Hi.' }, 'stop'), data({ choices: [], usage: all }), DONE];
    expect((await answers('deepseek', steps)).answer.usage).toEqual({
      promptTokens: 9,
      completionTokens: 3,
      cachedTokens: 8,
      cacheWriteTokens: 5,
      reasoningTokens: 2,
    });
  });

  it('openrouter: skips comments, and ends with the error that comes after status 200', async () => {
    const steps = [
      ': OPENROUTER PROCESSING\n\n',
      chunk({ content: 'Hi.' }, 'stop'),
      usage(1, 1),
      DONE,
    ];
    const { server, model, answer } = await answers('openrouter', steps);
    expect(answer.text).toBe('Hi.');
    const error = { code: 502, message: 'Provider disconnected' };
    server.script({
      steps: [
        chunk({ content: 'We' }),
        data({ error, choices: [{ delta: {}, finish_reason: 'error' }] }),
      ],
    });
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({ kind: 'overload' });
    server.script({ steps: [chunk({ content: 'We' }), chunk({}, 'error'), DONE] });
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({ code: 'LLM_FAILED' });
  });

  // A conversation that was too long for the provider behind it was taken for a wrong setting, and never shortened.
  it('openrouter: reads what the provider behind it says of an error', async () => {
    const { server, model } = await open('openrouter');
    const said = { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } };
    const metadata = { raw: JSON.stringify(said), provider_name: 'Anthropic' };
    const error = { code: 400, message: 'Provider returned error', metadata };
    server.otherwise(() => failure(400, error));
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({
      kind: 'context',
      detail: `Provider returned error: ${said.error.message}`,
    });
  });

  it('openrouter: joins the fragments of signed reasoning and returns them', async () => {
    const detail = (text: string, more = {}) => ({
      type: 'reasoning.text',
      index: 0,
      text,
      ...more,
    });
    const call = { index: 0, id: 'c1', function: { name: 'x', arguments: '{}' } };
    const { server, model, answer } = await answers('openrouter', [
      chunk({ reasoning_details: [detail('He ')] }),
      chunk({ reasoning_details: [detail('goes.', { signature: 's' })] }),
      chunk({ tool_calls: [call] }, 'tool_calls'),
      DONE,
    ]);
    server.script(says('Ok.'));
    await model.respond(afterTools(answer), silent, never);
    const sent = JSON.stringify(server.requests[1]?.body['messages']);
    expect(sent).toContain(
      '"reasoning_details":[{"type":"reasoning.text","index":0,"text":"He goes.","signature":"s"}]',
    );
  });

  it('returns the signature that Google puts beside a tool call', async () => {
    const extraContent = { google: { thought_signature: 'sig' } };
    const call = {
      index: 0,
      id: 'c1',
      function: { name: 'x', arguments: '{}' },
      extra_content: extraContent,
    };
    const { server, model, answer } = await answers('openai_compatible', [
      chunk({ tool_calls: [call] }, 'stop'),
      DONE,
    ]);
    server.script(says('Ok.'));
    await model.respond(afterTools(answer), silent, never);
    expect(JSON.stringify(server.requests[1]?.body['messages'])).toContain(
      JSON.stringify({ extra_content: extraContent }).slice(1, -1),
    );
  });

  it('deepseek: returns reasoning within a tool loop, and never after it', async () => {
    const call = { index: 0, id: 'c1', function: { name: 'x', arguments: '{}' } };
    const { server, model, answer } = await answers('deepseek', [
      '\n\n: keep-alive\n\n',
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ tool_calls: [call] }, 'tool_calls'),
      DONE,
    ]);
    server.otherwise(() => says('Ok.'));
    const loop = afterTools(answer);
    await model.respond(loop, silent, never);
    await model.respond(
      { ...loop, messages: [...loop.messages, { role: 'user', content: 'And?' }] },
      silent,
      never,
    );
    const sent = server.requests
      .slice(1)
      .map(({ body }) => JSON.stringify(body).includes('reasoning_content'));
    expect(sent).toEqual([true, false]);
  });

  it('ollama: keeps whole calls apart that have no id and one index, and loads the model ahead', async () => {
    const call = (name: string) => ({ index: 0, function: { name, arguments: '{"a":1}' } });
    const steps = [
      chunk({ tool_calls: [call('a')] }),
      chunk({ tool_calls: [call('b')] }, 'stop'),
      DONE,
    ];
    const { server, model, answer } = await answers('ollama', steps);
    expect(answer.toolCalls.map(({ name }) => name)).toEqual(['a', 'b']);
    const fresh = await open('ollama');
    fresh.model.prepare();
    while (fresh.server.prepared === 0) await settle();
    expect(server.prepared).toBe(0);
    expect(model.name).toBe('ollama');
  });

  it.each([
    [1_008, 'quota'],
    [1_004, 'auth'],
    [1_002, 'rate'],
  ])('minimax: takes error %i with status 200 as %s', async (statusCode, kind) => {
    const { server, model } = await open('minimax');
    server.otherwise(() => ({
      steps: [JSON.stringify({ base_resp: { status_code: statusCode, status_msg: 'no' } })],
    }));
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({ kind });
  });

  it('minimax: takes error 1026 with status 200 for words that a filter has stopped', async () => {
    const { server, model } = await open('minimax');
    const steps = [JSON.stringify({ base_resp: { status_code: 1_026, status_msg: 'sensitive' } })];
    server.otherwise(() => ({ steps }));
    await expect(model.respond(ask, silent, never)).rejects.toMatchObject({
      code: 'LLM_REFUSED',
      facts: { reason: 'content filter' },
    });
  });

  it('azure: skips the first chunk, which has the result of its filter alone', async () => {
    const filter = data({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
    const steps = [filter, chunk({ content: 'Hi.' }), chunk({}, 'content_filter'), DONE];
    expect((await answers('azure', steps)).answer).toMatchObject({
      text: 'Hi.',
      finishReason: 'filtered',
    });
  });

  it('huggingface: names who pays', async () => {
    const { server } = await answers('huggingface', [chunk({ content: 'Hi.' }, 'stop'), DONE]);
    expect(server.requests[0]?.headers['x-hf-bill-to']).toBe('acme');
  });

  it('groq: is asked once more when it could not read its own tool call', async () => {
    const { server, model, clock } = await open('groq');
    const broken = { code: 'tool_use_failed', failed_generation: '<function=x>' };
    server.script(failure(400, broken), says('Ok.'));
    const answer = model.respond(ask, silent, never);
    while (server.requests.length < 2) {
      clock.advance(50);
      await settle();
    }
    expect((await answer).text).toBe('Ok.');
  });

  it('reads faults as FastAPI lists them', async () => {
    const { server, model } = await open('vllm');
    const detail = [{ loc: ['body', 'temperature'], msg: 'not allowed', type: 'x' }];
    server.script({ status: 422, steps: [JSON.stringify({ detail })] }, says('Ok.'));
    expect((await model.respond(ask, silent, never)).text).toBe('Ok.');
    expect(server.requests[1]?.body).not.toHaveProperty('temperature');
  });

  it('vllm: stores that its model wants an answer between the result of a tool and the caller', async () => {
    const { server, model } = await open('vllm');
    const refused = failure(400, { message: "Unexpected role 'user' after role 'tool'" });
    server.script(refused, says('Ok.'), says('Ok.'));
    await model.respond(interruptedTool, silent, never);
    await model.respond(interruptedTool, silent, never);
    const roles = server.requests.map(({ body }) =>
      Array.isArray(body['messages']) ? body['messages'].map(({ role }) => role).slice(-3) : [],
    );
    expect(roles).toEqual([
      ['tool', 'tool', 'user'],
      ['tool', 'assistant', 'user'],
      ['tool', 'assistant', 'user'],
    ]);
  });

  it("adds the configuration's own fields over all others", async () => {
    const { server, model } = await open('vllm', {
      extra_body: { temperature: 1.5, chat_template_kwargs: {} },
    });
    server.script(says('Ok.'));
    await model.respond(ask, silent, never);
    expect(server.requests[0]?.body).toMatchObject({ temperature: 1.5, chat_template_kwargs: {} });
  });
});
