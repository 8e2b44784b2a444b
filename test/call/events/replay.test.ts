// A call's stored log is enough to rebuild the conversation: the engine comes to the same end. state-rebuild.test.ts
// compares the states themselves.

import { expect, it } from 'vitest';
import { rebuildState } from '../../../src/call/events/state-rebuild.ts';
import type { Run } from '../../../src/model/run.ts';
import { workflowConfigurations } from '../../../src/model/workflow.ts';
import { createEngine } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { type CallHarness, chat, drinks, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();

async function check(harness: CallHarness, done: Run): Promise<void> {
  const settings = workflowConfigurations.parse({});
  const policy = harness.speech.llm === undefined ? 'scripted' : 'model';
  const graph = parseGraph(harness.version.definition);
  const engine = createEngine({ graph, policy, settings });
  const events = await harness.events(done);
  const rebuilt = rebuildState({ engine, events, runContext: done.initialContext });
  expect(rebuilt).toMatchObject({ fault: undefined, unlogged: [], state: { phase: 'ended' } });
  const { extractedVariables, nodesVisited, endReason } = engine.summarize(rebuilt.state);
  expect(endReason).toBe(done.gatheredContext['call_status']);
  expect(extractedVariables).toEqual(done.gatheredContext['extracted_variables']);
  expect(nodesVisited).toEqual(done.gatheredContext['nodes_visited']);
}

it('the log of a scripted call leads the engine to the same end', async () => {
  const harness = await held.harness.prepare(drinks);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'lemonade');
  await harness.heardOut(stream);
  stream.key('2');
  await harness.heardOut(stream);
  await check(harness, await harness.ended(run));
});

it('the log of a call by a model, whose caller interrupts and is silent, does so too', async () => {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  harness.speech.llm = llm;
  await harness.prepare(chat);
  llm.answers = [
    { say: ['We open ', 'at nine, and on Sundays we do not open at all.'] },
    { say: ['Anything else?'] },
    { say: ['Are you still there?'] },
    { say: ['Goodbye and thank you.'], call: 'finish' },
  ];
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'when do you open');
  await harness.pass(1_500);
  await harness.says(stream, 'and on Mondays');
  await harness.heardOut(stream);
  await harness.pass(15_000);
  await harness.heardOut(stream);
  await harness.says(stream, 'thanks, that was all');
  await harness.heardOut(stream);
  await check(harness, await harness.ended(run));
});

it('the log of a caller who hangs up has the last words', async () => {
  const harness = await held.harness.prepare(drinks);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'some lemonade');
  stream.hangUp();
  await check(harness, await harness.ended(run));
});
