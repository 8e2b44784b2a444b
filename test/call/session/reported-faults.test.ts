// What users of voice agents report again and again, in whole calls: a reply that a cough ends for good, lists of
// acknowledgements that every author has to write, an agent that interrupts itself or reacts where it must not, slow
// answers, calls that spoil each other, and silence after an empty answer. Source: speech §3.

import { describe, expect, it } from 'vitest';
import { type ControlPhrases, tablesOf } from '../../../src/model/languages/languages.ts';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { faultyModel, type Script } from '../../fakes/call/faulty-model.ts';
import { FakeStt } from '../../fakes/speech-services.ts';
import { CallRig } from '../../pipeline/call-rig.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallHarness, drinks, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import type { Stream } from '../stream.ts';

const held = withCallHarness();

const node = { name: 'Talk', greeting: 'Hello, how can I help?', allow_interrupt: true };
const chat = definition(
  [start('talk', node), end('bye', { name: 'Bye' })],
  [edge('talk', 'bye', { label: 'Finish' })],
);
const REPLY =
  'We are open from nine to five on every weekday, and on Saturdays from ten to one, but never on a Sunday.';

async function withModel(answers: Answer[], settings = {}) {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = answers;
  harness.speech.llm = llm;
  await harness.prepare(chat, settings);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  return { harness, llm, stream, run };
}

/** The caller has asked, and the agent has spoken its reply for a second. */
async function replying(...answers: Answer[]) {
  const call = await withModel([{ say: [REPLY] }, ...answers]);
  await call.harness.says(call.stream, 'when do you open');
  const before = call.stream.frames;
  await call.harness.passUntil(() => call.stream.frames > before);
  await call.harness.pass(1_000);
  return call;
}

const saidIn = async (harness: CallHarness, run: { id: string }) =>
  (await harness.bodies(run, 'agent.said')).map(({ text, interrupted }) => ({ text, interrupted }));

async function sound(harness: CallHarness, stream: Stream, ms: number): Promise<void> {
  stream.line = 'voice';
  await harness.pass(ms);
  stream.line = 'silence';
}

// speech §3 item 3.
describe('coughs and "mhm" that end the reply, and an agent that is silent afterwards', () => {
  it.each([
    ['a cough', ''],
    ['"mhm"', 'mhm'],
    ['"okay, right"', 'okay right'],
  ])(
    '%s: the reply is heard to its end, and the next question is answered',
    async (_what, words) => {
      const { harness, stream, run } = await replying({ say: ['Yes, at ten.'] });
      if (words === '') await sound(harness, stream, 300);
      else await harness.says(stream, words, 400);
      await harness.pass(900);
      await harness.heardOut(stream);
      expect((await saidIn(harness, run)).at(-1)).toEqual({ text: REPLY, interrupted: false });
      expect(await harness.bodies(run, 'interruption')).toEqual([]);
      await harness.says(stream, 'is Saturday possible');
      await harness.heardOut(stream);
      expect((await saidIn(harness, run)).at(-1)).toEqual({
        text: 'Yes, at ten.',
        interrupted: false,
      });
    },
  );

  it('a reply that was interrupted does not come back later', async () => {
    const { harness, stream, run } = await replying({ say: ['Of course.'] });
    await harness.says(stream, 'I would rather talk about my bill', 900);
    await harness.heardOut(stream);
    await sound(harness, stream, 300);
    await harness.pass(5_000);
    const said = await saidIn(harness, run);
    expect(said.slice(1)).toEqual([
      { text: expect.stringMatching(/^We are open/), interrupted: true },
      { text: 'Of course.', interrupted: false },
    ]);
    expect(said[1]?.text.length).toBeLessThan(REPLY.length / 2);
  });

  it('a long sound without words stops the agent, who then says something within two seconds', async () => {
    const { harness, stream } = await replying({ say: ['Yes?'] });
    await sound(harness, stream, 2_000);
    const before = stream.frames;
    await harness.passUntil(() => stream.frames > before, 2_000);
  });
});

