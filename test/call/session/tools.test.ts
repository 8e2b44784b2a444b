// Tools in whole calls: the model is a server that speaks chat completions, what the tools ask is a
// server on loopback, and so is Twilio. Source: contract §8.4, §8.7, §8.9, §8.10.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { feedbackItems } from '../../../src/call/events/realtime-feedback.ts';
import { credentialHeadersFrom } from '../../../src/call/session/dialogue/tool-request.ts';
import { createGuardedHttp } from '../../../src/egress/guarded-http.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import { deferred } from '../../fakes/deferred.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import {
  calls,
  type FakeOpenAiServer,
  says,
  startOpenAiServer,
} from '../../fakes/services/openai-server.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { type CallHarness, twilioAnswers, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import { type ToolSpec, withTools, withToolsAnd } from './tools-harness.ts';

const at = withCallHarness();
let shop: RestServer;
let model: FakeOpenAiServer;

beforeAll(async () => {
  shop = await startRestServer();
  model = await startOpenAiServer();
});
beforeEach(() => {
  shop.asked.length = 0;
  shop.answer = { status: 200, body: { total: 12.5 } };
  model.requests.length = 0;
});
afterAll(async () => {
  await Promise.all([shop.close(), model.close()]);
});

const orderTool = (more = {}): ToolSpec => ({
  name: 'Find order',
  definition: {
    type: 'http_api',
    config: {
      method: 'GET',
      url: `${shop.url}/orders/{{id}}`,
      parameters: [{ name: 'id', type: 'string', description: 'Number' }],
      customMessage: 'One moment, {{caller_number}}.',
      ...more,
    },
  },
});
const calculatorTool: ToolSpec = { name: 'Sums', definition: { type: 'calculator' } };
const transferTool = (more = {}): ToolSpec => ({
  name: 'Front desk',
  definition: {
    type: 'transfer_call',
    config: {
      destination: '+14155550199',
      messageType: 'custom',
      customMessage: 'I put you through now.',
      timeout: 20,
      ...more,
    },
  },
});
const endTool: ToolSpec = {
  name: 'Hang up',
  definition: { type: 'end_call', config: { endCallReason: true } },
};

const offered = z.object({
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })),
});

/** The servers answer in real time, and the clock is a fake: on a busy machine that would be a wait to explain. */
const NO_FILLER = { filler_delay_seconds: 0 };

async function withModel(answers: Answer[], ...specs: ToolSpec[]) {
  const llm = new ScriptedModel(at.harness.clock);
  llm.answers = answers;
  at.harness.speech.llm = llm;
  const harness = await withToolsAnd(at.harness, NO_FILLER, ...specs);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'please');
  return { harness, llm, stream, run };
}

const results = (llm: ScriptedModel) =>
  llm.spoken
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'tool' ? [JSON.parse(message.content)] : []));
const saidAtLast = (harness: CallHarness) => harness.tts.asked.at(-1);

