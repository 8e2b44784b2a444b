// Calls with sounds made at run time, the embedded recogniser, and the embedded voices or a scripted model: requests to wait,
// foreign speech, text without punctuation, text that is no speech, and the level of the voices.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceChange } from '../../../src/speech/service/service-reports.ts';
import { missingLibraries } from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { FLITE_VOICES } from '../../../src/speech/tts/flite/flite.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { ENGLISH_LINES, fillLine } from '../../../src/workflow/engine/dialogue-lines.ts';
import { type Judge, openJudge, promptsOf } from '../../bench/recognition/judged-words.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { render } from '../../pipeline/real-call.ts';
import { print, share, spokenBySpeakers } from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { withCallHarness } from '../call-harness.ts';
import {
  EmbeddedSpeech,
  firstSoundMs,
  heardBetween,
  lastSoundMs,
  levelInBandDb,
  SpokenCalls,
} from '../embedded-speech.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

const QUESTION =
  'Welcome to the clinic in Main Street, which is open on every weekday. Would you like to book an appointment, or hear our opening hours?';
const menu = definition(
  [
    start('ask', { say: QUESTION, allow_interrupt: true }),
    end('book', { say: 'Your appointment is booked. Goodbye.' }),
    end('hours', { say: 'We open at nine. Goodbye.' }),
  ],
  [
    edge('ask', 'book', { label: 'Book', phrases: ['book an appointment'], slot: 'wish' }),
    edge('ask', 'hours', { label: 'Hours', phrases: ['opening hours'], slot: 'wish' }),
  ],
);
const chat = definition(
  [start('talk', { greeting: 'Hello, how can I help?', allow_interrupt: true }), end('bye')],
  [edge('talk', 'bye', { label: 'Finish', phrases: ['opening hours'] })],
);

const PAYMENT =
  'Would you like to pay by card? You can also pay in cash when you come to us, or later by a bank transfer in the next month.';
const payment = definition(
  [
    start('ask', {
      say: PAYMENT,
      allow_interrupt: true,
      slots: [{ name: 'card', type: 'yes_no' }],
    }),
    end('bye', { say: 'Thank you. Goodbye.' }),
  ],
  [edge('ask', 'bye', { label: 'Done', always: true })],
);

/** From a synthesized sentence to the far end: turns of the media clock, and audio that is sent ahead. */
const SENT_MS = 60;
/** G.711 decodes nothing beyond 32,124. */
const CLIPPED = 31_500;

const held = withCallHarness();

