// A conversation that is longer than a model takes. The refusals are those of the services: issues of their clients
// that quote them, and the API references of OpenAI, Anthropic and Gemini.

import { afterEach, describe, expect, it } from 'vitest';
import type { LlmMessage } from '../../../src/model/llm-message.ts';
import { llmServices } from '../../../src/model/speech-services/services.ts';
import { LanguageModels } from '../../../src/speech/language-models.ts';
import { serviceFault } from '../../../src/speech/llm/client/service-error.ts';
import {
  FallbackModel,
  historyCharacters,
  newestTurns,
  shortenedHistory,
} from '../../../src/speech/llm/fallback.ts';
import type { LanguageModel, LlmRequest } from '../../../src/speech/llm/llm.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { openLanguageModel, openModel } from '../../../src/speech/vendors/llm-registry.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import type { ScriptedServer } from '../../fakes/scripted-server.ts';
import {
  says as anthropicSays,
  startAnthropicServer,
} from '../../fakes/services/anthropic-server.ts';
import { says as geminiSays, startGeminiServer } from '../../fakes/services/gemini-server.ts';
import { failure, says, startOpenAiServer } from '../../fakes/services/openai-server.ts';
import { ask } from './model-history.ts';

const KEY = 'k-test-do-not-show';
const CONTEXT_TOKENS = 1_000;
const never = new AbortController().signal;
const { log } = quietLog();
const clock = new FakeClock();
const deaf = { onText: () => undefined };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** So many turns of 110 characters, in the last of which the model goes on after a tool. */
function conversation(
  turns: number,
  system = 'You answer the phone.',
  result = 'It is done.',
): LlmRequest {
  const messages: LlmMessage[] = [{ role: 'system', content: system }];
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: `Turn ${turn}: ${'word '.repeat(10)}` });
    messages.push({ role: 'assistant', content: 'And so on. '.repeat(4), toolCalls: [] });
  }
  const call = { id: 'call12345', name: 'end_call', arguments: {} };
  messages.push(
    { role: 'user', content: 'The last words.' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', callId: call.id, content: result },
  );
  return { ...ask, messages };
}

interface Served {
  server: ScriptedServer;
  model: LanguageModel;
}

const protocols: Record<string, () => Promise<Served>> = {
  async openai() {
    const server = await startOpenAiServer(undefined, CONTEXT_TOKENS);
    server.otherwise(() => says('Good.'));
    return { server, model: opened('openai', server.baseUrl) };
  },
  async anthropic() {
    const server = await startAnthropicServer(KEY, CONTEXT_TOKENS);
    server.otherwise(() => anthropicSays('Good.'));
    return { server, model: opened('anthropic', server.baseUrl) };
  },
  async google() {
    const server = await startGeminiServer(KEY, CONTEXT_TOKENS);
    server.otherwise(() => geminiSays('Good.'));
    return { server, model: opened('google', server.betaUrl) };
  },
};

function opened(provider: 'openai' | 'anthropic' | 'google', baseUrl: string): LanguageModel {
  const row = llmServices[provider].parse({ provider, api_key: KEY, base_url: baseUrl });
  return openModel(row, false, { clock, log });
}

function callOf(...models: LanguageModel[]) {
  const services = models.map((model) => ({
    model,
    circuit: new CircuitBreaker({ clock, job: 'llm', service: model.name }),
  }));
  const reported: ServiceFault[] = [];
  const onPermanentFault = (fault: ServiceFault): void => void reported.push(fault);
  const call = (): FallbackModel => new FallbackModel({ services, clock, log, onPermanentFault });
  return { call, circuits: services.map(({ circuit }) => circuit), reported };
}

