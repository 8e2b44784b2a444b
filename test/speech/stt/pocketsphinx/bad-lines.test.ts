// Recorded people on clear and on bad lines, with the embedded recogniser: a line that spoils speech leads to questions, not
// to other words. The figures are printed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { CLEAR_LINE } from '../../../audio/bad-lines.ts';
import { type Judge, openJudge } from '../../../bench/recognition/judged-words.ts';
import {
  answersOfPeople,
  linesHere,
  measured,
  unexpectedOfPeople,
} from '../../../bench/recognition/unexpected-speech.ts';
import { print } from './synthetic-speech.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
/** The bench has all of them. */
const LINES = linesHere().filter(({ name }) => /^clear|10 dB$|2 % lost$/.test(name));

describe.skipIf(missing !== undefined)(`the embedded recogniser${skipped}`, () => {
  let judge: Judge;
  beforeAll(() => {
    judge = openJudge();
  }, 60_000);
  afterAll(() => judge.close());

  it.each(LINES)(
    'takes few answers for others on the line: $name',
    (line) => {
      const { count, accepted, asked, wrong } = measured(judge, answersOfPeople(), line);
      print(`${line.name}: ${count} answers, ${accepted} accepted, ${asked} asked, ${wrong} wrong`);
      expect(count).toBeGreaterThan(40);
      // GSM beside a street has five of 46.
      expect(wrong / count).toBeLessThanOrEqual(0.12);
      if (line !== CLEAR_LINE) return;
      expect(wrong / count).toBeLessThanOrEqual(0.03);
      expect(accepted / count).toBeGreaterThanOrEqual(0.65);
      expect((accepted + asked) / count).toBeGreaterThanOrEqual(0.85);
    },
    300_000,
  );

  it.each(LINES.filter(({ name }) => /^clear|2 % lost$/.test(name)))(
    'accepts at most 3 of 100 unexpected utterances on the line: $name',
    (line) => {
      const all = Object.values(unexpectedOfPeople())
        .flat()
        .filter((_said, nth) => nth % (line === CLEAR_LINE ? 2 : 6) === 0);
      const { count, accepted, asked } = measured(judge, all, line);
      print(`${line.name}: ${count} unexpected, ${accepted} accepted, ${asked} asked`);
      expect(count).toBeGreaterThan(45);
      expect(accepted / count).toBeLessThanOrEqual(0.03);
    },
    300_000,
  );
});
