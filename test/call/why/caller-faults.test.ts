// What callers, agents and the gateway do, in whole calls: who is named, where, and what the advice names.

import { describe, expect, it } from 'vitest';
import { withClosing } from '../../../src/app/call-parts.ts';
import { CrashRecovery } from '../../../src/call/end/crash-recovery.ts';
import { EventLog } from '../../../src/call/events/event-log.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import { agent, definition, edge, end, start } from '../../workflow/definitions.ts';
import { chat, drinks, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { frontDesk, withToolsAnd } from '../session/tools-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import { expectInjected, expectInjectedBeside, whyOf } from './why-harness.ts';

const held = withCallHarness();

async function greeted(content: WorkflowDefinition = drinks, settings = {}) {
  const { harness } = held;
  await harness.prepare(content, settings);
  const call = await harness.inboundCall();
  await harness.heardOut(call.stream);
  return { harness, ...call };
}

function scripted(...answers: Answer[]): void {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = answers;
  harness.speech.llm = llm;
}

describe('a caller', () => {
  it('who says nothing is named, with the recogniser to look at', async () => {
    const { harness, stream, run } = await greeted();
    await harness.passUntil(() => stream.closed !== undefined, 120_000);
    await expectInjected(harness, run, {
      party: 'caller',
      node: 'Ask',
      advice: /recording.*recogniser fake/,
      summary: /said nothing/,
    });
  });

  it('who hangs up within the greeting is named', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.pass(800);
    const before = harness.clock.now();
    stream.hangUp();
    await harness.ended(run);
    await expectInjected(harness, run, {
      party: 'caller',
      node: 'Ask',
      between: [before - 100, harness.clock.now()],
      advice: /greeting/,
      summary: /0\.[789] s after the answer/,
    });
  });

  it("who hangs up in the middle of a sentence is named, with the sentence's node", async () => {
    scripted({
      say: ['We are open from nine to five on every weekday, and on Saturdays as well.'],
    });
    const { harness, stream, run } = await greeted(chat);
    await harness.says(stream, 'when do you open');
    const frames = stream.frames;
    await harness.passUntil(() => stream.frames > frames);
    await harness.pass(1_000);
    const before = harness.clock.now();
    stream.hangUp();
    await harness.ended(run);
    await expectInjected(harness, run, {
      party: 'caller',
      node: 'Talk',
      between: [before - 100, harness.clock.now()],
      advice: /shorten/,
      summary: /while the agent was speaking/,
    });
  });

  it("who is not understood leads to the agent's phrases", async () => {
    const { harness, stream, run } = await greeted();
    for (let turns = 0; turns < 3; turns++) {
      await harness.says(stream, 'the weather is nice');
      await harness.heardOut(stream);
    }
    await harness.passUntil(() => stream.closed !== undefined);
    await expectInjected(harness, run, {
      party: 'agent',
      node: 'Ask',
      advice: /phrases.*\n.*recogniser fake/,
      summary: /did not understand/,
    });
  });
});

