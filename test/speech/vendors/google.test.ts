import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { createGemini } from '../../../src/speech/vendors/google.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import type { Step } from '../../fakes/scripted-server.ts';
import {
  callPart,
  chunk,
  event,
  type FakeGeminiServer,
  refused,
  says,
  signatureOf,
  startGeminiServer,
} from '../../fakes/services/gemini-server.ts';
import { capturedRequest, SDK_QUESTION, sdkRequest } from '../captured-request.ts';
import { languageModelContract, type ModelUnderTest } from '../llm/llm-contract.ts';
import { afterTools, ask, foreignCalls, oddlyNamed } from '../llm/model-history.ts';

const KEY = 'AIza-do-not-show';
const never = new AbortController().signal;

async function start(): Promise<ModelUnderTest> {
  const server = await startGeminiServer(KEY);
  const clock = new FakeClock();
  const { log, lines } = quietLog('trace');
  const baseUrl = server.betaUrl;
  const model = createGemini({ baseUrl, apiKey: KEY, model: 'gemini-3.5-flash', clock, log });
  return {
    model,
    clock,
    key: KEY,
    lines,
    next: {
      says: (text) => server.script(says(text)),
      calls: (name, args) => server.script({ steps: [chunk([callPart(name, args)], 'STOP')] }),
      breaksOff: (text, ...then) => server.script({ steps: [chunk([{ text }]), ...then] }),
      refusesCredentials: () => server.script(refused(401, 'UNAUTHENTICATED', `Bad ${KEY}`)),
      isEmpty: () => server.script({ steps: [chunk([], 'STOP')] }),
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

languageModelContract('gemini', start, {
  umlauts: [chunk([{ text: 'Grüße. ' }]), chunk([callPart('x', { u: 'ü' })], 'STOP')] as string[],
  events: [chunk([{ text: 'Hi' }]), chunk([callPart('x', {})], 'STOP')] as string[],
  shaped: fc.jsonValue().map((parts) => event({ candidates: [{ content: { parts } }] })),
});

describe('gemini', () => {
  let server: FakeGeminiServer;
  let quiet: ReturnType<typeof quietLog>;
  let heard: string;
  const listener = {
    onText(delta: string) {
      heard += delta;
    },
  };
  const opened: LanguageModel[] = [];
  const open = (name = 'gemini-3.5-flash', apiKey = KEY): LanguageModel => {
    const means = { clock: new FakeClock(), log: quiet.log };
    const model = createGemini({ baseUrl: server.betaUrl, apiKey, model: name, ...means });
    opened.push(model);
    return model;
  };
  const respond = (request = ask, model = open()) => model.respond(request, listener, never);
  const script = (...steps: Step[]) => server.script({ steps });

  beforeEach(async () => {
    server = await startGeminiServer(KEY);
    quiet = quietLog('trace');
    heard = '';
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((model) => model.close()));
    await server.close();
  });

  it('sends what the vendor’s own SDK sends', async () => {
    server.script(says('Ok.'));
    await respond({ ...SDK_QUESTION, temperature: 0.2 });
    const [sent] = server.requests;
    if (sent === undefined) throw new Error('no request');
    const { path: url, headers, body } = sent;
    const names = ['x-goog-api-key', 'content-type'];
    const own = capturedRequest({ url, headers }, { key: KEY, headers: names, messages: [body] });
    const sdk = sdkRequest('gemini/stream-generate-content');
    const thinkingConfig = { thinkingLevel: 'MINIMAL' };
    const generationConfig = { temperature: 0.2, maxOutputTokens: 300, thinkingConfig };
    expect(own).toEqual({ ...sdk, messages: [{ ...sdk.messages[0], generationConfig }] });
  });

  it('sends system prompt, functions and the conversation, with a placeholder for a foreign call', async () => {
    server.script(says('Ok.'));
    await respond(foreignCalls);
    const result = (name: string) => {
      return { functionResponse: { name, response: { result: 'It is done.' } } };
    };
    expect(server.requests[0]?.path).toBe(
      '/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    );
    expect(server.requests[0]?.body).toEqual({
      systemInstruction: { parts: [{ text: 'You answer the phone.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hello?' }] },
        {
          role: 'model',
          parts: [
            { text: 'One moment.' },
            {
              functionCall: { name: 'find', args: { what: 'a' } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
            { functionCall: { name: 'find', args: { what: 'b' } } },
          ],
        },
        { role: 'user', parts: [result('find'), result('find')] },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'end_call', description: 'Hangs up', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      generationConfig: {
        temperature: 0.2,
        maxOutputTokens: 100,
        thinkingConfig: { thinkingLevel: 'MINIMAL' },
      },
    });
  });

  // An edge "2nd appointment" or "24h service" made the service refuse every request of its step.
  it.each(['2nd_appointment', 'a'.repeat(65)])(
    'calls functions by the name of their author: %s',
    async (label) => {
      server.script(says('Ok.'));
      await respond(oddlyNamed(label));
      const [tool] = Object(server.requests[0]?.body['tools']);
      const { name } = tool.functionDeclarations[0];
      script(chunk([callPart(name, {})], 'STOP'));
      const answer = await respond(oddlyNamed(label));
      expect(answer.toolCalls).toMatchObject([{ name: label, arguments: {} }]);
      server.script(says('Done.'));
      expect((await respond(afterTools(answer))).text).toBe('Done.');
    },
  );

  it('returns the signature of a function call on the same part, for its own family alone', async () => {
    const second = { functionCall: { name: 'note', args: {}, id: 'g2' } };
    script(
      chunk([{ text: 'Hm', thought: true }, { text: 'So. ' }]),
      chunk([callPart('find', { a: 1 }), second], 'STOP'),
    );
    const answer = await respond();
    expect(heard).toBe('So. ');
    expect(answer).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [{ name: 'find' }, { id: 'g2' }],
    });
    server.otherwise(() => says('Done.'));
    await respond(afterTools(answer));
    await respond(afterTools(answer), open('gemini-3.5-flash-preview-09'));
    await respond(afterTools(answer), open('gemini-4-argon'));
    const [own, alias, other] = server.requests
      .slice(1)
      .map(({ body }) => JSON.stringify(body['contents']));
    expect(own).toContain(`"thoughtSignature":"${signatureOf('find')}"`);
    expect(own).toContain('"functionResponse":{"name":"note","id":"g2"');
    expect(alias).toBe(own);
    expect(other).toContain('skip_thought_signature_validator');
    expect(other).not.toContain('g2');
  });

  it('returns the signature of a text with the text', async () => {
    script(chunk([{ text: 'So. ' }]), chunk([{ text: '', thoughtSignature: 'sig' }], 'STOP'));
    const answer = await respond();
    server.script(says('Done.'));
    await respond({
      ...ask,
      messages: [...afterTools(answer).messages, { role: 'user', content: 'Yes' }],
    });
    expect(server.requests[1]?.body['contents']).toMatchObject([
      {},
      { parts: [{ text: 'So.', thoughtSignature: 'sig' }] },
      {},
    ]);
  });

  it('sets the least thinking of each family', async () => {
    server.otherwise(() => says('Ok.'));
    const names = [
      'gemini-2.5-flash',
      'gemini-2.0-flash',
      'gemini-3.7-flash',
      'gemini-3.8-flash',
      'gemini-4-argon',
    ];
    for (const name of names) await respond(ask, open(name));
    const sent = server.requests.map(({ body }) => Object(body['generationConfig']).thinkingConfig);
    expect(sent).toEqual([
      { thinkingBudget: 0 },
      undefined,
      { thinkingLevel: 'LOW' },
      { thinkingLevel: 'MINIMAL' },
      { thinkingLevel: 'LOW' },
    ]);
  });

  it('stores that a model has no field for thinking', async () => {
    const reason = 'Thinking level is not supported for this model.';
    server.script(refused(400, 'INVALID_ARGUMENT', reason), says('Ok.'));
    expect((await respond()).text).toBe('Ok.');
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('thinkingConfig');
  });

  it('asks for an object by its type', async () => {
    script(chunk([{ text: '{"name": ' }]), chunk([{ text: '"Ana"}' }], 'STOP'));
    expect((await respond({ ...ask, json: true, tools: [] })).text).toBe('{"name": "Ana"}');
    expect(server.requests[0]?.body['generationConfig']).toMatchObject({
      responseMimeType: 'application/json',
    });
  });

  it('counts tokens by the last chunk, thoughts with the answer', async () => {
    server.script(says('Hi there.'));
    expect((await respond()).usage).toEqual({
      promptTokens: 12,
      completionTokens: 8,
      cachedTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 3,
    });
  });

  it.each([
    [400, 'INVALID_ARGUMENT', [], 'LLM_REFUSED', 'request'],
    [400, 'INVALID_ARGUMENT', [{ reason: 'API_KEY_INVALID' }], 'LLM_AUTH', 'auth'],
    [403, 'PERMISSION_DENIED', [], 'LLM_REFUSED', 'forbidden'],
    [404, 'NOT_FOUND', [], 'LLM_REFUSED', 'request'],
    [429, 'RESOURCE_EXHAUSTED', [{ retryDelay: '3s' }], 'LLM_RATE', 'rate'],
    [500, 'INTERNAL', [], 'LLM_FAILED', 'overload'],
    [503, 'UNAVAILABLE', [], 'LLM_FAILED', 'overload'],
  ])('maps status %i, %s, %j to %s', async (status, name, details, code, kind) => {
    server.script(refused(status, name, 'Because.', details));
    const thrown = await respond().catch((each: unknown) => each);
    expect(thrown).toMatchObject({ code, kind, detail: 'Because.' });
    if (kind === 'rate') expect(thrown).toMatchObject({ retryAfterMs: 3_000 });
  });

  it('ends with an error that comes after status 200, alone or in a list', async () => {
    const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } };
    script(chunk([{ text: 'We' }]), event(error));
    await expect(respond()).rejects.toMatchObject({ code: 'LLM_FAILED', kind: 'overload' });
    script(JSON.stringify([error]));
    await expect(respond()).rejects.toMatchObject({ code: 'LLM_FAILED', kind: 'overload' });
  });

  it.each<[string, Step[], string]>([
    ['thoughts only', [chunk([{ text: 'Hm', thought: true }], 'STOP')], 'LLM_EMPTY'],
    ['SAFETY', [chunk([], 'SAFETY')], 'LLM_REFUSED'],
    ['a blocked prompt', [event({ promptFeedback: { blockReason: 'SAFETY' } })], 'LLM_REFUSED'],
    ['MALFORMED_FUNCTION_CALL', [chunk([], 'MALFORMED_FUNCTION_CALL')], 'LLM_MALFORMED'],
    ['another shape', [event({ candidates: 1 })], 'LLM_MALFORMED'],
  ])('rejects %s', async (_what, steps, code) => {
    script(...steps);
    await expect(respond().catch(codeOf)).resolves.toBe(code);
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'filtered'],
    ['MALFORMED_FUNCTION_CALL', 'malformed-tool'],
    ['OTHER', 'other'],
  ])('says how a text ended: %s is %s', async (reason, finish) => {
    script(chunk([{ text: 'Hi.' }], reason));
    expect((await respond()).finishReason).toBe(finish);
  });
});
