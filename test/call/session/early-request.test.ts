// A caller who speaks while the agent greets: a request is answered when the greeting ends, and a greeting costs none.

import { describe, expect, it } from 'vitest';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { drinks, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();
const GREETING = 'Hello, this is the clinic of doctor Miller. How can I help you today?';

function clinic(isInterruptible: boolean) {
  return definition(
    [
      start('talk', { name: 'Talk', greeting: GREETING, allow_interrupt: isInterruptible }),
      end('bye', { name: 'Bye' }),
    ],
    [edge('talk', 'bye', { label: 'Finish' })],
  );
}

async function begun(isInterruptible: boolean) {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = [{ say: ['Of course. '] }];
  harness.speech.llm = llm;
  await harness.prepare(clinic(isInterruptible));
  const { stream, run } = await harness.inboundCall();
  await harness.pass(400);
  return { harness, llm, stream, run };
}

describe('a request during a greeting that may not be interrupted', () => {
  it('is answered by the model when the greeting ends', async () => {
    const { harness, llm, stream, run } = await begun(false);
    await harness.says(stream, 'I would like to book');
    await harness.passUntil(() => llm.spoken.length > 0, 5_000);
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    expect((await harness.transcript(done)).toSorted()).toEqual([
      `assistant: ${GREETING}`,
      'assistant: Of course.',
      'user: I would like to book',
    ]);
    expect(llm.spoken[0]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: GREETING },
      { role: 'user', content: 'I would like to book' },
    ]);
  });

  it('is answered by the script too', async () => {
    const harness = await held.harness.prepare(drinks);
    const { stream, run } = await harness.inboundCall();
    await harness.says(stream, 'coffee', 200);
    await harness.passUntil(() => harness.tts.asked.includes('Coffee it is.'), 5_000);
    await harness.heardOut(stream);
    expect((await harness.ended(run)).gatheredContext['drink']).toBe('coffee');
  });
});

describe('a greeting of the caller during the greeting', () => {
  it.each([true, false])('asks no model for a second one (allow_interrupt %s)', async (may) => {
    const { harness, llm, stream, run } = await begun(may);
    await harness.says(stream, 'Hello?', 1_100);
    await harness.heardOut(stream);
    await harness.pass(2_000);
    stream.hangUp();
    const said = await harness.transcript(await harness.ended(run));
    expect(said.filter((line) => line.startsWith('assistant'))).toEqual([`assistant: ${GREETING}`]);
    expect(llm.spoken).toEqual([]);
  });
});