describe('a call in which the model uses tools', () => {
  it('requests data from another system, computes a sum, and transfers the caller', async () => {
    const { harness } = at;
    const credential = await harness.at.store.credentials.create(harness.at.owner, {
      name: 'Shop',
      description: null,
      type: 'bearer_token',
      data: { token: 'of-the-shop' },
    });
    harness.deps.http.credentialHeaders = credentialHeadersFrom(harness.at.store);
    const { clock, log } = harness.deps;
    const server = { provider: 'openai' as const, base_url: model.baseUrl, model: 'm' };
    harness.speech.llm = openLanguageModel([{ ...server, api_key: 'k' }], { clock, log });
    model.script(
      calls('find_order', { id: 'A 7' }, { id: 'call_1' }),
      calls('safe_calculator', { expression: '12.5 * 2' }, { id: 'call_2' }),
      says('That makes twenty five dollars.'),
      calls('front_desk', {}, { id: 'call_3' }),
    );
    await withToolsAnd(
      at.harness,
      NO_FILLER,
      orderTool({ credential_uuid: credential.uuid }),
      calculatorTool,
      transferTool(),
    );
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'what do two of order seven cost');
    await harness.passThrough(() => model.requests.length === 3);
    await harness.passThrough(() => saidAtLast(harness) === 'That makes twenty five dollars.');
    await harness.heardOut(stream);
    await harness.says(stream, 'let me talk to somebody');
    await harness.passThrough(() =>
      harness.rest.asked.some(({ body }) => body.startsWith('Twiml=')),
    );
    const done = await harness.ended(run);
    await harness.speech.llm?.close();

    expect(shop.asked).toMatchObject([
      {
        method: 'GET',
        path: '/orders/A%207?id=A%207',
        headers: { authorization: 'Bearer of-the-shop' },
      },
    ]);
    const { tools } = offered.parse(model.requests[0]?.body);
    const names = tools.map((tool) => tool.function.name);
    expect(names).toEqual(['find_order', 'safe_calculator', 'front_desk', 'finish']);
    expect(harness.tts.asked).toContain('One moment, +14155550100.');
    const transfer = new URLSearchParams(harness.rest.asked.at(-1)?.body).get('Twiml');
    expect(transfer).toMatch(/<Number [^>]*>\+14155550199<\/Number>/);
    expect(transfer).toContain('timeout="20"');
    expect(transfer).toContain('callerId="+14155550101"');

    expect(done.disposition).toBe('transfer_call');
    expect(harness.hangUps).toEqual([]);
    expect(await harness.transcript(done)).toEqual([
      'assistant: Hello.',
      'user: what do two of order seven cost',
      'assistant: One moment, +14155550100.',
      'assistant: That makes twenty five dollars.',
      'user: let me talk to somebody',
      'assistant: I put you through now.',
    ]);
    const items = feedbackItems(await harness.events(run)).filter(({ type }) =>
      type.startsWith('rtf-function'),
    );
    expect(items.map(({ type, payload }) => [type, payload['function_name']])).toEqual([
      ['rtf-function-call-start', 'find_order'],
      ['rtf-function-call-end', 'find_order'],
      ['rtf-function-call-start', 'safe_calculator'],
      ['rtf-function-call-end', 'safe_calculator'],
      ['rtf-function-call-start', 'front_desk'],
      ['rtf-function-call-end', 'front_desk'],
    ]);
    expect(items[1]?.payload['result']).toBe(
      '{"status":"success","status_code":200,"data":{"total":12.5}}',
    );
    expect(items[3]?.payload['result']).toBe('{"expression":"12.5 * 2","result":25}');
    expect(items[5]?.payload['result']).toContain('transfer_success');
    expect(JSON.stringify(harness.lines)).not.toContain('of-the-shop');
    expect(harness.errors).toEqual([]);
  });

  it('is ended by the tool for it, with the reason as its disposition', async () => {
    const answers = [{ say: ['Goodbye.'], call: 'hang_up', given: { reason: 'not_interested' } }];
    const { harness, stream, run } = await withModel(answers, endTool);
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('not_interested');
    expect(done.gatheredContext).toMatchObject({
      call_disposition: 'not_interested',
      mapped_call_disposition: 'not_interested',
      call_status: 'end_call_tool',
      call_tags: ['not_interested', 'user_speech', 'end_call_tool'],
    });
    expect(harness.hangUps).toHaveLength(1);
  });
});

/** The model has called, and the request has arrived. */
async function requested(harness: CallHarness, llm: ScriptedModel): Promise<void> {
  await harness.passUntil(() => llm.spoken.length === 1);
  await harness.pass(60);
  await harness.until(() => shop.asked.length === 1);
}

