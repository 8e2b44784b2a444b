// Ordinary calls, in which nothing went wrong: no fault is claimed, by whatever way they end.

import { describe, expect, it } from 'vitest';
import { explainRun } from '../../../src/call/why/explain-run.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import { chat, drinks, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { frontDesk, withToolsAnd } from '../session/tools-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import type { Stream } from '../stream.ts';
import { expectNoFault, whyOf } from './why-harness.ts';

const held = withCallHarness();
const REPLY = 'We are open from nine to five.';
const BYE: Answer = { say: ['Goodbye and thank you.'], call: 'finish' };

function scripted(...answers: Answer[]): void {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = answers;
  harness.speech.llm = llm;
}

async function says(stream: Stream, ...turns: string[]): Promise<void> {
  for (const words of turns) {
    await held.harness.says(stream, words);
    await held.harness.heardOut(stream);
  }
}

/** `act`: what the caller does after the greeting. */
async function inbound(
  content: WorkflowDefinition,
  act: (stream: Stream) => Promise<void> | void,
): Promise<void> {
  const { harness } = held;
  await harness.prepare(content);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await act(stream);
  if (stream.closed === undefined) await harness.passUntil(() => stream.closed !== undefined);
  await harness.ended(run);
  await expectNoFault(harness, run);
}

describe('no fault is claimed of a call led by keys or phrases', () => {
  it.each([
    ['with a key', (stream: Stream) => stream.key('1')],
    ['with the other key', (stream: Stream) => stream.key('2')],
    ['with a phrase', (stream: Stream) => says(stream, 'tea')],
    ['with the other phrase', (stream: Stream) => says(stream, 'coffee please')],
    ['misunderstood once', (stream: Stream) => says(stream, 'what a day', 'tea')],
    ['misunderstood twice', (stream: Stream) => says(stream, 'what', 'hm hm', 'coffee')],
    [
      'after a long pause',
      async (stream: Stream) => {
        await held.harness.pass(6_000);
        await says(stream, 'tea');
      },
    ],
    [
      'whose caller leaves after words',
      async (stream: Stream) => {
        await says(stream, 'what is there');
        stream.hangUp();
      },
    ],
  ])('%s', (_what, act) => inbound(drinks, act));
});

describe('no fault is claimed of a call led by a model', () => {
  it.each([
    ['of one turn', [BYE], ['that was all']],
    ['of two turns', [{ say: [REPLY] }, BYE], ['when do you open', 'thanks']],
    [
      'of four turns',
      [{ say: [REPLY] }, { say: ['Yes.'] }, { say: ['No.'] }, BYE],
      ['when do you open', 'on Friday', 'on Sunday', 'thanks'],
    ],
    ['that visits another node', [{ say: ['Well.'], call: 'go_on' }, BYE], ['more please']],
    [
      'with slow pieces',
      [{ say: ['We ', 'open ', 'at nine.'], stepMs: 200 }, BYE],
      ['when', 'thanks'],
    ],
  ] as [string, Answer[], string[]][])('%s', (_what, answers, turns) => {
    scripted(...answers);
    return inbound(chat, (stream) => says(stream, ...turns));
  });

  it.each([1, 2, 3])('whose caller leaves after %i turns', (count) => {
    scripted({ say: [REPLY] });
    return inbound(chat, async (stream) => {
      await says(stream, ...Array.from({ length: count }, () => 'when do you open'));
      stream.hangUp();
    });
  });
});

it('no fault is claimed of a call out that is answered and led to its end', async () => {
  const harness = await held.harness.prepare();
  const { runId: id } = await harness.start();
  await harness.status(id, 'CallStatus=ringing&SequenceNumber=1');
  const stream = await harness.connect(await harness.pickUp(id));
  stream.start();
  await harness.heardOut(stream);
  stream.key('1');
  await harness.heardOut(stream);
  await harness.ended({ id });
  await expectNoFault(harness, { id });
});

it('no fault is claimed of a call over a PBX', async () => {
  const harness = await held.harness.prepare();
  const pbx = await withPbx(harness);
  pbx.inbound('phone-1', EXTENSION);
  const stream = await mediaOf(harness, 'phone-1');
  await harness.heardOut(stream);
  stream.key('2');
  await harness.heardOut(stream);
  const [run] = await harness.runs();
  await expectNoFault(harness, { id: run?.id ?? '' });
});

it('no fault is claimed of a call that is transferred, and the destination is named', async () => {
  scripted({ call: 'front_desk', given: { topic: 'bill' } });
  const { harness } = held;
  await withToolsAnd(harness, { filler_delay_seconds: 0 }, frontDesk(null));
  const pbx = await withPbx(harness);
  pbx.inbound('phone-2', EXTENSION);
  const stream = await mediaOf(harness, 'phone-2');
  await harness.heardOut(stream);
  await harness.says(stream, 'a person please');
  const [run] = await harness.runs();
  const id = run?.id ?? '';
  await harness.passThrough(async () => (await harness.run(id)).state === 'completed');
  await expectNoFault(harness, { id });
  expect((await whyOf(harness, { id })).summary).toContain('14155550199');
});

it('no fault is claimed of a machine that the agent is set to leave', async () => {
  const harness = await held.harness.prepare(drinks, { voicemail_detection: { enabled: true } });
  const { runId: id } = await harness.start();
  const reply = await harness.pickUp(id);
  await harness.status(id, 'AnsweredBy=machine_start');
  const stream = await harness.connect(reply);
  stream.start();
  await harness.passThrough(async () => (await harness.run(id)).state === 'completed');
  await expectNoFault(harness, { id });
  expect((await whyOf(harness, { id })).summary).toContain('machine_start');
});

it('no fault is claimed of a call that a client of the API hangs up', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  const { organizationId } = harness.at.owner;
  await harness.callControl.hangUp({ organizationId, runId: run.id });
  await expectNoFault(harness, run);
  expect((await whyOf(harness, run)).summary).toContain('hung up in the console or over the API');
});

it('no fault is claimed of a call that goes on, which is not final', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.deps.events.flush();
  const why = await explainRun(harness.at.store, await harness.run(run.id));
  expect(why).toMatchObject({
    isFinal: false,
    party: 'nobody',
    also: [],
    where: { nodeName: 'Ask' },
  });
  stream.hangUp();
  await harness.ended(run);
});
