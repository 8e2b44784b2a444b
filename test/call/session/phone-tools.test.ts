// Tools of the telephone in whole calls: digits that the caller enters, another language, another agent.
// Source: contract §8.7.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { placeKey } from '../../../src/speech/speech-plan.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { withSecondGateway } from '../second-gateway.ts';
import { readWav } from '../wav-reader.ts';
import { Mortal, resume } from './resumed-harness.ts';
import { type ToolSpec, withToolsAnd } from './tools-harness.ts';

const held = withCallHarness();
const second = withSecondGateway();
let shop: RestServer;

beforeAll(async () => {
  shop = await startRestServer();
});
beforeEach(() => {
  shop.asked.length = 0;
  shop.answer = { status: 200, body: { paid: true } };
});
afterAll(() => shop.close());

const NO_FILLER = { filler_delay_seconds: 0 };
const CARD = '4242424242424242';

const askCard: ToolSpec = {
  name: 'Ask card',
  definition: {
    type: 'collect_digits',
    config: {
      messageType: 'custom',
      customMessage: 'Your card number please.',
      check: 'payment_card',
      max_digits: 19,
      hidden: true,
      variable: 'card',
    },
  },
};
const pay = (): ToolSpec => ({
  name: 'Pay',
  definition: {
    type: 'http_api',
    config: {
      method: 'POST',
      url: `${shop.url}/pay`,
      preset_parameters: [
        { name: 'card', type: 'string', value_template: '{{hidden_digits.card}}' },
      ],
    },
  },
});

function modelOf(harness: CallHarness, ...answers: Answer[]): ScriptedModel {
  const llm = new ScriptedModel(harness.clock);
  llm.answers = answers;
  return llm;
}

async function withModel(answers: Answer[], ...specs: ToolSpec[]) {
  const { harness } = held;
  const llm = modelOf(harness, ...answers);
  harness.speech.llm = llm;
  await withToolsAnd(harness, NO_FILLER, ...specs);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  return { harness, llm, stream, run };
}

describe('hidden digits of a caller', () => {
  it('reach the tool that needs them, and nothing that is written down', async () => {
    const answers: Answer[] = [
      { call: 'ask_card' },
      { call: 'pay' },
      { say: ['Paid, thank you.'] },
    ];
    const { harness, llm, stream, run } = await withModel(answers, askCard, pay());
    await harness.says(stream, 'I want to pay');
    await harness.heardOut(stream);
    const fromMs = harness.clock.now();
    // The tones of the keys are in the caller's audio, too.
    stream.sound = Int16Array.from({ length: 16_000 }, (_, at) => (at % 8 < 4 ? 8_000 : -8_000));
    for (const key of CARD) {
      stream.key(key);
      await harness.pass(100);
    }
    stream.key('#');
    await harness.passThrough(() => shop.asked.length === 1);
    await harness.passThrough(() => harness.tts.asked.at(-1) === 'Paid, thank you.');
    await harness.heardOut(stream);
    await harness.pass(3_000);
    stream.hangUp();
    const done = await harness.ended(run);

    expect(JSON.parse(shop.asked[0]?.body ?? '')).toEqual({ card: CARD });
    expect(await harness.transcript(done)).toContain(`user: ${'•'.repeat(16)}`);
    const events = await harness.events(run);
    const keys = events.flatMap(({ body }) => (body.type === 'dtmf' ? [body.digit] : []));
    expect(keys).toEqual(Array.from({ length: 17 }, () => '•'));
    const written = JSON.stringify([events, harness.lines, done, llm.requests]);
    expect(written).not.toContain(CARD);
    expect(written).not.toContain('4242');
    const recording = readWav(await harness.deps.files.readAll(done.recordingKey ?? ''));
    const beganMs = fromMs - (events.find(({ body }) => body.type === 'media.started')?.at ?? 0);
    const isLoud = (from: number, to: number) =>
      Array.from({ length: (to - from) / 20 }, (_, nth) => from + 20 * nth).some((atMs) =>
        recording.loud('left', atMs),
      );
    expect(isLoud(0, beganMs - 1_000)).toBe(true);
    expect(isLoud(beganMs, beganMs + 1_600)).toBe(false);
    expect(harness.errors).toEqual([]);
  });
});

describe('hidden digits of a call that another process goes on with', () => {
  it('are lost, and the model has them entered again', async () => {
    const {
      harness: first,
      llm,
      stream,
      run,
    } = await withModel(
      [{ call: 'ask_card' }, { say: ['Thank you, shall I pay?'] }],
      askCard,
      pay(),
    );
    const mortal = new Mortal(first);
    await first.says(stream, 'I want to pay');
    await first.heardOut(stream);
    for (const key of `${CARD}#`) {
      stream.key(key);
      await first.pass(100);
    }
    await first.passUntil(() => first.tts.asked.includes('Thank you, shall I pay?'));
    await first.heardOut(stream);
    await mortal.kill();
    first.clock.advance(4_000);
    const harness = await second.beside(first);
    harness.speech.llm = llm;
    const resumed = await resume(second, first, run);
    if ('why' in resumed) throw new Error(`not resumed: ${resumed.why}`);
    await harness.heardOut(resumed.stream);
    llm.answers = [{ say: ['Please enter it again.'] }];
    await harness.says(resumed.stream, 'yes please');
    await harness.heardOut(resumed.stream);
    const { messages = [] } = llm.spoken.at(-1) ?? {};
    expect(JSON.stringify(messages)).toContain('hidden_digits.card is lost');
    expect(JSON.stringify(await harness.events(run))).not.toContain('4242');
  });
});

