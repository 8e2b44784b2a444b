// The language of the agent and of its nodes decides by which words a pause of the caller is no end of the turn.

import { expect, it } from 'vitest';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();

async function turnsAfter(settings: object, data: object = {}): Promise<number[]> {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = [{ say: ['Danke.'] }];
  harness.speech.llm = llm;
  const node = { name: 'Talk', greeting: 'Guten Tag.', allow_interrupt: true, ...data };
  const nodes = [start('talk', node), end('bye', { name: 'Bye' })];
  await harness.prepare(definition(nodes, [edge('talk', 'bye', { label: 'Finish' })]), settings);
  const { stream } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'meine Nummer ist');
  await harness.pass(900);
  const early = llm.spoken.length;
  await harness.pass(1_000);
  return [early, llm.spoken.length];
}

it('waits for a caller who pauses within a sentence of the agent’s language', async () => {
  expect(await turnsAfter({ agent_language: 'de-DE' })).toEqual([0, 1]);
});

it('takes the same pause for the end of the turn in another language', async () => {
  expect(await turnsAfter({})).toEqual([1, 1]);
});
