// Recorded human speech with the embedded recogniser, in whole calls. Nothing was set with these recordings: they judge
// what was set with synthesized voices. The figures are printed, and are in docs/recognition.md.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import type { SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { xorshift } from '../../../audio/sounds.ts';
import { openJudge } from '../../../bench/recognition/judged-words.ts';
import { definition, edge, end, start } from '../../../workflow/definitions.ts';
import {
  COMMANDS,
  DIGITS,
  type HumanSpeech,
  INTERRUPTED_SENTENCES,
  openInProcess,
  READ_ALOUD,
  samplesOf,
  type Understanding,
  understood,
  WHOLE_SENTENCES,
} from './human-speech.ts';
import { print, share } from './synthetic-speech.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

/** A first step that asks for one value. */
function asking(type: string) {
  const ask = start('ask', { say: 'Tell me.', slots: [{ name: 'value', type }] });
  return definition([ask, end('done', { say: 'Bye.' })], [edge('ask', 'done', { slot: 'value' })]);
}

/** A first step with these choices. */
function choosing(phrases: readonly string[]) {
  const edges = phrases.map((phrase) =>
    edge('ask', 'done', { label: phrase, phrases: [phrase], slot: 'value' }),
  );
  return definition([start('ask', { say: 'Which?' }), end('done', { say: 'Bye.' })], edges);
}

const STEPS = {
  'yes or no': asking('yes_no'),
  menu: choosing(['book an appointment', 'make an appointment', 'cancel an appointment']),
  weekday: asking('weekday'),
  digits: asking('digits'),
} as const;

const RANKS = 'ace two three four five six seven eight nine ten jack queen king'.split(' ');
const CARDS = ['clubs', 'hearts', 'diamonds', 'spades'].flatMap((suit) =>
  RANKS.map((rank) => `${rank} of ${suit}`),
);
const COMMAND_STEP = choosing([
  ...CARDS,
  ...['four queen of clubs', 'eight of spades four of clubs seven of hearts'],
  ...['go forward ten meters', 'go backward ten meters', 'go forward two meters'],
]);

const VALUES: Record<string, string> = { 'five five': '55', 'two nine three four zero': '29340' };
/** With no noise, and with noise 38 and 26 dB below the speech. */
const LINES = [0, 1, 2];

let stt: SpeechToText | undefined;
beforeAll(() => {
  if (missing === undefined) stt = openInProcess();
}, 60_000);
afterAll(() => stt?.close());

async function each(
  speeches: readonly HumanSpeech[],
  step: ReturnType<typeof asking>,
): Promise<(Understanding & { text: string })[]> {
  if (stt === undefined) expect.unreachable();
  const all: (Understanding & { text: string })[] = [];
  for (const [nth, speech] of speeches.entries()) {
    const outcome = await understood(stt, { speech, definition: step, nth });
    print(`  "${speech.text}": ${outcome.outcome} (${outcome.words})`);
    all.push({ ...outcome, text: speech.text });
  }
  return all;
}

const count = (of: readonly Understanding[], outcome: string) =>
  of.filter((one) => one.outcome === outcome).length;

describe.skipIf(missing !== undefined)(`human speech${skipped}`, () => {
  // The line around a recording was taken for words that the grammar lacks.
  it.each([0, 2, 8, 30])('is accepted on a line of its own noise, up to a sample of %i', (peak) => {
    const judge = openJudge();
    const step = { ...OPEN_SPEECH, closed: true, phrases: CARDS };
    const random = xorshift(7);
    for (const speech of COMMANDS.filter(({ text }) => /^(ten|seven) of clubs$/.test(text))) {
      const line = new Int16Array(16_000).map(() => Math.round(peak * random()));
      const pcm = samplesOf(speech);
      for (const [nth, sample] of pcm.entries()) line[3_200 + nth] = sample;
      expect(judge.judge(line, step)).toMatchObject({ text: speech.text, trust: 'accept' });
    }
    judge.close();
  });
});

describe.skipIf(missing !== undefined)(`human speech in a call${skipped}`, () => {
  it('is accepted in at most 3 of 100 cases where no step expects it, and ends no call', async () => {
    const found: Understanding[] = [];
    for (const [name, step] of Object.entries(STEPS)) {
      print(name);
      // A card's number is an expected digit.
      const others = name === 'digits' ? [] : COMMANDS;
      found.push(...(await each([...READ_ALOUD, ...others], step)));
    }
    share('unexpected human speech asked about', count(found, 'asked'), found.length);
    const waits = share('unexpected human speech waited for', count(found, 'waits'), found.length);
    expect(waits).toBeLessThan(0.1);
    const accepted = count(found, 'accepted');
    const words = found.filter(({ words }) => words !== '').length;
    expect(words).toBeGreaterThan(0.9 * found.length);
    expect(share('unexpected human speech accepted', accepted, found.length)).toBeLessThanOrEqual(
      0.03,
    );
    expect(found.filter(({ hasEnded }) => hasEnded)).toEqual([]);
  }, 300_000);

  it('is accepted as itself where it is one of the choices', async () => {
    const found = [
      ...(await each(
        LINES.flatMap(() => COMMANDS),
        COMMAND_STEP,
      )),
      ...(await each(READ_ALOUD, choosing(READ_ALOUD.map(({ text }) => text)))),
    ];
    share('human answers asked about', count(found, 'asked'), found.length);
    share('human answers rejected', count(found, 'rejected'), found.length);
    const accepted = share('human answers accepted', count(found, 'accepted'), found.length);
    const wrong = found.filter(({ value, text }) => value !== undefined && value !== text);
    expect(wrong).toEqual([]);
    expect(accepted).toBeGreaterThanOrEqual(0.9);
  }, 300_000);

  // "Four queen of clubs" was taken for "four of clubs", with a confidence of 0.84.
  it('with a word that no choice has in its middle is asked about', async () => {
    const inserted = COMMANDS.filter(({ text }) => /^four queen|^eight of/.test(text));
    const found = await each(
      LINES.flatMap(() => inserted),
      choosing(CARDS),
    );
    const sentences = choosing(WHOLE_SENTENCES.map(({ text }) => text));
    found.push(...(await each(INTERRUPTED_SENTENCES, sentences)));
    const accepted = share('choices with other words', count(found, 'accepted'), found.length);
    share('of them asked about', count(found, 'asked'), found.length);
    expect(found.length).toBe(22);
    expect(accepted).toBe(0);
    const whole = await each(WHOLE_SENTENCES, sentences);
    expect(share('whole sentences accepted', count(whole, 'accepted'), whole.length)).toBe(1);
  }, 300_000);

  it('is never accepted as other digits', async () => {
    const found = await each(
      LINES.flatMap(() => DIGITS),
      STEPS.digits,
    );
    const right = found.filter(({ value, text }) => value === VALUES[text]);
    const wrong = found.filter((one) => one.outcome === 'accepted' && !right.includes(one));
    share('digits of people right', right.length, found.length);
    share('digits of people accepted', count(found, 'accepted'), found.length);
    share('digits of people read back', count(found, 'asked'), found.length);
    expect(wrong).toEqual([]);
    expect(right.length).toBeGreaterThanOrEqual(0.6 * found.length);
  }, 120_000);
});
