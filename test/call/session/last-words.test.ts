// The end of a call whose recogniser still has something to say: the words are in the transcript, what it bills in the
// usage, and nobody waits for it on the line.

import { describe, expect, it } from 'vitest';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { agent, definition, edge, end, start } from '../../workflow/definitions.ts';
import { withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();
const LAST_MS = 1_500;

const simple = definition(
  [
    start('hello', { name: 'Hello', greeting: 'Hello.', allow_interrupt: true }),
    agent('talk', {
      name: 'Talk',
      allow_interrupt: true,
      extraction_enabled: true,
      extraction_variables: [{ name: 'number', type: 'string' }],
    }),
    end('bye', { name: 'Bye' }),
  ],
  [edge('hello', 'talk', { label: 'Talk' }), edge('hello', 'bye', { label: 'Finish' })],
);

const valued = definition([
  start('hello', {
    name: 'Hello',
    greeting: 'Hello.',
    allow_interrupt: true,
    extraction_enabled: true,
    extraction_variables: [{ name: 'number', type: 'string' }],
  }),
]);

async function call(lastMs = LAST_MS, content = simple) {
  const { harness } = held;
  const stt = new RecognizingService({ clock: harness.clock, name: 'stt', lastMs });
  const llm = new ScriptedModel(harness.clock);
  Object.assign(harness.speech, { stt, llm });
  await harness.prepare(content);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  const says = async (words: string): Promise<void> => {
    stream.sound = Int16Array.from(framesOf(words).flatMap((each) => [...each]));
    await harness.passUntil(() => stream.sound.length < 160);
  };
  return { harness, stream, run, llm, says };
}

describe('a caller who hangs up within a sentence', () => {
  it('has said it: it is in the transcript, and no model answers it', async () => {
    const { harness, stream, run, llm, says } = await call();
    await says('w1 w2 w3');
    stream.hangUp();
    await harness.pass(LAST_MS);
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toEqual(['assistant: Hello.', 'user: w1 w2 w3']);
    expect(llm.spoken).toEqual([]);
    expect(await harness.bodies(run, 'recognition.usage')).toMatchObject([{ service: 'stt' }]);
    expect((await harness.events(run)).at(-1)?.body.type).toBe('call.ended');
    expect(harness.errors).toEqual([]);
  });
});

describe('a caller who hangs up within the first turn of a node with values', () => {
  it('has said it for the values, which the call waits for', async () => {
    const { harness, stream, run, llm, says } = await call(LAST_MS, valued);
    llm.extraction = '{"number":"123"}';
    await says('w1 w2 w3');
    stream.hangUp();
    await harness.pass(LAST_MS + 1_000);
    const done = await harness.ended(run);
    expect(done.gatheredContext['number']).toBe('123');
    expect(llm.requests.map(({ json }) => json)).toEqual([true]);
    expect(llm.requests[0]?.messages[1]?.content).toContain('w1 w2 w3');
    expect(done.disposition).toBe('user_hangup');
  });
});

describe('a caller who hangs up within a later sentence', () => {
  it('has said it also for the values of the call', async () => {
    // Before the model has given the values.
    const { harness, stream, run, llm, says } = await call(20);
    llm.answers = [{ call: 'talk' }, { say: ['Which number?'] }];
    await says('w1');
    await harness.heardOut(stream);
    await says('w2 w3');
    stream.hangUp();
    await harness.pass(1_000);
    await harness.ended(run);
    const asked = llm.requests.filter(({ json }) => json);
    expect(asked.at(-1)?.messages[1]?.content).toContain('w2 w3');
    expect(llm.spoken).toHaveLength(2);
    expect(harness.errors).toEqual([]);
  });
});

describe('an agent that ends the call', () => {
  it('hangs up at once, while the recogniser has its last words', async () => {
    const { harness, stream, run, llm, says } = await call();
    llm.answers = [{ call: 'finish' }, { say: ['Bye.'] }];
    await says('w1');
    await harness.heardOut(stream);
    // No time passes on the call's clock.
    await harness.until(() => harness.hangUps.length > 0);
    expect(await harness.bodies(run, 'call.ended')).toEqual([]);
    await harness.pass(LAST_MS);
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toContain('user: w1');
    expect(harness.hangUps).toHaveLength(1);
  });
});
