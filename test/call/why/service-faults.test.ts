// Faults of speech services, models, tools and servers of the organization, injected into whole calls: who is blamed, where,
// and what the advice names. Models are real clients of a server on loopback where the fault is on the wire.

import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import {
  type FakeOpenAiServer,
  failure,
  startOpenAiServer,
} from '../../fakes/services/openai-server.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { chat, drinks, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { withToolsAnd } from '../session/tools-harness.ts';
import type { Stream } from '../stream.ts';
import { expectInjected, expectInjectedBeside } from './why-harness.ts';

const held = withCallHarness();
let server: FakeOpenAiServer;
let shop: RestServer;

beforeAll(async () => {
  server = await startOpenAiServer();
  shop = await startRestServer();
});
beforeEach(() => {
  shop.asked.length = 0;
  shop.answer = { status: 200, body: {} };
});
afterAll(() => Promise.all([server.close(), shop.close()]));

/** A call whose greeting was heard. */
async function greeted(content = chat, settings = {}) {
  const { harness } = held;
  await harness.prepare(content, settings);
  const call = await harness.inboundCall();
  await harness.heardOut(call.stream);
  return { harness, ...call };
}

function scripted(...answers: Answer[]): ScriptedModel {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = answers;
  harness.speech.llm = llm;
  return llm;
}

describe('a language model on the wire', () => {
  it.each([
    ['that refuses its key', 401, 'invalid_api_key', /key of openai/i],
    ['that is at its rate limit', 429, 'rate_limit_exceeded', /rate limit.*openai/i],
    ['whose account is used up', 429, 'insufficient_quota', /credit.*openai/i],
    ['that has no such model', 404, 'model_not_found', /settings of openai/i],
    ['that fails', 500, 'server_error', /status page of openai/i],
  ])('%s is the service to look at', async (_what, status, code, advice) => {
    const { harness } = held;
    const { clock, deps } = harness;
    const settings = { provider: 'openai', base_url: server.baseUrl, model: 'm', api_key: 'k' };
    const llm = openLanguageModel([settings as never], { clock, log: deps.log });
    harness.speech.llm = llm;
    server.otherwise(() => failure(status, { message: 'No.', code, type: code }));
    const { stream, run } = await greeted();
    const before = clock.now();
    await harness.says(stream, 'when do you open');
    await harness.passThrough(async () => (await harness.bodies(run, 'fault')).length > 0);
    const after = clock.now();
    stream.hangUp();
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    await expectInjected(harness, run, {
      party: 'service',
      node: 'Talk',
      service: 'openai',
      between: [before, after],
      advice,
    });
    await llm?.close();
  });
});

describe('a language model', () => {
  it('that stalls, and whose caller waits and leaves, is at fault, not the caller', async () => {
    const { harness } = held;
    scripted({ hangs: true });
    const { stream, run } = await greeted();
    const before = harness.clock.now();
    await harness.says(stream, 'when do you open');
    await harness.pass(7_000);
    const after = harness.clock.now();
    stream.hangUp();
    await expectInjected(harness, run, {
      party: 'service',
      node: 'Talk',
      service: 'scripted-model',
      between: [before, after],
      advice: /scripted-model/,
      summary: /waited \d{4} ms/,
    });
  });

  it('that fails until the agent gives up is at fault', async () => {
    scripted({ fails: 'LLM_FAILED' });
    const { harness, stream, run } = await greeted();
    const before = harness.clock.now();
    for (const words of ['when do you open', 'hello']) {
      await harness.says(stream, words);
      await harness.heardOut(stream);
    }
    await expectInjected(harness, run, {
      party: 'service',
      node: 'Talk',
      service: 'scripted-model',
      between: [before, harness.clock.now()],
      advice: /scripted-model/,
      summary: /twice/,
    });
  });

  it('that times out again and again is at fault', async () => {
    scripted({ fails: 'LLM_TIMEOUT' });
    const { harness, stream, run } = await greeted();
    for (const words of ['when do you open', 'hello']) {
      await harness.says(stream, words);
      await harness.heardOut(stream);
    }
    await expectInjected(harness, run, {
      party: 'service',
      service: 'scripted-model',
      node: 'Talk',
      advice: /faster model/,
      summary: /in time/,
    });
  });

  it('that fails and is replaced by another is named beside a good end', async () => {
    const { harness } = held;
    const { clock, deps } = harness;
    const bad = new ScriptedModel(clock);
    bad.answers = [{ fails: 'LLM_FAILED' }];
    Object.assign(bad, { name: 'first-model' });
    const good = new ScriptedModel(clock);
    good.answers = [{ say: ['At nine.'] }, { say: ['Goodbye.'], call: 'finish' }];
    const service = (model: ScriptedModel) => ({
      model,
      circuit: new CircuitBreaker({ clock, job: 'llm', service: model.name }),
    });
    const onChanged = (change: never) => harness.speech.onServiceChanged?.(change);
    harness.speech.llm = new FallbackModel({
      services: [service(bad), service(good)],
      clock,
      log: deps.log,
      onChanged: onChanged as never,
    });
    const { stream, run } = await greeted();
    for (const words of ['when do you open', 'that was all']) {
      await harness.says(stream, words);
      await harness.heardOut(stream);
    }
    const why = await expectInjectedBeside(harness, run, {
      party: 'service',
      service: 'first-model',
      node: 'Talk',
      advice: /first-model.*scripted-model/s,
    });
    if (why.party !== 'nobody') throw new Error(why.summary);
  });
});

