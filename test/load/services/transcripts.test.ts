// What is found in a transcript of marked words.

import { expect, it } from 'vitest';
import { type CallWord, wordOf, wordsIn } from './call-words.ts';
import { answerText } from './scripted-model.ts';
import { judgeTranscript, nothing, type TranscriptFigures } from './transcripts.ts';

const words = (from: number, to: number): CallWord[] =>
  Array.from({ length: to - from }, (_each, at) => ({ call: 5, nth: from + at }));
const textOf = (given: readonly CallWord[]) => given.map(wordOf).join(' ');
const item = (type: string, text: string) => ({ type, timestamp: '', payload: { text } });
const caller = (text: string) => item('rtf-user-transcription', text);
const agent = (text: string) => item('rtf-bot-text', text);
const answer = (text: string) => agent(answerText(wordsIn(text)));

const said = new Map([[5, 4]]);
const [one, two] = [textOf(words(0, 2)), textOf(words(2, 4))];

function judged(items: ReturnType<typeof item>[]): TranscriptFigures {
  const figures = nothing();
  expect(judgeTranscript(items, said, figures)).toBe(5);
  return figures;
}

it('finds nothing wrong with all words and whole answers, fillers or not', () => {
  const items = [agent('Hello.'), caller(one), answer(one), caller(two)];
  expect(judged([...items, agent('One moment.'), answer(two)])).toEqual({
    ...nothing(),
    transcripts: 1,
  });
});

it('takes an answer to the first part of a turn, whose other words came late, for whole', () => {
  const late = textOf(words(2, 4));
  expect(judged([caller(one), caller(late), answer(one)])).toMatchObject({ answersDamaged: 0 });
  expect(judged([caller(one), caller(late), answer(late)])).toMatchObject({ answersDamaged: 0 });
  expect(judged([caller(one), answer(one), caller(late), answer(one)])).toMatchObject({
    answersDamaged: 1,
  });
});

it('counts lost and doubled words', () => {
  const doubled = `${two} ${textOf(words(3, 4))}`;
  expect(judged([caller(one), answer(one)])).toMatchObject({ wordsLost: 2, wordsDoubled: 0 });
  expect(judged([caller(one), answer(one), caller(doubled), answer(doubled)])).toMatchObject({
    wordsLost: 0,
    wordsDoubled: 1,
    answersDamaged: 0,
  });
});

it('counts answers that are cut, doubled or missing', () => {
  const whole = answerText(wordsIn(one));
  const cut = [caller(one), agent(whole.slice(0, -8)), caller(two), answer(two)];
  const twice = [caller(one), agent(`${whole} ${whole}`), caller(two), answer(two)];
  const missing = [caller(one), answer(one), caller(two)];
  for (const items of [cut, twice, missing]) expect(judged(items).answersDamaged).toBe(1);
});
