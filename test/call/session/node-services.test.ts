// A call whose agent changes its language at an edge: two recognisers, two voices and two models in one conversation.

import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { SpeechPlan } from '../../../src/speech/speech-plan.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { linesFor } from '../../../src/workflow/engine/dialogue-lines.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import type { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { agent, definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import type { Stream } from '../stream.ts';

const held = withCallHarness();

const bilingual = definition(
  [
    start('hello', { name: 'Hello', greeting: 'Hello, English or German?', allow_interrupt: true }),
    agent('german', { name: 'German', language: 'de', allow_interrupt: true }),
    end('bye', { name: 'Bye' }),
  ],
  [
    edge('hello', 'german', { label: 'German', transition_speech: 'One moment.' }),
    edge('german', 'hello', { label: 'English' }),
    edge('german', 'bye', { label: 'Finish' }),
  ],
);

function services(clock: FakeClock) {
  const recogniser = (name: string) => {
    const service = new RecognizingService({ clock, name });
    return { service, circuit: new CircuitBreaker({ clock, job: 'stt', service: name }) };
  };
  const [english, german] = [recogniser('stt-en'), recogniser('stt-de')];
  const voices = {
    english: new StreamedTts({ clock, name: 'tts-en', wordTimes: true }),
    german: new StreamedTts({ clock, name: 'tts-de', wordTimes: true }),
  };
  const models = {
    english: Object.assign(new ScriptedModel(clock), { name: 'llm-en' }),
    german: Object.assign(new ScriptedModel(clock), { name: 'llm-de' }),
  };
  const stt = createSttFallback({
    services: [english],
    others: [[german]],

    clock,
    log: quietLog().log,
  });
  const plan: SpeechPlan = {
    stt,
    tts: voices.english,
    voice: 'A',
    llm: models.english,
    nodes: new Map([
      [
        'german',
        { sttList: 1, tts: voices.german, voice: 'B', llm: models.german, language: 'de' },
      ],
    ]),
  };
  return { plan, english: english.service, german: german.service, voices, models };
}

async function says(harness: CallHarness, stream: Stream, words: string): Promise<void> {
  stream.sound = Int16Array.from(framesOf(words).flatMap((each) => [...each]));
  await harness.passUntil(() => stream.sound.length < 160);
}

async function call() {
  const { harness } = held;
  const at = services(harness.clock);
  Object.assign(harness.speech, at.plan);
  await harness.prepare(bilingual);
  return { harness, ...at };
}

const pushed = ({ log }: StreamedTts) => log.filter((each) => each.startsWith('push'));

describe('a call whose node has another language', () => {
  it('has every word once, from the recogniser, the voice and the model of each node', async () => {
    const { harness, english, german, voices, models } = await call();
    models.english.answers = [{ call: 'german' }, { say: ['Welcome back.'] }];
    models.german.answers = [{ say: ['Guten Tag.'] }, { say: ['Sehr gern.'] }, { call: 'english' }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await says(harness, stream, 'w1 w2');
    await harness.heardOut(stream);
    await says(harness, stream, 'w3 w4 w5');
    await harness.heardOut(stream);
    await says(harness, stream, 'w6');
    await harness.heardOut(stream);
    await says(harness, stream, 'w7 w8');
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toEqual([
      'assistant: Hello, English or German?',
      'user: w1 w2',
      'assistant: One moment.',
      'assistant: Guten Tag.',
      'user: w3 w4 w5',
      'assistant: Sehr gern.',
      'user: w6',
      'assistant: Welcome back.',
      'user: w7 w8',
      'assistant: Welcome back.',
    ]);
    // The edge's line still belongs to the node that it leaves.
    expect(pushed(voices.english).slice(0, 2)).toEqual([
      'push Hello, English or German?',
      'push One moment.',
    ]);
    expect(pushed(voices.german)).toEqual(['push Guten Tag.', 'push Sehr gern.']);
    expect(new Set(voices.german.voices)).toEqual(new Set(['B']));
    expect([english.sessions.length, german.sessions.length]).toEqual([2, 1]);
    expect(english.sessions[0]?.isClosed && german.sessions[0]?.isClosed).toBe(true);
    // The history goes on from model to model.
    expect(JSON.stringify(models.german.spoken[0]?.messages)).toContain('w1 w2');
    const of = async (type: 'recognition.usage' | 'speech.usage' | 'model.usage') =>
      [...new Set((await harness.bodies(run, type)).map(({ service }) => service))].sort();
    expect(await of('recognition.usage')).toEqual(['stt-de', 'stt-en']);
    expect(await of('speech.usage')).toEqual(['tts-de', 'tts-en']);
    expect(await of('model.usage')).toEqual(['llm-de', 'llm-en']);
    expect(await harness.bodies(run, 'fault')).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('has a fault that lasts in its run, though the caller does not notice it', async () => {
    const { harness } = await call();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    harness.speech.onPermanentFault?.(
      new ServiceFault('tts', 'tts-en', 'quota', { detail: 'no credits' }),
    );
    stream.hangUp();
    const done = await harness.ended(run);
    expect(done.state).toBe('completed');
    expect(await harness.bodies(run, 'fault')).toMatchObject([
      { fatal: false, service: { job: 'tts', name: 'tts-en', kind: 'quota' } },
    ]);
  });

  // A run said nothing of a fault that passes: nobody could tell why its caller had heard a pause and another voice.
  it('has a change of service because of a fault that passes in its run, and not in its owner’s faults', async () => {
    const { harness } = await call();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    harness.speech.onServiceChanged?.({
      job: 'stt',
      fault: new ServiceFault('stt', 'deepgram', 'overload', { detail: 'busy', status: 503 }),
      from: { name: 'deepgram', model: 'nova-3' },
      to: { name: 'vosk', model: '' },
    });
    stream.hangUp();
    const done = await harness.ended(run);
    const items = done.logs['realtime_feedback_events'] as { type: string; payload: object }[];
    expect(items.find(({ type }) => type === 'rtf-pipeline-error')?.payload).toEqual({
      error: 'Speech recognition failed: deepgram, overload 503 (busy); the call goes on with vosk',
      fatal: false,
      processor: 'STT_FAILED',
      service_change: {
        kind: 'stt',
        fault: 'overload',

        from: 'deepgram',
        from_model: 'nova-3',
        to: 'vosk',
        to_model: '',
      },
    });
    const { organizationId } = harness.at.owner;
    expect(await harness.at.store.serviceFaults.list(organizationId)).toEqual([]);
  });

  it('keeps the words of a caller who speaks while the node changes', async () => {
    const { harness, english, german, models } = await call();
    models.english.answers = [{ call: 'german' }];
    models.german.answers = [{ say: ['Guten Tag, was darf ich tun?'] }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await says(harness, stream, 'w1 w2');
    // The model has taken the edge, and the caller speaks on at once.
    await harness.passUntil(() => models.english.spoken.length > 0);
    await harness.pass(100);
    await says(harness, stream, 'w3 w4 w5 w6');
    await harness.heardOut(stream);
    await says(harness, stream, 'w7 w8');
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.ended(run);
    const heard = (await harness.bodies(run, 'user.turn')).map(({ text }) => text).join(' ');
    expect(heard.match(/w\d/g)).toEqual(['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8']);
    expect(german.sessions).toHaveLength(1);
    expect(english.sessions.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it("renders the engine's lines for a wait in the voice and the language of the node", async () => {
    const { harness, plan, models } = await call();
    const voices = { english: new FakeTts(harness.clock), german: new FakeTts(harness.clock) };
    const node = plan.nodes?.get('german');
    if (node === undefined) throw new Error('no such node');
    const nodes = new Map([['german', { ...node, tts: voices.german }]]);
    Object.assign(harness.speech, { tts: voices.english, nodes });
    models.english.answers = [{ call: 'german' }];
    models.german.answers = [{ hangs: true }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await says(harness, stream, 'w1 w2');
    await harness.passUntil(() => voices.german.rendered.includes(linesFor('de').apology));
    expect(voices.english.rendered).toContain(linesFor('en').apology);
    await harness.pass(4_000);
    const said = (await harness.bodies(run, 'agent.said')).map(({ text }) => text);
    expect(linesFor('de').oneMoment).toContain(said.at(-1));
    stream.hangUp();
    await harness.ended(run);
    const characters = await harness.bodies(run, 'speech.usage');
    expect(characters.length).toBeGreaterThan(0);
  });

  it('renders no line for a wait again in a node whose model alone differs', async () => {
    const { harness } = held;
    const { plan, models } = services(harness.clock);
    const tts = new FakeTts(harness.clock);
    const node = { tts, voice: 'A', llm: models.german };
    Object.assign(harness.speech, { ...plan, tts, nodes: new Map([['talk', node]]) });
    await harness.prepare(
      definition(
        [start('hello', { greeting: 'Hello.', allow_interrupt: true }), agent('talk'), end('bye')],
        [edge('hello', 'talk', { label: 'Talk' }), edge('talk', 'bye', { label: 'Finish' })],
      ),
    );
    models.english.answers = [{ call: 'talk' }];
    models.german.answers = [{ say: ['What can I do for you?'] }];
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await says(harness, stream, 'w1 w2');
    await harness.passUntil(() => models.german.spoken.length > 0);
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.ended(run);
    expect(tts.rendered).toContain(linesFor('en').apology);
    expect(new Set(tts.rendered).size).toBe(tts.rendered.length);
  });

  it.each([
    [true, 'en'],
    [false, 'hi'],
  ])(
    'has letters for the lines of its agent: Latin ones alone %s, lines in %s',
    async (isLatinOnly, language) => {
      const { harness } = held;
      const tts = Object.assign(new FakeTts(harness.clock), { isLatinOnly });
      Object.assign(harness.speech, { tts, llm: services(harness.clock).models.english });
      await harness.prepare(
        definition([start('hello', { greeting: 'Hello.' }), end('bye')], [edge('hello', 'bye')]),
        { agent_language: 'hi' },
      );
      const { stream, run } = await harness.inboundCall();
      await harness.passUntil(() => tts.rendered.includes(linesFor(language).apology));
      stream.hangUp();
      await harness.ended(run);
      const other = linesFor(isLatinOnly ? 'hi' : 'en').apology;
      expect(tts.rendered).not.toContain(other);
    },
  );
});