describe('a voice', () => {
  const fails = async (error: () => Error) => {
    const { harness } = held;
    const synthesize = harness.tts.synthesize.bind(harness.tts);
    scripted({ say: ['We open at nine.'] });
    const call = await greeted();
    harness.tts.synthesize = () => Promise.reject(error());
    const before = harness.clock.now();
    await harness.says(call.stream, 'when do you open');
    await harness.pass(3_000);
    await harness.says(call.stream, 'hello');
    await harness.pass(3_000);
    const after = harness.clock.now();
    if (call.stream.open) call.stream.hangUp();
    harness.tts.synthesize = synthesize;
    await harness.ended(call.run);
    return { ...call, between: [before, after] as const };
  };

  it('that is down is at fault', async () => {
    const { harness, run, between } = await fails(
      () => new ServiceFault('tts', 'acme-voice', 'network', { detail: 'refused' }),
    );
    await expectInjected(harness, run, {
      party: 'service',
      node: 'Talk',
      service: 'acme-voice',
      between,
      advice: /acme-voice/,
      summary: /voice/,
    });
  });

  it('that stalls is at fault', async () => {
    const { harness, run, between } = await fails(
      () => new ServiceFault('tts', 'acme-voice', 'timeout', { detail: 'no audio in 3000 ms' }),
    );
    await expectInjected(harness, run, {
      party: 'service',
      service: 'acme-voice',
      between,
      advice: /acme-voice/,
      summary: /in time/,
    });
  });

  it('without a classified error is named by the settings of the run', async () => {
    const { harness, run } = await fails(() => new GatewayError('TTS_FAILED', { reason: 'x' }));
    await expectInjected(harness, run, {
      party: 'service',
      service: 'fake',
      advice: /fake/,
      summary: /voice/,
    });
  });
});

describe('a recogniser', () => {
  const dies = async (error: GatewayError) => {
    const { harness } = held;
    let fail: (fault: GatewayError) => void = () => undefined;
    const open = harness.stt.open.bind(harness.stt);
    harness.stt.open = (expectation, listener) => {
      fail = (fault) => listener.onError(fault);
      return open(expectation, listener);
    };
    const call = await greeted(drinks);
    const before = harness.clock.now();
    fail(error);
    await harness.pass(200);
    const after = harness.clock.now();
    return { ...call, between: [before, after] as const };
  };
  const leave = async (stream: Stream): Promise<void> => {
    const { harness } = held;
    await harness.says(stream, 'tea');
    await harness.pass(4_000);
    stream.hangUp();
  };

  it('that is down is at fault when the caller is not understood and leaves', async () => {
    const fault = new ServiceFault('stt', 'acme-ears', 'network', { detail: 'reset' });
    const { harness, stream, run, between } = await dies(fault);
    await leave(stream);
    await expectInjected(harness, run, {
      party: 'service',
      node: 'Ask',
      service: 'acme-ears',
      between,
      advice: /acme-ears/,
      summary: /recogniser/,
    });
  });

  it('that refuses its key is at fault', async () => {
    const fault = new ServiceFault('stt', 'acme-ears', 'auth', { detail: 'bad key', status: 401 });
    const { harness, stream, run, between } = await dies(fault);
    await leave(stream);
    await expectInjected(harness, run, {
      party: 'service',
      service: 'acme-ears',
      between,
      advice: /key of acme-ears/,
    });
  });
});

describe('a tool', () => {
  const order = (more = {}) => ({
    name: 'Find order',
    definition: {
      type: 'http_api',
      config: { method: 'GET', url: `${shop.url}/orders`, parameters: [], ...more },
    },
  });

  /** A call in which the agent asks for the order, says `reply`, and the caller leaves. */
  async function leftAfterOrder(tool: ReturnType<typeof order>, reply: string) {
    scripted({ call: 'find_order' }, { say: [reply] });
    const { harness } = held;
    await withToolsAnd(harness, { filler_delay_seconds: 0 }, tool);
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const before = harness.clock.now();
    await harness.says(stream, 'where is my order');
    await harness.passThrough(
      async () => (await harness.bodies(run, 'function.returned')).length > 0,
    );
    const between: [number, number] = [before, harness.clock.now()];
    await harness.heardOut(stream);
    stream.hangUp();
    return { harness, run, between };
  }
  const expected = {
    party: 'service',
    node: 'Talk',
    tool: 'find_order',
    advice: /find_order/,
  } as const;

  it('whose server fails is at fault when the caller leaves', async () => {
    shop.answer = { status: 503, body: { error: 'maintenance' } };
    const { harness, run, between } = await leftAfterOrder(order(), 'I cannot look that up.');
    await expectInjected(harness, run, { ...expected, between, summary: /503/ });
  });

  it('that does not answer in time is at fault', async () => {
    shop.answer = 'hang';
    const tool = order({ timeout_ms: 2_000 });
    const { harness, run, between } = await leftAfterOrder(tool, 'That takes too long.');
    await expectInjected(harness, run, { ...expected, between, summary: /in time/ });
  });
});

it('a server of variables before the call that fails is named beside the end', async () => {
  shop.answer = { status: 500, body: {} };
  const first = start('talk', {
    name: 'Talk',
    greeting: 'Hello.',
    pre_call_fetch_mode: 'always',
    pre_call_fetch_url: `${shop.url}/lookup`,
  });
  const { harness } = held;
  await harness.prepare(definition([first, end('bye')], [edge('talk', 'bye')]));
  const { stream, run } = await harness.inboundCall();
  await harness.passThrough(async () => (await harness.bodies(run, 'fault')).length > 0);
  await harness.heardOut(stream);
  stream.hangUp();
  await expectInjectedBeside(harness, run, {
    party: 'service',
    advice: /pre_call_fetch_url/,
    summary: /status 500/,
  });
});