// speech §3 item 14.
describe('acknowledgements and stop words that every author has to list', () => {
  const Long = 'Thank you for calling, all of our agents are busy and will be with you in a while.';
  const samples = (kind: keyof ControlPhrases) =>
    [...tablesOf('phrases')].flatMap(([language, { [kind]: list }]) =>
      list.slice(0, 2).map((phrase) => [language, phrase] as const),
    );

  async function stopsAgent(text: string): Promise<boolean> {
    const rig = new CallRig();
    rig.say(Long);
    await rig.run(1_000);
    await rig.says(text, 400);
    await rig.run(1_500);
    const stopped = rig.of('interruption').length > 0;
    await rig.audio.close();
    return stopped;
  }

  it('are known in twelve languages without a setting', async () => {
    expect([...tablesOf('phrases').keys()].sort()).toEqual([
      ...['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'nl', 'pt', 'th', 'zh'],
    ]);
    for (const [language, text] of samples('backchannels')) {
      expect({ language, text, stops: await stopsAgent(text) }).toMatchObject({ stops: false });
    }
    for (const [language, text] of [...samples('stops'), ...samples('waits')]) {
      expect({ language, text, stops: await stopsAgent(text) }).toMatchObject({ stops: true });
    }
  }, 60_000);
});

// speech §3 item 15; over its own echo: pipeline/real-speech.
describe('an agent that cannot be interrupted, and reacts to noise all the same', () => {
  it('speaks to its end, ignores sounds, and then answers what the caller said', async () => {
    const { harness } = held;
    const question = `${REPLY} Do you want tea or coffee?`;
    const [first, ...others] = drinks.nodes;
    const nodes = [{ ...first, data: { ...first?.data, say: question } }, ...others];
    await harness.prepare({ ...drinks, nodes } as typeof drinks);
    const { stream, run } = await harness.inboundCall();
    await harness.pass(300);
    await harness.says(stream, 'mhm', 300);
    await harness.pass(500);
    await harness.says(stream, 'I have a question', 500);
    await harness.passUntil(() =>
      harness.tts.asked.join(' ').includes('Please say tea or coffee.'),
    );
    await harness.heardOut(stream);
    const asked = { text: 'Please say tea or coffee.', interrupted: false };
    expect(await saidIn(harness, run)).toEqual([{ text: question, interrupted: false }, asked]);
    expect(await harness.bodies(run, 'user.turn')).toMatchObject([{ text: 'I have a question' }]);
    expect(stream.farEnd.clears).toBe(0);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    expect(await harness.transcript(await harness.ended(run))).toEqual([
      `assistant: ${question}`,
      'user: mhm',
      'user: I have a question',
      'assistant: Please say tea or coffee.',
      'user: tea',
      'assistant: Tea it is. Goodbye.',
    ]);
  });
});

// speech §3 item 16.
describe('answers that come late because of everything but the model', () => {
  it('the turn ends 0.3 s after a complete answer, not after a second', async () => {
    const { harness } = held;
    await harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const [latency] = await harness.bodies(run, 'turn.latency');
    expect(latency?.parts.endpointingMs).toBeLessThanOrEqual(300);
    expect(latency?.parts.gatewayMs).toBeLessThanOrEqual(25);
  });

  it('the model is connected before the caller has said a word', async () => {
    const { harness, llm } = await withModel([{ say: ['Yes.'] }]);
    expect(llm.requests).toEqual([]);
    expect(llm.prepared).toBeGreaterThan(0);
    expect(harness.errors).toEqual([]);
  });

  it('the voice begins while a model without punctuation still writes', async () => {
    const words = 'we are open from nine to five on every weekday and on saturdays too '.repeat(4);
    const say = words.split(/(?<=\s)/);
    const { harness, stream, llm } = await withModel([{ say, stepMs: 100 }]);
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 1);
    const before = stream.frames;
    await harness.passUntil(() => stream.frames > before, 1_000);
    expect(say.length * 100).toBeGreaterThan(5_000);
  });
});