describe('a switch of the language', () => {
  it('has the voice and the recogniser of that language until the end', async () => {
    const { harness } = held;
    const german = new FakeTts(harness.clock);
    harness.speech.nodes = new Map([
      [placeKey({ nodeId: 'talk', language: 'de' }), { tts: german, voice: 'B', llm: undefined }],
    ]);
    const speak: ToolSpec = {
      name: 'Speak',
      definition: { type: 'switch_language', config: { languages: [{ language: 'de' }] } },
    };
    const answers = [{ call: 'speak', given: { language: 'de' } }, { say: ['Gerne.'] }];
    const { stream, run } = await withModel(answers, speak);
    await harness.says(stream, 'in German please');
    await harness.passUntil(() => german.asked.includes('Gerne.'));
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.ended(run);
    expect(harness.tts.asked).not.toContain('Gerne.');
    expect(await harness.bodies(run, 'language.switched')).toEqual([
      { type: 'language.switched', language: 'de', previous: null },
    ]);
  });
});

describe('a transfer to another agent', () => {
  const billingGraph = definition(
    [
      start('talk', { name: 'Billing', prompt: 'Explain bills.', greeting: 'Billing here.' }),
      end('bye'),
    ],
    [edge('talk', 'bye', { label: 'Finish' })],
  );

  /** The call's first agent may transfer it to another one, which has a voice and a model of its own. */
  async function transferred() {
    const { harness } = held;
    const { store, owner } = harness.at;
    const { workflow, version } = await store.workflows.create(owner, {
      name: 'Billing',
      triggerPaths: [],
      definition: billingGraph,
      configurations: {},
      templateContextVariables: {},
    });
    const voice = new FakeTts(harness.clock);
    const llm = modelOf(harness, { say: ['Which bill is it?'] });
    harness.speech.nodes = new Map([
      [placeKey({ agent: workflow.uuid, nodeId: 'talk' }), { tts: voice, voice: 'B', llm }],
    ]);
    const tool: ToolSpec = {
      name: 'To billing',
      definition: { type: 'transfer_agent', config: { agent_uuid: workflow.uuid } },
    };
    const answers = [{ call: 'to_billing', given: { reason: 'a wrong bill' } }];
    const call = await withModel(answers, tool);
    const mortal = new Mortal(harness);
    await harness.says(call.stream, 'my bill is wrong');
    await harness.passUntil(() => voice.asked.includes('Which bill is it?'));
    await harness.heardOut(call.stream);
    return { ...call, voice, mortal, next: { llm, workflow, version } };
  }

  it('goes on in the same run, with its voice and its model', async () => {
    const { harness, stream, run, voice, next } = await transferred();
    next.llm.answers = [{ say: ['I see.'] }];
    await harness.says(stream, 'number seven');
    await harness.passUntil(() => voice.asked.includes('I see.'));
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    const said = await harness.transcript(done);
    expect(said.filter((line) => !line.startsWith('system'))).toEqual([
      'assistant: Hello.',
      'user: my bill is wrong',
      'assistant: Which bill is it?',
      'user: number seven',
      'assistant: I see.',
    ]);
    expect(said.find((line) => line.startsWith('system'))).toMatch(
      /transferred from the agent Drinks to the agent Billing/,
    );
    expect(JSON.stringify(next.llm.spoken[0]?.messages)).toContain('a wrong bill');
    expect(await harness.bodies(run, 'agent.entered')).toMatchObject([
      { agentId: next.workflow.uuid, definitionId: next.version.id, agentName: 'Billing' },
    ]);
    // A process of another test may have been killed while it wrote.
    expect(harness.errors.filter(({ runId }) => runId === run.id)).toEqual([]);
  });

  it('is kept by a process that goes on with the call', async () => {
    const { harness: first, run, mortal, next } = await transferred();
    await mortal.kill();
    first.clock.advance(4_000);
    const harness = await second.beside(first);
    Object.assign(harness.speech, { llm: first.speech.llm, nodes: first.speech.nodes });
    const resumed = await resume(second, first, run);
    if ('why' in resumed) throw new Error(`not resumed: ${resumed.why}`);
    const { stream } = resumed;
    await harness.heardOut(stream);
    next.llm.answers = [{ say: ['Goodbye.'], call: 'finish' }];
    await harness.says(stream, 'never mind');
    await harness.heardOut(stream);
    const done = await harness.completed(run);
    expect(done.disposition).toBe('user_qualified');
    const nodes = await harness.bodies(run, 'node.entered');
    expect(nodes.map(({ nodeName }) => nodeName)).toEqual(['Talk', 'Billing', 'End bye']);
    expect(JSON.stringify(next.llm.spoken.at(-1)?.messages)).toContain('Explain bills.');
  });
});