describe('an agent', () => {
  it('that goes round in a circle by itself is named, with a node of the circle', async () => {
    const nodes = [
      start('a', { name: 'Talk', greeting: 'Hello.' }),
      agent('b', { name: 'Round' }),
      agent('c', { name: 'Again' }),
      end('z', { name: 'Bye' }),
    ];
    const edges = [
      edge('a', 'b', { label: 'Go on' }),
      edge('b', 'c', { label: 'Onward' }),
      edge('c', 'b', { label: 'Back' }),
      edge('c', 'z', { label: 'Finish' }),
    ];
    const round: Answer[] = Array.from({ length: 6 }, () => [
      { call: 'onward' },
      { call: 'back' },
    ]).flat();
    scripted({ call: 'go_on' }, ...round);
    const { harness, stream, run } = await greeted(definition(nodes, edges));
    const before = harness.clock.now();
    for (const words of ['what now', 'hello', 'well']) {
      await harness.says(stream, words);
      await harness.pass(3_000);
    }
    stream.hangUp();
    await harness.ended(run);
    await expectInjected(harness, run, {
      party: 'agent',
      between: [before, harness.clock.now()],
      advice: /"(Round|Again)"/,
      summary: /circle/,
    });
  });

  it('whose words are a variable without a value is named, with the variable', async () => {
    const nodes = [start('ask', { name: 'Ask', say: '{{customer_question}}' }), end('bye')];
    const harness = await held.harness.prepare(definition(nodes, [edge('ask', 'bye')]));
    const { stream, run } = await harness.inboundCall();
    await harness.passUntil(() => stream.closed !== undefined);
    await expectInjected(harness, run, {
      party: 'agent',
      node: 'Ask',
      advice: /customer_question in initial_context/,
      summary: /customer_question/,
    });
  });

  it('with a variable without a value in a good call is named beside its end', async () => {
    const nodes = [
      start('ask', { name: 'Ask', say: 'Hello {{customer}}, tea?' }),
      end('bye', { name: 'Bye', say: 'Goodbye.' }),
    ];
    const edges = [edge('ask', 'bye', { label: 'yes', phrases: ['tea'], dtmf: '1' })];
    const { harness, stream, run } = await greeted(definition(nodes, edges));
    stream.key('1');
    await harness.heardOut(stream);
    const why = await expectInjectedBeside(harness, run, {
      party: 'agent',
      node: 'Ask',
      advice: /customer/,
      summary: /variable customer/,
    });
    expect(why.party).toBe('nobody');
  });

  it('that has nothing to say without a model is named, with the node', async () => {
    const nodes = [start('ask', { name: 'Ask' }), end('bye')];
    const harness = await held.harness.prepare(definition(nodes, [edge('ask', 'bye')]));
    const { stream, run } = await harness.inboundCall();
    await harness.passUntil(() => stream.closed !== undefined);
    await expectInjected(harness, run, {
      party: 'agent',
      node: 'Ask',
      advice: /text \(`say`\)/,
      summary: /nothing to say/,
    });
  });

  it('whose longest call is over is named, with its setting', async () => {
    scripted({ say: ['Yes.'] });
    const { harness, stream, run } = await greeted(chat, { max_call_duration: 20 });
    for (let turns = 0; turns < 12 && stream.closed === undefined; turns++) {
      await harness.says(stream, 'and what else');
      await harness.pass(2_000);
    }
    await harness.passUntil(() => stream.closed !== undefined);
    await expectInjected(harness, run, {
      party: 'agent',
      advice: /max_call_duration/,
      summary: /2\d(\.\d)? s/,
    });
  });

  it('whose transfer meets a busy destination is told of it', async () => {
    scripted({ call: 'front_desk', given: { topic: 'bill' } }, { say: ['They are busy.'] });
    const { harness } = held;
    await withToolsAnd(harness, { filler_delay_seconds: 0 }, frontDesk(null));
    const pbx = await withPbx(harness);
    harness.pbx.onTransfer = () => Promise.reject(new GatewayError('TRANSFER_BUSY'));
    pbx.inbound('phone-1', EXTENSION);
    const stream = await mediaOf(harness, 'phone-1');
    await harness.heardOut(stream);
    const before = harness.clock.now();
    await harness.says(stream, 'a person please');
    const [run] = await harness.runs();
    if (run === undefined) throw new Error('no run');
    await harness.passThrough(
      async () => (await harness.bodies(run, 'function.returned')).length > 0,
    );
    const after = harness.clock.now();
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.ended(run);
    await expectInjected(harness, run, {
      party: 'caller',
      node: 'Talk',
      tool: 'front_desk',
      provider: 'ari',
      between: [before, after],
      advice: /front_desk|\+14155550199/,
      summary: /busy/,
    });
  });
});

describe('the gateway', () => {
  it('that is killed during a call is at fault', async () => {
    const { harness, run } = await greeted();
    await harness.deps.events.flush();
    const { clock, log, store } = harness.deps;
    const after = withClosing({
      ...harness.deps,
      events: new EventLog({ sink: store.runs, clock, log }),
    });
    await harness.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(after);
    await harness.pass(100);
    await recovery.start();
    recovery.stop();
    await expectInjected(harness, run, {
      party: 'gateway',
      node: 'Ask',
      advice: /log of the gateway/,
      summary: /killed/,
    });
  });

  it('that cannot write the recording is named beside the end', async () => {
    const { harness } = held;
    harness.deps.files.create = () => Promise.reject(new Error('ENOSPC'));
    const { stream, run } = await greeted();
    stream.key('1');
    await harness.heardOut(stream);
    const why = await expectInjectedBeside(harness, run, {
      party: 'gateway',
      advice: /disk of the data folder/,
      summary: /recording/,
    });
    expect(why.party).toBe('nobody');
  });

  it('with a fault of its own is at fault', async () => {
    const { harness, stream, run } = await greeted();
    const before = harness.clock.now();
    harness.stt.open = undefined as never;
    Object.defineProperty(harness.tts, 'synthesize', {
      get: () => {
        throw new TypeError('of undefined');
      },
      configurable: true,
    });
    await harness.says(stream, 'something else');
    await harness.pass(3_000);
    if (stream.open) stream.hangUp();
    const why = await whyOf(harness, run);
    expect(['gateway', 'service']).toContain(why.party);
    expect(why.where.atMs ?? 0).toBeGreaterThan(0);
    expect(harness.clock.now()).toBeGreaterThan(before);
  });

  it('that is asked for a call with variables beyond its limits names the request', async () => {
    const harness = await held.harness.prepare();
    const initialContext = { notes: 'x'.repeat(300_000) };
    await expect(harness.start({ initialContext })).rejects.toThrow();
    const [run] = await harness.runs();
    await expectInjected(
      harness,
      { id: run?.id ?? '' },
      { party: 'agent', advice: /request.*too large/, summary: /too large/ },
    );
  });

  it('whose places are taken leaves no run that could be explained', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql('update organizations set concurrent_call_limit = 0');
    await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_LIMIT_REACHED' });
    expect(await harness.runs()).toEqual([]);
  });
});
