import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { createAnthropic } from '../../../src/speech/vendors/anthropic.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import type { ScriptedServer, Step } from '../../fakes/scripted-server.ts';
import {
  block,
  event,
  refused,
  says,
  signatureOf,
  startAnthropicServer,
  started,
  stopped,
  textOf,
  thought,
  toolUse,
} from '../../fakes/services/anthropic-server.ts';
import { capturedRequest, SDK_QUESTION, sdkRequest } from '../captured-request.ts';
import { languageModelContract, type ModelUnderTest } from '../llm/llm-contract.ts';
import { afterTools, ask, foreignCalls, oddlyNamed } from '../llm/model-history.ts';

const KEY = 'sk-ant-do-not-show';
const never = new AbortController().signal;

async function start(): Promise<ModelUnderTest> {
  const server = await startAnthropicServer(KEY);
  const clock = new FakeClock();
  const { log, lines } = quietLog('trace');
  const { baseUrl } = server;
  const model = createAnthropic({ baseUrl, apiKey: KEY, model: 'claude-haiku-4-5', clock, log });
  return {
    model,
    clock,
    key: KEY,
    lines,
    next: {
      says: (text) => server.script(says(text)),
      calls: (name, args) => {
        const steps = toolUse(0, { id: 'toolu_1', name }, JSON.stringify(args));
        server.script({ steps: [started(), ...steps, ...stopped('tool_use')] });
      },
      breaksOff: (text, ...then) =>
        server.script({ steps: [started(), ...textOf(0, text).slice(0, 2), ...then] }),
      refusesCredentials: () =>
        server.script(refused(401, 'authentication_error', `invalid x-api-key ${KEY}`)),
      isEmpty: () => server.script({ steps: [started(), ...stopped('end_turn')] }),
      sends: (...steps) => server.script({ steps }),
    },
    async requested() {
      while (server.requests.length === 0) await settle();
    },
    closed: async () => server.requests.at(-1)?.aborted,
    async close() {
      await model.close();
      await server.close();
    },
  };
}

const KINDS = ['message_start', 'content_block_start', 'content_block_delta', 'message_delta'];

languageModelContract('anthropic', start, {
  umlauts: [
    started(),
    ...textOf(0, 'Grüße. '),
    ...toolUse(1, { id: 't', name: 'x' }, '{"u":"ü"}'),
    ...stopped('tool_use'),
  ] as string[],
  events: [
    started(),
    ...textOf(0, 'Hi'),
    ...toolUse(1, { id: 't', name: 'x' }, '{}'),
    ...stopped('tool_use'),
  ] as string[],
  shaped: fc
    .tuple(fc.constantFrom(...KINDS), fc.jsonValue(), fc.nat(3))
    .map(([type, any, index]) =>
      event({ type, index, delta: any, content_block: any, message: any }),
    ),
});

