// Callers who speak while the first or the last words of the agent are on their way. Source: contract §8.4.

import { expect, it } from 'vitest';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';

const at = withCallHarness();
const GREETING = 'Hello, how can I help?';
const talk = start('talk', { name: 'Talk', greeting: GREETING, allow_interrupt: true });
const content = definition([talk, end('bye')], [edge('talk', 'bye', { label: 'Finish' })]);

/** The agent has greeted, and has just begun to answer. */
async function answering(answers: Answer[], { oneWayMs = 0 } = {}) {
  const llm = new ScriptedModel(at.harness.clock);
  llm.answers = answers;
  at.harness.speech.llm = llm;
  const harness = await at.harness.prepare(content);
  const { stream, run } = await harness.inboundCall({ oneWayMs });
  await harness.heardOut(stream);
  await harness.says(stream, 'when do you open');
  const { frames } = stream;
  await harness.passUntil(() => stream.frames > frames);
  const said = async () => (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
  return { harness, stream, run, said };
}

// "Sorry, could you say that again, please?" was said into the caller's words.
it('an answer that is interrupted before its first word is heard is answered for once', async () => {
  const slow = { say: ['Certainly. ', 'We open ', 'at nine ', 'every ', 'day.'], stepMs: 400 };
  const answers = [slow, { say: ['On Sundays at ten.'] }];
  const { harness, stream, said } = await answering(answers, { oneWayMs: 700 });
  stream.line = 'voice';
  harness.stt.understand('no sorry I meant on sundays');
  await harness.pass(1_600);
  stream.line = 'silence';
  await harness.pass(6_000);
  expect(await said()).toEqual([GREETING, 'On Sundays at ten.']);
});

// The goodbye was cut, and the call ended within the caller's sentence.
it('a goodbye in the answer that ends the call is heard to its end', async () => {
  const goodbye = 'Goodbye, and thank you for your call. We are glad to be of help to you.';
  const { harness, stream, run, said } = await answering([{ say: [goodbye], call: 'finish' }]);
  await harness.says(stream, 'wait one more thing please', 1_400);
  await harness.pass(3_000);
  const done = await harness.ended(run);
  expect(await said()).toEqual([GREETING, goodbye]);
  expect(await harness.bodies(run, 'interruption')).toEqual([]);
  expect(await harness.transcript(done)).toContain('user: wait one more thing please');
});