describe.skipIf(missing !== undefined)(
  `a call with the embedded voice and recogniser${skipped}`,
  () => {
    let speech: EmbeddedSpeech;
    let judge: Judge;
    let calls: SpokenCalls;
    beforeAll(async () => {
      speech = await EmbeddedSpeech.open();
      judge = openJudge();
    }, 60_000);
    beforeEach(() => {
      calls = new SpokenCalls(held.harness, speech);
    });
    afterAll(async () => {
      judge.close();
      await speech.close();
    });

    async function ring(agent: WorkflowDefinition, settings = {}) {
      await calls.harness.prepare(agent, settings);
      return calls.harness.inboundCall();
    }

    async function withModel(answers: readonly Answer[], settings = {}) {
      const llm = new ScriptedModel(calls.harness.clock);
      llm.answers = [...answers];
      calls.harness.speech.llm = llm;
      const { stream, run } = await ring(chat, settings);
      await calls.heardOut(stream);
      return { llm, stream, run };
    }

    const said = async (run: { id: string }) =>
      (await calls.harness.bodies(run, 'agent.said')).map(({ text }) => text);
    async function spoken(text: string) {
      const sound = (await render([{ voice: 'rms', text }])).get(text);
      if (sound === undefined) throw new Error(`not rendered: ${text}`);
      return sound;
    }
    const now = () => calls.harness.clock.monotonicMs();

    describe('a caller who says', () => {
      it.each([
        ['stop', 'rms', 'while the agent speaks'],
        ['wait a minute', 'kal16', 'while the agent speaks'],
        ['hold on', 'rms', 'while the agent speaks'],
        ['stop', 'kal16', 'after the question'],
        ['wait a minute', 'rms', 'after the question'],
        ['hold on', 'kal16', 'after the question'],
      ])(
        '"%s" (voice %s) %s: the agent is silent, says when asked that it is there, and goes on when spoken to',
        async (text, voice, when) => {
          const texts = [text, 'can you hear me', 'book an appointment'];
          const sounds = await render(texts.map((each) => ({ voice, text: each })));
          const pcm = (each: string) => sounds.get(each)?.pcm ?? new Int16Array();
          const { stream, run } = await ring(menu);
          if (when === 'after the question') await calls.heardOut(stream);
          else await calls.pass(2_500);
          await calls.says(stream, pcm(text));
          const before = await said(run);
          expect(before.slice(1)).toEqual([ENGLISH_LINES.waiting]);
          expect(before[0] === QUESTION).toBe(when === 'after the question');
          const silentSince = lastSoundMs(stream);
          await calls.pass(5_000);
          expect(lastSoundMs(stream)).toBe(silentSince);
          await calls.says(stream, pcm('can you hear me'));
          expect((await said(run)).slice(2)[0]).toContain(ENGLISH_LINES.stillHere);
          await calls.says(stream, pcm('book an appointment'));
          expect((await said(run)).at(-1)).toBe('Your appointment is booked. Goodbye.');
        },
        60_000,
      );
    });

    // Such an answer was set aside: nobody asked about it, and the caller waited for the agent's next question.
    it('asks after its words about a doubted answer that was given while it went on speaking', async () => {
      const { stream, run } = await ring(payment);
      await calls.passUntil(() => lastSoundMs(stream) > 0);
      await calls.pass(3_000);
      const sounds = await spokenBySpeakers(['no thank you']);
      // Recognised, and doubted.
      const { pcm } =
        sounds.find(({ speaker }) => speaker === 'kal, slower') ?? expect.unreachable();
      await calls.says(stream, pcm);
      const asked = fillLine(ENGLISH_LINES.confirm, { value: 'no' });
      expect(await said(run)).toEqual([PAYMENT, asked]);
      expect(await calls.harness.bodies(run, 'interruption')).toEqual([]);
    });

    // Spanish became "not really", and was believed.
    it('does not give foreign speech to the model: the caller is asked', async () => {
      const { llm, stream } = await withModel([{ say: ['I see.'] }]);
      // More consecutive ones end the call.
      const foreign = [...promptsOf('italian'), ...promptsOf('russian')]
        .filter((_prompt, nth) => nth % 3 === 0)
        .slice(0, 5);
      let [believed, silent] = [0, 0];
      for (const { pcm, text } of foreign) {
        const [before, fromMs] = [llm.spoken.length, now() + pcm.length / 8];
        await calls.says(stream, pcm, 2_500);
        const isBelieved = llm.spoken.length > before;
        if (isBelieved) print(`believed: ${text}: ${llm.spoken.at(-1)?.messages.at(-1)?.content}`);
        believed += Number(isBelieved);
        silent += Number(firstSoundMs(stream, fromMs) === Number.POSITIVE_INFINITY);
      }
      expect(foreign.length).toBe(5);
      expect(
        share('foreign speech given to the model', believed, foreign.length),
      ).toBeLessThanOrEqual(0.03);
      expect(silent).toBe(0);
    }, 120_000);

    it.each([
      ['fast', 10],
      ['usual', 60],
      ['slow', 150],
    ])(
      'speaks after eight words or 400 ms of a text without punctuation, by a %s model (%i ms a word)',
      async (_what, stepMs) => {
        const text =
          'we are open from nine to five on every weekday and on saturdays until noon '.repeat(6);
        const say = text.split(/(?<=\s)/);
        const { llm, stream, run } = await withModel([{ say, stepMs }]);
        const { pcm } = await spoken('opening hours');
        stream.sound = pcm;
        expect(await calls.passUntil(() => llm.spoken.length > 0)).toBe(true);
        const firstTokenMs = now() + stepMs;
        const hasBegun = () => firstSoundMs(stream, firstTokenMs) < Number.POSITIVE_INFINITY;
        await calls.passUntil(hasBegun, 5_000);
        await calls.heardOut(stream, 2_000);
        const first = firstSoundMs(stream, firstTokenMs) - firstTokenMs;
        print(`${stepMs} ms a word: first sound ${first} ms after the first word`);
        expect(first).toBeLessThanOrEqual(400 + SENT_MS);
        expect((await said(run)).at(-1)).toBe(text.trim());
      },
    );

    describe('what a model writes that is no speech', () => {
      it.each([
        [
          'SSML',
          '<speak>Your table <break time="3s"/>is ready.</speak>',
          'your table is ready',
          ['speak your table break time three s is ready speak', 'your table'],
        ],
        [
          'Markdown',
          '**Your table** is _ready_ with\n- bread\n- butter',
          'your table is ready with bread butter',
          ['star star your table star star is ready with dash bread dash butter', 'your table is'],
        ],
        [
          'emoji',
          'Your table is ready 👍🎉',
          'your table is ready',
          ['your table is ready thumbs up', 'your table is ready question mark question mark'],
        ],
        [
          'symbols',
          'It costs 5 € & it is 20 °C',
          'it costs five euros and it is twenty degrees celsius',
          ['it costs five it is twenty c', 'it costs five and it is twenty'],
        ],
        [
          'an ISO date',
          'Your table is booked for 2026-09-03.',
          'your table is booked for september third twenty twenty six',
          [
            'your table is booked for twenty twenty six zero nine zero three',
            'your table is booked for two thousand twenty six dash zero nine dash zero three',
            'your table is booked for twenty twenty six nine three',
          ],
        ],
      ])('is said as words: %s', async (_what, written, right, wrong) => {
        const { stream, run } = await withModel([{ say: written.split(/(?<=\s)/) }]);
        const { pcm } = await spoken('opening hours');
        const fromMs = now() + pcm.length / 8;
        await calls.says(stream, pcm);
        const sound = heardBetween(stream, { fromMs, untilMs: now() });
        const phrases = [right, ...wrong];
        const { text } = judge.judge(sound, { ...OPEN_SPEECH, closed: true, phrases });
        expect(text).toBe(right);
        const last = (await said(run)).at(-1) ?? '';
        expect(last).not.toMatch(/[<>*_]|\p{Extended_Pictographic}/u);
        expect(await calls.harness.bodies(run, 'fault')).toEqual([]);
      });

      it.each([
        ['in another script', 'Ваш приём в пятницу.', [ENGLISH_LINES.trouble]],
        ['of emoji alone', '👍', [ENGLISH_LINES.trouble]],
        ['with a name in another script', 'Your doctor is Иван Петров.', []],
      ])('%s is a fault of the run, and the caller hears words', async (what, written, instead) => {
        const { stream, run } = await withModel([{ say: [written] }]);
        const { pcm } = await spoken('opening hours');
        const fromMs = now() + pcm.length / 8;
        await calls.says(stream, pcm);
        expect(firstSoundMs(stream, fromMs) - fromMs).toBeLessThan(2_500);
        expect(await said(run)).toEqual(expect.arrayContaining(instead));
        const faults = await calls.harness.bodies(run, 'fault');
        if (what !== 'of emoji alone')
          expect(faults).toMatchObject([{ code: 'TTS_FAILED', fatal: false }]);
      });

      it('is said by the next voice where the first one cannot say it', async () => {
        const { clock, deps } = calls.harness;
        const other = new FakeTts(clock);
        const services = [calls.harness.speech.tts, other].map((service) => ({
          service,
          circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
        }));
        const { speech } = calls.harness;
        const onChanged = (change: ServiceChange) => speech.onServiceChanged?.(change);
        speech.tts = createTtsFallback({ services, clock, log: deps.log, onChanged });
        const { stream, run } = await withModel([{ say: ['Ваш приём в пятницу.'] }]);
        const { pcm } = await spoken('opening hours');
        await calls.says(stream, pcm);
        expect(other.asked).toEqual(['Ваш приём в пятницу.']);
        expect(await said(run)).toContain('Ваш приём в пятницу.');
        expect(await calls.harness.bodies(run, 'fault')).toMatchObject([
          { fatal: false, change: { job: 'tts', kind: 'overload', from: 'flite', to: 'fake' } },
        ]);
      });
    });

    it.each(FLITE_VOICES)(
      'has the voice %s at -20 dBFS in the telephone band at the far end, without clipping',
      async (voice) => {
        calls.harness.speech.voice = voice;
        const { stream } = await ring(menu);
        await calls.heardOut(stream);
        const fromMs = firstSoundMs(stream, 0);
        const pcm = heardBetween(stream, { fromMs, untilMs: lastSoundMs(stream) });
        const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
        const level = levelInBandDb(pcm);
        print(`${voice}: ${level.toFixed(1)} dBFS, peak ${peak}`);
        expect(pcm.length).toBeGreaterThan(8_000);
        expect(level).toBeGreaterThanOrEqual(-22);
        expect(level).toBeLessThanOrEqual(-18);
        expect(peak).toBeLessThan(CLIPPED);
      },
    );
  },
);
