import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, GatewayError } from '../../../../src/errors/gateway-error.ts';
import { serviceSeconds } from '../../../../src/metrics/speech-metrics.ts';
import type { LanguageModel } from '../../../../src/speech/llm/llm.ts';
import { createOpenAi } from '../../../../src/speech/llm/openai/openai.ts';
import { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import type { RecordedRequest } from '../../../fakes/scripted-server.ts';
import {
  calls,
  chunk,
  DONE,
  data,
  type FakeOpenAiServer,
  failure,
  says,
  startOpenAiServer,
  usage,
} from '../../../fakes/services/openai-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { languageModelContract, type ModelUnderTest } from '../llm-contract.ts';
import { afterTools, ask, oddlyNamed } from '../model-history.ts';

const KEY = 'sk-test-do-not-show';
const never = new AbortController().signal;
const TOO_LARGE =
  'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 36012. The input or output tokens must be reduced in order to run successfully.';

async function start(): Promise<ModelUnderTest> {
  const server = await startOpenAiServer();
  const clock = new FakeClock();
  const { log, lines } = quietLog('trace');
  const model = createOpenAi({ baseUrl: server.baseUrl, apiKey: KEY, model: 'm', clock, log });
  return {
    model,
    clock,
    key: KEY,
    lines,
    next: {
      says: (text) => server.script(says(text)),
      calls: (name, args) => server.script(calls(name, args)),
      breaksOff: (text, ...then) => server.script({ steps: [chunk({ content: text }), ...then] }),
      refusesCredentials() {
        server.script(failure(401, { message: `Incorrect API key: ${KEY}`, code: KEY, type: KEY }));
      },
      isEmpty: () => server.script({ steps: [chunk({}, 'stop'), DONE] }),
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

languageModelContract('openai', start, {
  umlauts: calls('x', { u: 'ü' }, { text: 'Grüße. ' }).steps as string[],
  events: [chunk({ content: 'Hi' }), chunk({}, 'stop'), DONE, usage(1, 1)],
  shaped: fc.jsonValue().map((each) => data({ choices: [{ delta: { tool_calls: each } }] })),
});

describe('openai', () => {
  let server: FakeOpenAiServer;
  let clock: FakeClock;
  let model: LanguageModel;
  let heard: string;
  let onHeard: () => void;
  let quiet: ReturnType<typeof quietLog>;
  const listener = {
    onText(delta: string) {
      heard += delta;
      onHeard();
    },
  };
  const respond = (request = ask) => model.respond(request, listener, never);

  beforeEach(async () => {
    server = await startOpenAiServer();
    clock = new FakeClock();
    quiet = quietLog();
    heard = '';
    onHeard = () => undefined;
    const { baseUrl } = server;
    model = createOpenAi({ baseUrl, apiKey: KEY, model: 'm-1', clock, log: quiet.log });
  });
  afterEach(async () => {
    await model.close();
    await server.close();
  });

  // An emoji on the limit of a text left a half of it in every request of the call.
  it('sends no half of a surrogate pair, which services refuse', async () => {
    server.script(says('Good morning.'));
    const description = `${'x'.repeat(999)}😀`.slice(0, 1_000);
    const content = 'Hello \ud83d, I said "\\ud83d" 😀';
    const [end] = ask.tools;
    await respond({
      ...ask,
      messages: [{ role: 'user', content }],
      tools: [{ name: 'end_call', parameters: {}, ...end, description }],
    });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(JSON.parse(sent).messages).toEqual([
      { role: 'user', content: 'Hello \uFFFD, I said "\\ud83d" 😀' },
    ]);
    expect(sent).toContain('xxx\uFFFD"');
  });

  // Edges are functions with the names of their labels: with a long one, every request of its step was refused.
  // Google's models, behind OpenRouter for one, refuse a digit at the begin as well.
  it.each(['a'.repeat(64), 'a'.repeat(65), `${'a'.repeat(64)}b`, '2nd_appointment'])(
    'calls functions by the name of their author: %s',
    async (label) => {
      server.script(says('Ok.'));
      await respond(oddlyNamed(label));
      const [tool] = Object(server.requests[0]?.body['tools']);
      expect(tool.function.name).toMatch(/^[A-Za-z_][\w-]{0,63}$/);
      server.script(calls(tool.function.name, {}));
      const answer = await respond(oddlyNamed(label));
      expect(answer.toolCalls).toMatchObject([{ name: label, arguments: {} }]);
    },
  );

  // A server that counts from `call_0` in each answer, and a chat whose process has begun anew, gave two calls one id: Gemini
  // took the result of one for the other's, Anthropic refused the conversation. vLLM's ids are too long for OpenAI.
  it.each([['call_0'], ['call_1'], ['chatcmpl-tool-0123456789abcdef0123456789abcdef']])(
    'gives each call of the conversation an id of its own: %s',
    async (id) => {
      const call = { id, type: 'function', function: { name: 'x', arguments: '{}' } };
      const steps = [0, 1].map((index) => chunk({ tool_calls: [{ index, ...call }] }));
      server.script({ steps: [...steps, chunk({}, 'tool_calls'), DONE] });
      const made = { id: id.slice(0, 40), name: 'x', arguments: {} };
      const answer = await respond(afterTools({ text: '', toolCalls: [made] }));
      const ids = [made, ...answer.toolCalls].map((each) => each.id);
      expect(new Set(ids).size).toBe(3);
      expect(Math.max(...ids.map(({ length }) => length))).toBeLessThanOrEqual(40);
    },
  );

  it('sends what the vendor’s own SDK sends', async () => {
    const sdk = sdkRequest('openai/chat-completions');
    const { baseUrl } = server;
    const own = createOpenAi({ baseUrl, apiKey: KEY, model: 'gpt-test', clock, log: quiet.log });
    server.script(says('Ok.'));
    const day = { type: 'object', properties: { day: { type: 'string' } } };
    await own.respond(
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Which day?' },
        ],
        tools: [{ name: 'book', description: 'Books a visit.', parameters: day }],
        temperature: undefined,
        tokensMax: undefined,
        json: false,
      },
      listener,
      never,
    );
    await own.close();
    const [{ path: url, headers, body }] = server.requests as [RecordedRequest];
    const names = ['authorization', 'content-type'];
    const sent = { key: KEY, headers: names, messages: [body] };
    expect(capturedRequest({ url, headers }, sent)).toEqual(sdk);
  });

  it('sends what the interface asks for, in the wire form', async () => {
    server.script(says('Ok.'));
    await respond({
      ...ask,
      messages: [
        ...ask.messages,
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c1', name: 'end_call', arguments: { a: 1 } }],
        },
        { role: 'tool', callId: 'c1', content: 'done' },
      ],
      json: true,
    });
    const [request] = server.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.body).toEqual({
      model: 'm-1',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.2,
      max_tokens: 100,
      response_format: { type: 'json_object' },
      tools: [
        {
          type: 'function',
          function: { name: 'end_call', description: 'Hangs up', parameters: { type: 'object' } },
        },
      ],
      messages: [
        { role: 'system', content: 'You answer the phone.' },
        { role: 'user', content: 'Hello?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'end_call', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    });
  });

  it('leaves out what is not asked for', async () => {
    server.script(says('Ok.'));
    await respond({ ...ask, tools: [], temperature: undefined, tokensMax: undefined });
    expect(Object.keys(server.requests[0]?.body ?? {}).sort()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });

  it('counts the tokens that the server counted', async () => {
    server.script({ steps: [chunk({ content: 'Hi' }, 'stop'), usage(100, 7, 64), DONE] });
    expect((await respond()).usage).toEqual({
      promptTokens: 100,
      completionTokens: 7,
      cachedTokens: 64,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
  });

  it('opens one connection for one answer after the other', async () => {
    for (let i = 0; i < 3; i++) {
      server.script(says('Ok.'));
      await respond();
      await settle();
    }
    expect(server.connections).toBe(1);
  });

  describe('that prepares', () => {
    const counted = async (result: string) =>
      (await serviceSeconds.get()).values.find(
        ({ metricName, labels }) =>
          metricName?.endsWith('_count') &&
          labels.kind === 'llm-prepare' &&
          labels.service === 'openai' &&
          labels.result === result,
      )?.value ?? 0;
    async function prepared(result: string): Promise<void> {
      const before = await counted(result);
      model.prepare();
      while ((await counted(result)) === before) await settle();
    }

    it('has a connection open before the first request', async () => {
      await prepared('ok');
      server.script(says('Ok.'));
      await respond();
      expect(server.connections).toBe(1);
    });

    it('asks nothing while a connection is free or being opened', async () => {
      model.prepare();
      await prepared('ok');
      clock.advance(60_000);
      model.prepare();
      await settle();
      expect(server.requests).toHaveLength(0);
      expect(server.connections).toBe(1);
      expect(server.prepared).toBe(1);
    });

    it('opens another connection while those that are open give answers', async () => {
      server.script({ steps: [chunk({ content: 'So' }), 'stall'] });
      const stop = new AbortController();
      const answer = model.respond(ask, listener, stop.signal);
      while (heard === '') await settle();
      await prepared('ok');
      expect(server.connections).toBe(2);
      stop.abort(new Error('enough'));
      await expect(answer).rejects.toThrow('enough');
    });

    it('counts a server that cannot be reached, and throws nothing', async () => {
      await server.close();
      await prepared('failed');
    });

    it('times out after five seconds on a server that sends nothing', async () => {
      const silent = createServer((socket) => void socket.resume());
      await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
      const { port } = silent.address() as AddressInfo;
      await model.close();
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      model = createOpenAi({ baseUrl, apiKey: KEY, model: 'm-1', clock, log: quiet.log });
      const before = await counted('timeout');
      const connected = new Promise((done) => silent.once('connection', done));
      model.prepare();
      await connected;
      clock.advance(4_999);
      await settle();
      expect(await counted('timeout')).toBe(before);
      clock.advance(1);
      while ((await counted('timeout')) === before) await settle();
      await model.close();
      await new Promise((done) => silent.close(done));
    });
  });

  const args = { name: 'end_call', arguments: '{"why":"bye"}' };
  it.each<[string, string[]]>([
    ['whole arguments and no id', [chunk({ tool_calls: [{ index: 0, function: args }] }, 'stop')]],
    ['no index', [chunk({ tool_calls: [{ id: 'x', function: args }] }, 'tool_calls')]],
    [
      'arguments as an object',
      [chunk({ tool_calls: [{ function: { ...args, arguments: { why: 'bye' } } }] }, 'stop')],
    ],
    [
      'the id again in each fragment',
      ['{"why"', ':"bye"}'].map((part, i) =>
        chunk(
          { tool_calls: [{ index: 0, id: 'x', function: { name: 'end_call', arguments: part } }] },
          i === 1 ? 'tool_calls' : null,
        ),
      ),
    ],
  ])('understands a tool call with %s', async (_what, steps) => {
    server.script({ steps: [...steps, DONE] });
    const answer = await respond();
    expect(answer.toolCalls).toMatchObject([{ name: 'end_call', arguments: { why: 'bye' } }]);
    expect(answer.toolCalls[0]?.id).not.toBe('');
    expect(answer.finishReason).toBe('tool_calls');
  });

  it('keeps two calls apart that come under one index', async () => {
    const call = (id: string) => ({
      index: 0,
      id,
      function: { name: `do_${id}`, arguments: '{}' },
    });
    server.script({
      steps: [chunk({ tool_calls: [call('a')] }), chunk({ tool_calls: [call('b')] }, 'stop'), DONE],
    });
    expect((await respond()).toolCalls.map((each) => each.id)).toEqual(['a', 'b']);
  });

  it('gives an empty object for a tool call without arguments', async () => {
    server.script({
      steps: [
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'x' } }] }, 'stop'),
        DONE,
      ],
    });
    expect((await respond()).toolCalls[0]?.arguments).toEqual({});
  });

  it('takes text and a tool call in one answer', async () => {
    server.script(calls('end_call', {}, { text: 'Good bye. ' }));
    const answer = await respond();
    expect(heard).toBe('Good bye. ');
    expect(answer).toMatchObject({ text: 'Good bye. ', toolCalls: [{ name: 'end_call' }] });
  });

  it('never speaks reasoning, in a field or inline', async () => {
    server.script({
      steps: [
        chunk({ reasoning_content: 'He is angry.' }),
        chunk({ reasoning: 'Hmm.', content: null }),
        chunk({ content: '<think>Really' }),
        chunk({ content: '.</think>Hello.' }, 'stop'),
        DONE,
      ],
    });
    expect((await respond()).text).toBe('Hello.');
    expect(heard).toBe('Hello.');
  });

  it('never speaks a function that the model calls in its text', async () => {
    const called = { name: 'end_call', description: '', parameters: { type: 'object' } };
    const asked = { ...ask, tools: [called] };
    server.script(says('Good bye. end_call(reason="he has gone") '));
    expect((await respond(asked)).text.trim()).toBe('Good bye.');
    expect(heard.trim()).toBe('Good bye.');
    server.script(says('end_call()'));
    await expect(respond(asked)).rejects.toMatchObject({ code: 'LLM_MALFORMED' });
  });

  it.each([
    ['one JSON body', 'application/json'],
    ['one JSON body under the wrong type', 'text/event-stream'],
  ])('understands %s from a server that does not stream', async (_what, type) => {
    const message = {
      role: 'assistant',
      content: 'Höflich.',
      tool_calls: [{ id: 'a', function: { name: 'x', arguments: '{"n":1}' } }],
    };
    const body = Buffer.from(
      ` {"choices":[{"index":0,"message":${JSON.stringify(message)},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
    );
    server.script({
      headers: { 'content-type': type },
      steps: [body.subarray(0, 90), body.subarray(90)],
    });
    expect(await respond()).toMatchObject({
      text: 'Höflich.',
      toolCalls: [{ id: 'a', arguments: { n: 1 } }],
      usage: { promptTokens: 3, completionTokens: 4, cachedTokens: 0 },
    });
    expect(heard).toBe('Höflich.');
  });

  it.each<[string, string[]]>([
    ['[DONE] missing', [chunk({ content: 'Hi.' }), chunk({}, 'stop')]],
    ['finish_reason missing', [chunk({ content: 'Hi.' }), DONE]],
    [
      'usage missing and keep-alive comments',
      [': ok\n\n', chunk({ content: 'Hi.' }, 'stop'), DONE],
    ],
    ['CRLF and no space', [`data:${chunk({ content: 'Hi.' }, 'stop').slice(6).trim()}\r\n\r\n`]],
    ['content in parts', [chunk({ content: [{ type: 'text', text: 'Hi.' }] }, 'stop'), DONE]],
  ])('copes with %s', async (_what, steps) => {
    server.script({ steps: steps as [] });
    expect((await respond()).text).toBe('Hi.');
  });

  it('waits no longer than 250 ms for a server that keeps a finished answer open', async () => {
    server.script({ steps: [chunk({ content: 'Hi.' }, 'stop'), 'stall'] });
    const answer = respond();
    while (heard === '') await settle();
    clock.advance(250);
    expect((await answer).text).toBe('Hi.');
  });

  it.each([
    [400, { code: 'context_length_exceeded' }, 'LLM_REFUSED', 'context'],
    [400, { code: 'tool_use_failed', failed_generation: '<f' }, 'LLM_MALFORMED', 'protocol'],
    [401, { message: KEY }, 'LLM_AUTH', 'auth'],
    [402, { message: 'Insufficient Balance' }, 'LLM_REFUSED', 'quota'],
    [403, {}, 'LLM_REFUSED', 'forbidden'],
    [403, { code: 403, message: 'Key limit exceeded (total limit).' }, 'LLM_REFUSED', 'quota'],
    [404, { code: 'model_not_found' }, 'LLM_REFUSED', 'request'],
    [408, {}, 'LLM_FAILED', 'overload'],
    [429, { type: 'insufficient_quota' }, 'LLM_REFUSED', 'quota'],
    [429, { type: 'tokens' }, 'LLM_RATE', 'rate'],
    // No minute has room for it: it is refused whenever it is sent again, and a shorter one is not.
    [429, { type: 'tokens', message: TOO_LARGE }, 'LLM_REFUSED', 'context'],
    [498, {}, 'LLM_RATE', 'rate'],
    [500, { message: 'oops' }, 'LLM_FAILED', 'overload'],
    [503, { code: 503, message: 'Loading model' }, 'LLM_FAILED', 'overload'],
  ])('maps status %i with %j to %s', async (status, error, code, kind) => {
    server.script(failure(status, error));
    const thrown = await respond().catch((each: unknown) => each);
    expect(thrown).toMatchObject({ code, kind, facts: { service: 'openai', status } });
  });

  it.each([
    [400, { code: 'content_filter', message: 'The response was filtered.', param: 'prompt' }],
    [400, { code: 'invalid_prompt', message: 'Invalid prompt: your prompt was flagged.' }],
    [400, { type: 'invalid_request_error', message: 'Content Exists Risk' }],
    [400, { message: "The prompt triggered Azure OpenAI's content management policy." }],
    [400, { message: 'Output blocked by content filtering policy' }],
    [400, { code: 'data_inspection_failed', message: 'Input data may be inappropriate.' }],
    [403, { code: 403, message: 'It requires moderation and your input was flagged.' }],
    [403, { message: 'Content violates usage guidelines. Failed check: BIO' }],
  ])('takes status %i with %j for words that a filter has stopped', async (status, error) => {
    server.script(failure(status, error));
    const thrown = await respond().catch((each: unknown) => each);
    expect(thrown).toMatchObject({ code: 'LLM_REFUSED', facts: { reason: 'content filter' } });
    expect(thrown).not.toBeInstanceOf(ServiceFault);
  });

  it.each([
    ['2', 2_000],
    ['0.5', 500],
    ['Thu, 15 Jan 2026 09:00:30 GMT', 30_000],
    ['soon', undefined],
  ])('reads Retry-After: %s', async (value, ms) => {
    server.script(failure(429, {}, { 'retry-after': value }));
    const thrown = await respond().catch((each: unknown) => each);
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).facts['retryAfterMs']).toBe(ms);
  });

  it.each([
    [{ error: { message: 'x', type: 'server_error' } }, 'LLM_FAILED'],
    [{ error: { code: 'rate_limit_exceeded' } }, 'LLM_RATE'],
    [{ error: 'overloaded' }, 'LLM_FAILED'],
    [{ error: { code: 402, message: 'Insufficient credits' } }, 'LLM_REFUSED'],
    [{ error: { code: 'content_filter' } }, 'LLM_REFUSED'],
  ])('ends with the error that comes in mid-stream: %j', async (error, code) => {
    server.script({ steps: [chunk({ content: 'We' }), data(error)] });
    await expect(respond().catch(codeOf)).resolves.toBe(code);
    expect(heard).toBe('We');
  });

  it.each<[string, string[], string]>([
    ['white space', [chunk({ content: ' \n' }, 'stop'), DONE], 'LLM_EMPTY'],
    ['only reasoning', [chunk({ content: '<think>Hm' }, 'length'), DONE], 'LLM_EMPTY'],
    ['a refusal', [chunk({ refusal: 'No.' }, 'stop'), DONE], 'LLM_REFUSED'],
    ['a filtered answer', [chunk({}, 'content_filter'), DONE], 'LLM_REFUSED'],
    ['no JSON', [data('{"choices":[')], 'LLM_MALFORMED'],
    ['another shape', [data({ choices: 'x' })], 'LLM_MALFORMED'],
    ['broken arguments', calls('x', {}).steps.toSpliced(2, 1) as string[], 'LLM_MALFORMED'],
    ['a broken connection before the first byte', ['reset'], 'LLM_FAILED'],
    ['HTML', ['<html>busy</html>'], 'LLM_FAILED'],
    ['an empty body', [], 'LLM_FAILED'],
  ])('rejects %s', async (_what, steps, code) => {
    server.script({ steps: steps as [] });
    await expect(respond().catch(codeOf)).resolves.toBe(code);
  });

  // The next model was answering already.
  it('says nothing more of an answer that it has rejected', async () => {
    const begun = chunk({ content: ' late' }).trimEnd();
    server.script({ steps: [chunk({ content: 'We' }), `${data({ choices: 'x' })}${begun}\n`] });
    await expect(respond().catch(codeOf)).resolves.toBe('LLM_MALFORMED');
    for (let i = 0; i < 20; i += 1) await settle();
    expect(heard).toBe('We');
  });

  it('says LLM_FAILED when no server listens', async () => {
    await server.close();
    await expect(respond().catch(codeOf)).resolves.toBe('LLM_FAILED');
  });

  it('says LLM_TIMEOUT when the first token stays away', async () => {
    server.script({ steps: ['stall'] });
    const answer = respond().catch((error: unknown) => error);
    while (server.requests.length === 0) await settle();
    clock.advance(8_000);
    expect(await answer).toMatchObject({ code: 'LLM_TIMEOUT', facts: { what: 'first token' } });
    await server.requests[0]?.aborted;
  });

  it('says LLM_TIMEOUT when a further token stays away for 5 seconds', async () => {
    const afterText = new Promise<void>((resolve) => {
      onHeard = resolve;
    });
    const text = chunk({ content: 'so ' });
    server.script({ steps: [text, { until: () => afterText }, text, 'stall'] });
    const answer = respond().catch((error: unknown) => error);
    clock.advance(7_000);
    while (heard !== 'so so ') await settle();
    clock.advance(4_999);
    expect(clock.timers).toBe(2);
    clock.advance(1);
    expect(await answer).toMatchObject({ code: 'LLM_TIMEOUT', facts: { what: 'further token' } });
  });

  it.each([
    ['a minute', undefined, 14],
    ['the two that its request allows', 120_000, 28],
  ])(
    'says LLM_TIMEOUT when an answer takes more than %s in all',
    async (_time, totalMsMax, pieces) => {
      let go = () => undefined as unknown;
      const gate = () =>
        new Promise<void>((resolve) => {
          go = resolve;
        });
      server.script({
        steps: Array.from({ length: 60 }, () => [{ until: gate }, chunk({ content: 'x' })]).flat(),
      });
      const answer = respond({ ...ask, totalMsMax }).catch((error: unknown) => error);
      for (let count = 1; count <= pieces; count++) {
        await settle();
        clock.advance(4_200);
        go();
        while (heard.length < count) await settle();
      }
      clock.advance(4_200);
      expect(await answer).toMatchObject({ facts: { what: 'complete answer' } });
    },
  );

  it('takes an answer as complete though the connection breaks after its end', async () => {
    const afterText = new Promise<void>((resolve) => {
      onHeard = resolve;
    });
    server.script({
      steps: [chunk({ content: 'Hi.' }, 'stop'), { until: () => afterText }, 'reset'],
    });
    expect((await respond()).text).toBe('Hi.');
  });

  it('stores what a server does not support, and repeats the request without it', async () => {
    server.script(
      failure(400, {
        param: 'max_tokens',
        message: "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
      }),
      failure(400, { message: 'Unrecognized request argument: stream_options' }),
      says('Ok.'),
      says('Ok.'),
    );
    expect((await respond()).text).toBe('Ok.');
    await respond();
    expect(server.requests).toHaveLength(4);
    for (const { body } of server.requests.slice(2)) {
      expect(body).toMatchObject({ max_completion_tokens: 100 });
      expect(body).not.toHaveProperty('max_tokens');
      expect(body).not.toHaveProperty('stream_options');
    }
  });

  it('does not ask again for ever', async () => {
    server.otherwise(() =>
      failure(400, { message: 'max_completion_tokens stream_options temperature response_format' }),
    );
    await expect(respond().catch(codeOf)).resolves.toBe('LLM_REFUSED');
    expect(server.requests).toHaveLength(5);
  });

  it('speaks nothing after an abort, though it came already', async () => {
    const abort = new AbortController();
    server.script(says('One two three four.'));
    const outcome = model
      .respond(
        ask,
        {
          onText(delta) {
            heard += delta;
            abort.abort(new Error('stop'));
          },
        },
        abort.signal,
      )
      .catch((error: Error) => error.message);
    expect(await outcome).toBe('stop');
    expect(heard).toBe('One ');
  });
});