describe('anthropic', () => {
  let server: ScriptedServer;
  let quiet: ReturnType<typeof quietLog>;
  let heard: string;
  const listener = {
    onText(delta: string) {
      heard += delta;
    },
  };
  const opened: LanguageModel[] = [];
  const open = (name = 'claude-haiku-4-5', apiKey = KEY): LanguageModel => {
    const { baseUrl } = server;
    const model = createAnthropic({
      baseUrl,
      apiKey,
      model: name,
      log: quiet.log,
      clock: new FakeClock(),
    });
    opened.push(model);
    return model;
  };
  const respond = (request = ask, model = open()) => model.respond(request, listener, never);
  const script = (...steps: Step[]) => server.script({ steps });

  beforeEach(async () => {
    server = await startAnthropicServer(KEY);
    quiet = quietLog('trace');
    heard = '';
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((model) => model.close()));
    await server.close();
  });

  it('sends what the vendor’s own SDK sends', async () => {
    server.script(says('Ok.'));
    await respond({ ...SDK_QUESTION, temperature: undefined });
    const [sent] = server.requests;
    if (sent === undefined) throw new Error('no request');
    const { path: url, headers, body } = sent;
    const names = ['x-api-key', 'anthropic-version', 'content-type'];
    const own = capturedRequest({ url, headers }, { key: KEY, headers: names, messages: [body] });
    const sdk = sdkRequest('anthropic/messages');
    // The last turn is kept in the cache, too.
    const content = [{ type: 'text', text: 'Which day?', cache_control: { type: 'ephemeral' } }];
    const messages = [{ role: 'user', content }];
    expect(own).toEqual({ ...sdk, messages: [{ ...sdk.messages[0], messages }] });
  });

  it('sends system prompt, tools and the conversation, and marks what the cache keeps', async () => {
    server.script(says('Ok.'));
    await respond({ ...foreignCalls, tokensMax: undefined });
    const cacheControl = { type: 'ephemeral' };
    expect(server.requests[0]?.body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 2_048,
      stream: true,
      temperature: 0.2,
      system: [{ type: 'text', text: 'You answer the phone.', cache_control: cacheControl }],
      tools: [{ name: 'end_call', description: 'Hangs up', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'One moment.' },
            { type: 'tool_use', id: 'call_1', name: 'find', input: { what: 'a' } },
            { type: 'tool_use', id: 'functions_find_2', name: 'find', input: { what: 'b' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'It is done.' },
            {
              type: 'tool_result',
              tool_use_id: 'functions_find_2',
              content: 'It is done.',
              cache_control: cacheControl,
            },
          ],
        },
      ],
    });
  });

  it('never speaks its thoughts, and returns them untouched before the tool call', async () => {
    const sealed = { type: 'redacted_thinking', data: 'x1' };
    script(
      started(),
      ...thought(0, 'The caller wants to go.'),
      ...block(1, sealed),
      ...textOf(2, 'Good bye. '),
      ...toolUse(3, { id: 'toolu_1', name: 'end_call' }, '{"why"', ':"bye', '"}'),
      ...stopped('tool_use'),
    );
    const answer = await respond();
    expect(heard).toBe('Good bye. ');
    expect(answer.toolCalls).toEqual([
      { id: 'toolu_1', name: 'end_call', arguments: { why: 'bye' } },
    ]);
    server.script(says('Done.'), says('Done.'));
    await respond(afterTools(answer));
    const thinking = 'The caller wants to go.';
    expect(server.requests[1]?.body['messages']).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking, signature: signatureOf(thinking) },
          sealed,
          { type: 'text', text: 'Good bye.' },
          { type: 'tool_use' },
        ],
      },
      {},
    ]);
    await respond(afterTools(answer), open('claude-sonnet-5'));
    expect(JSON.stringify(server.requests[2]?.body['messages'])).not.toContain('thinking');
  });

  it('removes thoughts and tool calls that a model writes into its text', async () => {
    const texts = ['<thin', 'king>Hm</thinking>', 'Hello. <tool', '_call>{}</tool_call>', ' Bye.'];
    script(started(), ...textOf(0, ...texts), ...stopped('end_turn'));
    expect((await respond()).text).toBe('Hello. Bye.');
    expect(heard).toBe('Hello. Bye.');
  });

  it('counts tokens by the totals of the service', async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 7,
      output_tokens: 1,
    };
    const details = { output_tokens: 30, output_tokens_details: { thinking_tokens: 21 } };
    script(started(usage), ...textOf(0, 'Hi.'), ...stopped('end_turn', details));
    expect((await respond()).usage).toEqual({
      promptTokens: 117,
      completionTokens: 30,
      cachedTokens: 100,
      cacheWriteTokens: 7,
      reasoningTokens: 21,
    });
  });

  it("turns thinking off where it is a family's default, and leaves the field out where it is refused", async () => {
    server.otherwise(() => says('Ok.'));
    for (const name of [
      'claude-haiku-4-5',
      'claude-haiku-5-5',
      'claude-sonnet-5-5',
      'claude-fable-5',
    ]) {
      await respond(ask, open(name));
    }
    const sent = server.requests.map(({ body }) => [body['thinking'], body['temperature']]);
    const disabled = { type: 'disabled' };
    expect(sent).toEqual([
      [undefined, 0.2],
      [disabled, 0.2],
      [disabled, undefined],
      [undefined, undefined],
    ]);
    expect(server.requests[3]?.body['output_config']).toEqual({ effort: 'low' });
  });

  it('stores a field that a model refuses, once for the process', async () => {
    const reason = '`temperature` is deprecated for this model.';
    server.script(refused(400, 'invalid_request_error', reason), says('Ok.'), says('Ok.'));
    await respond();
    await respond();
    expect(server.requests.map(({ body }) => 'temperature' in body)).toEqual([true, false, false]);
  });

  it('asks for an object by the system prompt', async () => {
    script(started(), ...textOf(0, '{"name": "Ana"}'), ...stopped('end_turn'));
    expect((await respond({ ...ask, json: true, tools: [] })).text).toBe('{"name": "Ana"}');
    expect(JSON.stringify(server.requests[0]?.body['system'])).toContain('one JSON object');
  });

  it.each([
    [400, 'invalid_request_error', 'LLM_REFUSED', 'request'],
    [401, 'authentication_error', 'LLM_AUTH', 'auth'],
    [402, 'billing_error', 'LLM_REFUSED', 'quota'],
    [403, 'permission_error', 'LLM_REFUSED', 'forbidden'],
    [413, 'request_too_large', 'LLM_REFUSED', 'request'],
    [429, 'rate_limit_error', 'LLM_RATE', 'rate'],
    [500, 'api_error', 'LLM_FAILED', 'overload'],
    [529, 'overloaded_error', 'LLM_FAILED', 'overload'],
  ])('maps status %i, %s to %s', async (status, type, code, kind) => {
    server.script(refused(status, type, 'Because.', { 'retry-after': '3' }));
    const thrown = await respond().catch((each: unknown) => each);
    expect(thrown).toMatchObject({ code, kind, detail: 'Because.', retryAfterMs: 3_000 });
  });

  it('takes a balance that is too low, which has the type of a bad request, for a used-up account', async () => {
    const words = 'Your credit balance is too low to access the Anthropic API. Please buy credits.';
    server.script(refused(400, 'invalid_request_error', words));
    await expect(respond()).rejects.toMatchObject({ kind: 'quota', detail: words });
  });

  it.each([
    ['overloaded_error', 'LLM_FAILED', 'overload'],
    ['rate_limit_error', 'LLM_RATE', 'rate'],
    ['invalid_request_error', 'LLM_REFUSED', 'request'],
  ])('ends with %s that comes after status 200 as %s', async (type, code, kind) => {
    script(started(), ...textOf(0, 'We'), event({ type: 'error', error: { type, message: 'x' } }));
    await expect(respond()).rejects.toMatchObject({ code, kind });
    expect(heard).toBe('We');
  });

  it.each<[string, Step[], string]>([
    ['a refusal', stopped('refusal'), 'LLM_REFUSED'],
    ['thoughts only', [...thought(0, 'Hm'), ...stopped('max_tokens')], 'LLM_EMPTY'],
    [
      'broken arguments',
      [...toolUse(0, { id: 't', name: 'x' }, '{"a'), ...stopped('max_tokens')],
      'LLM_MALFORMED',
    ],
    [
      'a delta of no block',
      [event({ type: 'content_block_delta', index: 4, delta: { type: 'text_delta', text: 'x' } })],
      'LLM_MALFORMED',
    ],
    ['no JSON', ['data: {"type":\n\n'], 'LLM_MALFORMED'],
  ])('rejects %s', async (_what, steps, code) => {
    script(started(), ...steps);
    await expect(respond().catch(codeOf)).resolves.toBe(code);
  });

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
  ])('says how a text ended: %s is %s', async (reason, finish) => {
    script(started(), ...textOf(0, 'Hi.'), ...stopped(reason));
    expect((await respond()).finishReason).toBe(finish);
  });

  it('keeps the text before a tool call that cannot be read', async () => {
    const broken = toolUse(1, { id: 't', name: 'x' }, '{"a');
    script(started(), ...textOf(0, 'Let me see.'), ...broken, ...stopped('max_tokens'));
    const answer = await respond();
    expect(answer).toMatchObject({
      text: 'Let me see.',
      toolCalls: [],
      finishReason: 'malformed-tool',
    });
  });

  it('calls functions by the name of their author', async () => {
    const label = 'a'.repeat(130);
    server.script(says('Ok.'));
    await respond(oddlyNamed(label));
    const [tool] = Object(server.requests[0]?.body['tools']);
    script(started(), ...toolUse(0, { id: 't', name: tool.name }, '{}'), ...stopped('tool_use'));
    expect((await respond(oddlyNamed(label))).toolCalls).toMatchObject([{ name: label }]);
  });

  // A parameter "Customer name" made the service refuse every request of its step.
  it('fills parameters by the name of their author', async () => {
    const name = { type: 'string', description: 'In full' };
    const parameters = {
      type: 'object',
      properties: { 'Customer name': name, ['Straße']: name, plain: name },
      required: ['Customer name', 'plain'],
    };
    const request = { ...ask, tools: [{ name: 'find', description: 'Finds', parameters }] };
    server.script(says('Ok.'));
    await respond(request);
    const [tool] = Object(server.requests[0]?.body['tools']);
    const [customer, street, plain] = Object.keys(tool.input_schema.properties);
    expect(tool.input_schema.required).toEqual([customer, 'plain']);
    expect(plain).toBe('plain');
    const given = JSON.stringify({
      [String(customer)]: 'Ana',
      [String(street)]: 'Hof',
      plain: 'x',
    });
    script(started(), ...toolUse(0, { id: 't', name: 'find' }, given), ...stopped('tool_use'));
    expect((await respond(request)).toolCalls).toMatchObject([
      { arguments: { 'Customer name': 'Ana', ['Straße']: 'Hof', plain: 'x' } },
    ]);
  });

  it('takes a tool call without arguments, and unknown events', async () => {
    script(
      started(),
      event({ type: 'brand_new', x: 1 }),
      ...toolUse(0, { id: 't', name: 'x' }),
      ...stopped('tool_use'),
    );
    expect((await respond()).toolCalls).toEqual([{ id: 't', name: 'x', arguments: {} }]);
  });

  it('opens a connection ahead', async () => {
    const model = open();
    model.prepare();
    while (server.prepared === 0) await settle();
    server.script(says('Hi.'));
    await respond(ask, model);
    expect(server.connections).toBe(1);
  });
});