// speech §3 item 13.
describe('calls of one process that spoil each other', () => {
  const Calls = 12;

  /** A recogniser for each call. */
  function separate(harness: CallHarness): FakeStt[] {
    const all: FakeStt[] = [];
    const open: SpeechToText['open'] = (expectation, listener) => {
      const stt = new FakeStt(harness.clock);
      all.push(stt);
      return stt.open(expectation, listener);
    };
    harness.speech.stt = Object.assign(new FakeStt(harness.clock), { open });
    return all;
  }

  it('twelve callers who speak at once are all answered as fast as one', async () => {
    const { harness } = held;
    await harness.at.sql('update organizations set concurrent_call_limit = 100');
    const recognizers = separate(harness);
    await harness.prepare();
    const calls: { stream: Stream; run: { id: string } }[] = [];
    for (let nth = 0; nth < Calls; nth++) {
      calls.push(await harness.inboundCall({ callId: `CA${String(nth).padStart(32, '0')}` }));
    }
    await harness.pass(2_500);
    for (const { stream } of calls) stream.line = 'voice';
    await harness.pass(300);
    for (const stt of recognizers) stt.understand('tea');
    await harness.pass(300);
    for (const { stream } of calls) stream.line = 'silence';
    await harness.pass(4_000);
    const answers: number[] = [];
    for (const { run } of calls) {
      const [latency] = await harness.bodies(run, 'turn.latency');
      answers.push(latency?.parts.totalMs ?? Number.NaN);
    }
    expect(answers).toHaveLength(Calls);
    expect(Math.max(...answers) - Math.min(...answers)).toBeLessThanOrEqual(40);
    expect(Math.max(...answers)).toBeLessThanOrEqual(500);
  }, 60_000);

  it('twenty calls with both sides speaking take less than a third of a processor', async () => {
    const rigs = Array.from({ length: 20 }, () => new CallRig());
    const speak = async (ms: number) => {
      for (let at = 0; at < ms; at += 100) for (const rig of rigs) await rig.run(100);
    };
    for (const rig of rigs) {
      rig.say('This sentence is spoken for as long as it is measured. '.repeat(6), {
        interruptible: false,
      });
      rig.line = 'voice';
    }
    await speak(1_000);
    const before = process.cpuUsage();
    await speak(4_000);
    const { user, system } = process.cpuUsage(before);
    for (const rig of rigs) await rig.audio.close();
    expect((user + system) / 1_000).toBeLessThan(4_000 / 3);
  }, 60_000);
});

// speech §3 item 9.
describe('silence after a telephone number, or after an empty answer of the model', () => {
  const Empty: Script = { fails: 'LLM_EMPTY' };
  const Good: Script = { tokens: ['Thank ', 'you, ', 'I ', 'have ', 'noted ', 'that.'] };

  /** Models by their rank; each answers in turn as its scripts say. */
  async function withModels(...scripts: Script[][]) {
    const { harness } = held;
    const { clock } = harness;
    const { log } = harness.deps;
    const services = scripts.map((own, rank) => {
      const left = [...own];
      const scriptOf = () => (left.length > 1 ? left.shift() : left[0]) ?? Empty;
      const model = faultyModel({ clock, name: `rank ${rank}`, scriptOf });
      return { model, circuit: new CircuitBreaker({ clock, job: 'stt', service: `rank ${rank}` }) };
    });
    harness.speech.llm = new FallbackModel({ services, clock, log });
    await harness.prepare(chat);
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'four one five five five five zero one nine nine');
    await harness.heardOut(stream);
    return { harness, stream, run, last: (await saidIn(harness, run)).at(-1)?.text };
  }

  it('an answer follows the number', async () => {
    expect((await withModels([Good])).last).toBe('Thank you, I have noted that.');
  });

  it('an empty answer is asked for once more', async () => {
    expect((await withModels([Empty, Good])).last).toBe('Thank you, I have noted that.');
  });

  it('after a second one the next model answers', async () => {
    expect((await withModels([Empty], [Good])).last).toBe('Thank you, I have noted that.');
  });

  it('if all answer nothing, the caller is asked again, and the call goes on', async () => {
    const { harness, stream, last } = await withModels([Empty], [Empty]);
    expect(last).toContain('Could you say that again');
    await harness.pass(500);
    expect(stream.open).toBe(true);
  });

  it('a number that is given by keys is answered too', async () => {
    const { harness, stream, run } = await withModel([{ say: ['Thank you.'] }]);
    for (const key of '4155550199#') {
      stream.key(key);
      await harness.pass(100);
    }
    await harness.heardOut(stream);
    expect((await saidIn(harness, run)).at(-1)?.text).toBe('Thank you.');
  });
});