describe.each(Object.entries(protocols))('a conversation that is too long for %s', (_, start) => {
  async function started(): Promise<Served> {
    const { server, model } = await start();
    closing.push(
      () => model.close(),
      () => server.close(),
    );
    return { server, model };
  }

  it('is answered without its oldest turns, and is no fault', async () => {
    const { server, model } = await started();
    const { call, circuits, reported } = callOf(model);
    const answer = await call().respond(conversation(60), deaf, never);
    expect(answer.text.trim()).toBe('Good.');
    const taken = JSON.stringify(server.requests.at(-1)?.body);
    expect(taken).toContain('You answer the phone.');
    expect(taken).toContain('Turn 59');
    expect(taken).toContain('The last words.');
    expect(taken).not.toContain('Turn 0:');
    expect([circuits[0]?.state, reported]).toEqual(['closed', []]);
  });

  it('is shortened before it is asked in the rest of the call', async () => {
    const { server, model } = await started();
    const call = callOf(model).call();
    await call.respond(conversation(60), deaf, never);
    const asked = server.requests.length;
    expect(asked).toBeGreaterThan(1);
    await call.respond(conversation(61), deaf, never);
    expect(server.requests).toHaveLength(asked + 1);
  });

  it('is answered with the begin and the end of a result that alone is longer', async () => {
    const { server, model } = await started();
    const { call, circuits, reported } = callOf(model);
    const result = `BEGIN ${'datum '.repeat(2_500)}END`;
    const long = conversation(3, undefined, result);
    const fallback = call();
    const answer = await fallback.respond(long, deaf, never);
    expect(answer.text.trim()).toBe('Good.');
    const taken = JSON.stringify(server.requests.at(-1)?.body);
    expect(taken).toContain('The last words.');
    expect(taken).toMatch(/BEGIN datum .*characters left out here.* datum END/);
    expect([circuits[0]?.state, reported]).toEqual(['closed', []]);
    // In the rest of the call it is shortened before the model is asked.
    server.requests.length = 0;
    await fallback.respond(long, deaf, never);
    expect(server.requests).toHaveLength(1);
  });

  it('goes to the next model where no history makes it short enough, and stops no other call', async () => {
    const { server, model } = await started();
    const other = await startOpenAiServer();
    other.otherwise(() => says('Good.'));
    const next = opened('openai', other.baseUrl);
    closing.push(
      () => next.close(),
      () => other.close(),
    );
    const { call, circuits, reported } = callOf(model, next);
    const long = conversation(60, 'Be kind. '.repeat(1_000));
    for (let nth = 0; nth < 4; nth++) {
      expect((await call().respond(long, deaf, never)).answeredBy?.service).toBe('openai');
    }
    expect(other.requests).toHaveLength(4);
    expect(JSON.stringify(other.requests[0]?.body)).toContain('Turn 0:');
    expect(circuits[0]?.state).toBe('closed');
    expect(reported.map(({ kind }) => kind)).toEqual(Array(4).fill('context'));
    server.requests.length = 0;
    await call().respond(ask, deaf, never);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the words for a conversation that is too long', () => {
  it.each([
    [400, { code: 'context_length_exceeded', message: 'Please reduce the length.' }],
    [
      400,
      { message: "This model's maximum context length is 65536 tokens. However, you requested" },
    ],
    [400, { message: 'Your input exceeds the context window of this model.' }],
    [400, { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' }],
    [
      400,
      { message: 'input length and `max_tokens` exceed context limit: 198981 + 21333 > 200000' },
    ],
    [
      400,
      { message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' },
    ],
    [
      400,
      { type: 'exceed_context_size_error', message: 'request (9 tokens) exceeds the available' },
    ],
    [
      400,
      { message: "This model's maximum prompt length is 131072 but the request contains 537812" },
    ],
    [
      400,
      { message: 'Prompt contains 9 tokens, too large for model with 8 maximum context length' },
    ],
    [400, { message: 'invalid params, context window exceeds limit' }],
    [
      413,
      {
        code: 'rate_limit_exceeded',
        message: 'Request too large: please reduce your message size',
      },
    ],
    [422, { message: '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000' }],
    [undefined, { code: 400, message: "This endpoint's maximum context length is 131072 tokens." }],
  ])('are known (%s, %j)', (status, error) => {
    const refusal = status && { status, retryAfter: undefined, now: 0 };
    const fault = serviceFault({ service: 's', apiKey: undefined }, error, refusal || undefined);
    expect([fault.kind, fault.code, fault.retry]).toEqual(['context', 'LLM_REFUSED', false]);
  });

  it.each([
    [400, { message: 'Unrecognized request argument supplied: foo' }, 'request'],
    [400, { message: 'max_tokens: 9000 > 8192, which is the maximum allowed' }, 'request'],
    [429, { message: 'Rate limit reached: please reduce the length of the messages' }, 'rate'],
    [404, { message: 'no model with a maximum context length of 9' }, 'request'],
  ])('are not those of other refusals (%s, %j)', (status, error, kind) => {
    const refusal = { status, retryAfter: undefined, now: 0 };
    expect(serviceFault({ service: 's', apiKey: undefined }, error, refusal).kind).toBe(kind);
  });

  it('teach the client no other request: they name fields that are not at fault', async () => {
    const server = await startOpenAiServer();
    const model = opened('openai', server.baseUrl);
    closing.push(
      () => model.close(),
      () => server.close(),
    );
    const message =
      "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context length is 4096 tokens and your request has 4050 input tokens. None";
    server.script(failure(400, { message, type: 'BadRequestError', code: 400 }), says('Good.'));
    await model.respond(ask, deaf, never).catch(() => undefined);
    expect(server.requests).toHaveLength(1);
    await model.respond(ask, deaf, never);
    const [first, second] = server.requests.map(({ body }) => Object.keys(body));
    expect(second).toEqual(first);
  });
});

describe("the gateway's own model", () => {
  it('shortens the history of one call, and of no other', async () => {
    const server = await startOpenAiServer(undefined, CONTEXT_TOKENS);
    server.otherwise(() => says('Good.'));
    const row = llmServices.openai.parse({
      provider: 'openai',
      api_key: KEY,
      base_url: server.baseUrl,
    });
    const gateway = openLanguageModel([row], { clock, log });
    const models = new LanguageModels(gateway, { clock, log, egress: openSignUpEgress() });
    closing.push(
      () => models.close(),
      () => server.close(),
    );
    await models.of([])?.respond(conversation(60), deaf, never);
    server.requests.length = 0;
    // Longer than what the first call is asked with from then on.
    await models.of([])?.respond(conversation(18), deaf, never);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('Turn 0:');
  });
});

describe('the newest turns of a history', () => {
  it('begin with the words of the caller, and keep results with their calls', () => {
    const { messages } = conversation(10);
    for (let charactersMax = 0; charactersMax < 1_500; charactersMax += 7) {
      const kept = newestTurns(messages, charactersMax) ?? messages;
      const [system, first] = kept;
      expect([system?.role, first?.role]).toEqual(['system', 'user']);
      expect(kept.slice(-3)).toEqual(messages.slice(-3));
      const isLastTurn = kept.length === 4;
      expect(isLastTurn || historyCharacters(kept) <= charactersMax).toBe(true);
    }
  });

  it('are all of them where they are short enough, and where there is one turn only', () => {
    const { messages } = conversation(2);
    expect(newestTurns(messages, 100_000)).toBeUndefined();
    expect(newestTurns(ask.messages, 0)).toBeUndefined();
  });

  it('have shortened results where the last turn alone is too long, the longest ones first', () => {
    const results = (...lengths: number[]): LlmMessage[] => [
      { role: 'user', content: 'u'.repeat(100) },
      ...lengths.map(
        (length, nth): LlmMessage => ({
          role: 'tool',
          callId: `${nth}`,
          content: 'r'.repeat(length),
        }),
      ),
    ];
    const lengthsOf = (messages: readonly LlmMessage[] | undefined) =>
      messages?.slice(1).map(({ content }) => content.length);
    expect(lengthsOf(shortenedHistory(results(4_000, 400, 2_000), 2_500))).toEqual([
      1_000, 400, 1_000,
    ]);
    expect(lengthsOf(shortenedHistory(results(4_000, 400, 2_000), 4_500))).toEqual([
      2_000, 400, 2_000,
    ]);
    expect(lengthsOf(shortenedHistory(results(4_000, 2_000), 100))).toEqual([300, 300]);
    expect(shortenedHistory(results(4_000), 4_100)).toBeUndefined();
    expect(shortenedHistory(results(300, 200), 100)).toBeUndefined();
    expect(shortenedHistory([{ role: 'user', content: 'u'.repeat(100) }], 10)).toBeUndefined();
  });

  it('are fewer also where the last turn is too long for it and has nothing that can be shortened', () => {
    const { messages } = conversation(10);
    expect(shortenedHistory(messages, 10)).toEqual(newestTurns(messages, 10));
    expect(newestTurns(messages, 10)).toHaveLength(4);
  });

  it('have no half of a surrogate pair where a result is cut', () => {
    for (let more = 0; more < 4; more++) {
      const content = `${'x'.repeat(more)}${'\u{1F600}'.repeat(1_000)}`;
      const messages: LlmMessage[] = [{ role: 'tool', callId: '1', content }];
      const [cut] = shortenedHistory(messages, 1_001) ?? [];
      expect(cut?.content).toMatch(/left out here/);
      expect(cut?.content).not.toMatch(/\p{Surrogate}/u);
      expect(cut?.content.length).toBeLessThanOrEqual(1_001);
    }
  });
});