describe('a tool', () => {
  const asks: Answer = { call: 'find_order', given: { id: '1' } };

  it('that gets no reply in time is given up, and the caller is spoken to', async () => {
    shop.answer = 'hang';
    const { harness, llm } = await withModel(
      [asks, { say: ['Sorry.'] }],
      orderTool({ timeout_ms: 900 }),
    );
    await requested(harness, llm);
    await harness.pass(1_000);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([
      { status: 'error', error: 'The server did not answer in time.' },
    ]);
  });

  it('may not reach our own networks', async () => {
    at.harness.deps.http.outside = createGuardedHttp(openSignUpEgress());
    const { harness, llm } = await withModel([asks, { say: ['Sorry.'] }], orderTool());
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([
      { status: 'error', error: 'This must not be called from here: a private network' },
    ]);
    expect(shop.asked).toEqual([]);
  });

  it('whose credential was deleted reports that to the model, and sends no request', async () => {
    at.harness.deps.http.credentialHeaders = credentialHeadersFrom(at.harness.at.store);
    const tool = orderTool({ credential_uuid: 'gone' });
    const { harness, llm } = await withModel([asks, { say: ['Sorry.'] }], tool);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([{ status: 'error', error: 'Credential not found' }]);
    expect(shop.asked).toEqual([]);
  });

  it('is closed when the caller hangs up', async () => {
    shop.answer = 'hang';
    const { harness, llm, stream, run } = await withModel([asks], orderTool());
    await requested(harness, llm);
    stream.hangUp();
    expect((await harness.ended(run)).disposition).toBe('user_hangup');
    const returned = await harness.bodies(run, 'function.returned');
    expect(returned.map(({ result }) => JSON.parse(result).status)).toEqual(['error']);
  });

  it('keeps the agent from asking whether the caller is there', async () => {
    shop.answer = 'hang';
    const { harness, llm } = await withModel([asks], orderTool({ timeout_ms: 30_000 }));
    await requested(harness, llm);
    await harness.pass(20_000);
    expect(llm.spoken).toHaveLength(1);
  });

  it('that is archived or has the name of an edge is not offered, and the log says so', async () => {
    const edgeName = { ...calculatorTool, ...orderTool(), name: 'Finish' };
    const { harness, llm } = await withModel([{ say: ['Yes?'] }], edgeName);
    await harness.passThrough(() => llm.spoken.length === 1);
    expect(llm.spoken[0]?.tools.map(({ name }) => name)).toEqual(['finish']);
    expect(harness.lines).toContainEqual(
      expect.objectContaining({ msg: 'tool not offered', reason: 'name taken', nodeId: 'talk' }),
    );
  });

  it('that cannot be loaded does not keep the call from being held', async () => {
    const { store } = at.harness.deps;
    const tools = { ...store.tools, find: () => Promise.reject(new Error('database away')) };
    Object.assign(at.harness.deps.store, { tools });
    const { harness, llm } = await withModel([{ say: ['Yes?'] }], orderTool());
    await harness.passThrough(() => llm.spoken.length === 1);
    expect(llm.spoken[0]?.tools.map(({ name }) => name)).toEqual(['finish']);
  });
});

describe('a transfer', () => {
  const asks: Answer = { call: 'front_desk' };
  const sorry: Answer = { say: ['Nobody is there.'] };

  it('that the provider refuses is reported to the model, and the call continues', async () => {
    const { harness } = at;
    harness.rest.answer = (asked) =>
      asked.body.startsWith('Twiml=') ? { status: 400, body: { code: 1 } } : twilioAnswers(asked);
    const { llm, stream } = await withModel([asks, sorry], transferTool());
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([
      {
        status: 'transfer_failed',
        reason: 'provider_error',
        message: 'The telephone provider refused the transfer.',
      },
    ]);
    expect(stream.open).toBe(true);
  });

  it.each([
    ['', 'no_destination'],
    ['\n', 'no_destination'],
    ['1001', 'no_destination'],
  ])('to %j fails with %s, and the caller stays', async (destination, reason) => {
    const { harness, llm } = await withModel([asks, sorry], transferTool({ destination }));
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ status: 'transfer_failed', reason }]);
    expect(harness.rest.asked.filter(({ body }) => body.startsWith('Twiml='))).toEqual([]);
  });

  it.each([
    [{ destination: '+14155550199,,204#' }, 'wwwwwwww204#'],
    [{ post_dial_digits: '204#' }, 'wwww204#'],
  ])('with %j has the provider press the keys after the answer', async (more, keys) => {
    const { harness } = await withModel([asks], transferTool(more));
    const sent = () =>
      harness.rest.asked.map(({ body }) => new URLSearchParams(body).get('Twiml') ?? '');
    await harness.passThrough(() => sent().some((text) => text.includes('<Dial')));
    expect(sent().join('')).toMatch(
      new RegExp(`<Number sendDigits="${keys}"[^>]*>\\+14155550199</Number>`),
    );
  });

  it('that ends the media before the provider has answered is no hang-up', async () => {
    const { harness } = at;
    const answer = deferred();
    harness.rest.answer = (asked) => {
      const usual = twilioAnswers(asked);
      return asked.body.startsWith('Twiml=') ? { ...usual, until: answer.promise } : usual;
    };
    const { llm, stream, run } = await withModel([asks], transferTool());
    await harness.heardOut(stream);
    await harness.until(() => harness.rest.asked.some(({ body }) => body.startsWith('Twiml=')));
    stream.hangUp();
    await harness.pass(200);
    answer.resolve();
    const done = await harness.ended(run);
    expect(done.disposition).toBe('transfer_call');
    expect(harness.hangUps).toEqual([]);
    expect(llm.spoken).toHaveLength(1);
    await harness.status(run.id, 'CallStatus=completed&CallDuration=60&SequenceNumber=4');
    expect((await harness.run(run.id)).disposition).toBe('transfer_call');
  });
});

