// Speech that the grammar does not expect, with the embedded recogniser: other sentences, other languages, requests to
// wait, and many callers at once. Sounds are made by Flite at run time; each voice also speaks lower and slower. The
// figures are printed, and bounds asserted.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWaitPhrase } from '../../../../src/model/control-phrases.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { trustIn } from '../../../../src/model/word-trust.ts';
import { RULES } from '../../../../src/speech/stt/pocketsphinx/jsgf.ts';
import { openPocketSphinx } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { RIVAL_PHRASES } from '../../../../src/speech/stt/pocketsphinx/rival-phrases.ts';
import type { RecognizedWords, SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { openRecognizer, utter } from '../stt-contract.ts';
import {
  grammarsWith,
  line,
  print,
  recognizedAs,
  type Sound,
  share,
  spokenBySpeakers,
} from './synthetic-speech.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

const GLOBALS = ['repeat that', 'help'];
const GRAMMARS = grammarsWith(GLOBALS);
const NAMES = Object.keys(GRAMMARS);
const WAITS = ['stop', 'wait a minute', 'hold on'];
const ELSEWHERE = [
  ...['I would like to speak with my brother about the car', 'the weather is terrible today'],
  ...['what are your opening hours', 'my dog ate the newspaper', 'travelling', 'not feeling well'],
  ...['where is the station', 'my insurance number is on the card', 'new patient', 'another day'],
  ...['no entiendo lo que dice', 'buenos dias quisiera hablar con alguien', 'cuanto cuesta'],
  ...['ich verstehe sie nicht', 'guten tag ich moechte einen termin', 'wie bitte'],
  ...['je ne comprends pas', 'bonjour je voudrais un rendez-vous', 'combien ca coute'],
];

let sounds: Sound[] = [];
let stt: SpeechToText | undefined;

beforeAll(async () => {
  if (missing !== undefined) return;
  // Time that does not pass: a busy machine gives up no utterance.
  stt = await openPocketSphinx({ clock: new FakeClock(), log: quietLog().log });
  const texts = [...WAITS, ...ELSEWHERE, 'book an appointment'];
  sounds = await spokenBySpeakers(texts);
}, 120_000);
afterAll(() => stt?.close());

/** The final words of one sound with one grammar. */
const recognized = (sound: Sound, grammar: string) => recognizedAs(stt, sound, GRAMMARS[grammar]);

function of(texts: readonly string[]): Sound[] {
  return sounds.filter(({ text }) => texts.includes(text));
}

describe.skipIf(missing !== undefined)(`the embedded recogniser${skipped}`, () => {
  it('accepts at most 3 of 100 unexpected utterances, in four grammars', async () => {
    let accepted = 0;
    let all = 0;
    // Every other one, with each grammar in turn.
    const some = of(ELSEWHERE).filter((_sound, nth) => nth % 2 === 0);
    for (const [nth, sound] of some.entries()) {
      const grammar = NAMES[nth % NAMES.length] ?? 'menu';
      const { text, confidence } = await recognized(sound, grammar);
      all++;
      const isAnswer = text !== '' && isExpected(text, grammar);
      accepted += Number(isAnswer && trustIn(confidence) === 'accept');
    }
    expect(share('unexpected speech accepted', accepted, all)).toBeLessThanOrEqual(0.03);
  }, 300_000);

  it('recognises a phrase of another step as itself, and finds no goodbye in it', async () => {
    const step = {
      ...OPEN_SPEECH,
      closed: true,
      phrases: ['talk about my bill', 'opening hours', ...GLOBALS, 'goodbye'],
    };
    const elsewhere = ['book an appointment', 'cancel an appointment', 'in the afternoon'];
    const all = of(['book an appointment']);
    const isAnswer = ({ text, confidence }: RecognizedWords) =>
      step.phrases.includes(text) && trustIn(confidence) !== 'reject';
    let [itself, answers] = [0, 0];
    for (const sound of all) {
      const words = await recognizedAs(stt, sound, { ...step, elsewhere });
      itself += Number(words.text === 'book an appointment');
      answers += Number(isAnswer(words));
    }
    expect(share('phrases of another step recognised', itself, all.length)).toBeGreaterThanOrEqual(
      0.8,
    );
    expect(share('taken for one of this step', answers, all.length)).toBe(0);
  });

  it('still understands what it expects', async () => {
    const booked = await Promise.all(
      of(['book an appointment']).map((sound) => recognized(sound, 'menu')),
    );
    const right = booked.filter(
      ({ text, confidence }) => text === 'book an appointment' && trustIn(confidence) !== 'reject',
    );
    expect(share('expected phrases recognised', right.length, booked.length)).toBeGreaterThan(0.85);
  });

  it('understands a request to wait as one in most cases, and not as help', async () => {
    let waits = 0;
    let helps = 0;
    let all = 0;
    for (const [nth, sound] of of(WAITS).entries()) {
      const { text, confidence } = await recognized(sound, NAMES[nth % NAMES.length] ?? 'menu');
      all++;
      waits += Number(isWaitPhrase(text) && trustIn(confidence) !== 'reject');
      helps += Number(text === 'help' && trustIn(confidence) === 'accept');
    }
    expect(share('requests to wait understood', waits, all)).toBeGreaterThan(0.85);
    expect(share('requests to wait taken for help', helps, all)).toBeLessThanOrEqual(0.01);
  }, 60_000);

  it.each([20, 30])(
    'loses no call when %i callers speak for six seconds at once',
    async (callers) => {
      if (stt === undefined) expect.unreachable();
      const speech = stt;
      const [first] = of(['I would like to speak with my brother about the car']);
      const pcm = new Int16Array(48_000);
      for (let from = 0; from < pcm.length; from += first?.pcm.length ?? pcm.length) {
        pcm.set((first?.pcm ?? pcm).subarray(0, pcm.length - from), from);
      }
      const startMs = systemClock.monotonicMs();
      const calls = Array.from({ length: callers }, () =>
        openRecognizer(speech, GRAMMARS['menu'] ?? OPEN_SPEECH),
      );
      for (const { recognizer } of calls) utter(recognizer, pcm);
      await Promise.all(calls.map((call) => call.final()));
      print(`${callers} callers: last words ${Math.round(systemClock.monotonicMs() - startMs)} ms`);
      const [answer] = of(['book an appointment']);
      for (const call of calls) {
        utter(call.recognizer, line(answer?.pcm ?? new Int16Array()));
        await call.final(2);
        expect(call.errors).toEqual([]);
        call.recognizer.close();
      }
      const heard = calls.map(({ finals }) => finals[1]?.text);
      expect(new Set(heard)).toEqual(new Set(['book an appointment']));
    },
    300_000,
  );
});

/** Whether the text is one of the grammar's own phrases or values, not one of the rivals beside them. */
function isExpected(text: string, grammar: string): boolean {
  if (GRAMMARS[grammar]?.phrases.includes(text) === true) return true;
  if (grammar === 'menu') return false;
  const answers = (RULES['slot_yes_no'] ?? '').split(' | ');
  return grammar === 'yes or no' ? answers.includes(text) : !RIVAL_PHRASES.includes(text);
}