describe('a model that fails twice in a row', () => {
  const fails: Answer = { fails: 'LLM_FAILED' };
  const failing = async (...specs: ToolSpec[]) => {
    const call = await withModel([fails, fails], ...specs);
    await call.harness.heardOut(call.stream);
    await call.harness.says(call.stream, 'hello');
    return call;
  };

  it('leads over the apology to the person of the transfer tool, and the run says so', async () => {
    const { harness, stream, run } = await failing(transferTool());
    await harness.passThrough(() => harness.rest.asked.some(({ body }) => /^Twiml=/.test(body)));
    stream.hangUp();
    const done = await harness.ended(run);
    expect(done.disposition).toBe('transfer_call');
    const document = harness.rest.asked.find(({ body }) => body.startsWith('Twiml='))?.body ?? '';
    expect(new URLSearchParams(document).get('Twiml')).toContain('+14155550199');
    const said = (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
    expect(said.slice(1)).toEqual([
      expect.stringContaining('having some trouble'),
      expect.stringContaining('connect you with somebody'),
    ]);
    expect(await harness.bodies(run, 'function.called')).toMatchObject([
      { name: 'transfer_after_faults', arguments: { cause: 'model' } },
    ]);
    expect(harness.hangUps).toEqual([]);
  });

  it('leads to a goodbye where no destination is set', async () => {
    const { harness, stream, run } = await failing(calculatorTool);
    await harness.heardOut(stream);
    expect((await harness.ended(run)).disposition).toBe('pipeline_error');
  });
});

describe('a transfer over a PBX', () => {
  const asks: Answer = { call: 'front_desk' };
  const sorry: Answer = { say: ['Nobody is there.'] };

  const transferring = async () => {
    const llm = new ScriptedModel(at.harness.clock);
    llm.answers = [asks, sorry];
    at.harness.speech.llm = llm;
    const harness = await withTools(at.harness, transferTool());
    const pbx = await withPbx(harness);
    pbx.inbound('phone', EXTENSION);
    const stream = await mediaOf(harness, 'phone');
    await harness.heardOut(stream);
    await harness.says(stream, 'please');
    return { harness, pbx, llm, stream };
  };

  it('waits for as long as the destination rings, and then the caller is with it', async () => {
    const answer = deferred();
    at.harness.pbx.onTransfer = () => answer.promise;
    const { harness, llm, stream } = await transferring();
    await harness.passThrough(() => harness.pbx.transfers.length === 1);
    const to = '14155550199';
    expect(harness.pbx.transfers).toMatchObject([
      { callId: 'phone', to, callerId: '8000', ringS: 20 },
    ]);
    await harness.pass(19_000);
    expect(stream.open).toBe(true);
    answer.resolve();
    await harness.until(() => !stream.open);
    const [run] = await harness.runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'transfer_call',
    });
    expect(harness.pbx.hangUps).toEqual([]);
    expect(llm.spoken).toHaveLength(1);
  });

  it.each([
    ['TRANSFER_BUSY', 'busy', 'The destination is busy.'],
    ['TRANSFER_NO_ANSWER', 'no_answer', 'The destination does not answer.'],
    ['TRANSFER_FAILED', 'call_failed', 'The destination could not be reached.'],
  ] as const)(
    'that fails with %s is explained to the model as %s',
    async (code, reason, message) => {
      at.harness.pbx.onTransfer = () => Promise.reject(new GatewayError(code, { reason: 'x' }));
      const { harness, llm, stream } = await transferring();
      await harness.passThrough(() => llm.spoken.length === 2);
      expect(results(llm)).toEqual([{ status: 'transfer_failed', reason, message }]);
      expect(stream.open).toBe(true);
    },
  );

  it('for which the PBX sends no more events is abandoned a few seconds after the ringing', async () => {
    at.harness.pbx.onTransfer = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const { harness, llm } = await transferring();
    await harness.passThrough(() => harness.pbx.transfers.length === 1);
    await harness.pass(24_000);
    expect(llm.spoken).toHaveLength(1);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'timeout' }]);
  });

  it('is broken off when the caller hangs up meanwhile', async () => {
    const signals: AbortSignal[] = [];
    at.harness.pbx.onTransfer = (signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const { harness, pbx } = await transferring();
    await harness.passThrough(() => harness.pbx.transfers.length === 1);
    pbx.end('phone');
    const [run] = await harness.runs();
    await harness.passThrough(() => signals[0]?.aborted === true);
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'user_hangup',
    });
  });
});
