// The answers of the load's language model.

import { expect, it } from 'vitest';
import type { Reply } from '../../fakes/scripted-server.ts';
import { wordOf } from './call-words.ts';
import { Observations } from './observations.ts';
import { answerOf, answerText } from './scripted-model.ts';

const WORDS = [0, 1].map((nth) => ({ call: 3, nth }));
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const caller = user(WORDS.map(wordOf).join(' '));
const goOn = user('(Your answer was cut off.)');

function textOf(messages: readonly unknown[]): string {
  const reply: Reply = answerOf({ messages }, new Observations());
  return [...JSON.stringify(reply).matchAll(/\\"content\\":\\"([^"\\]*)/g)]
    .map(([, text]) => text)
    .join('');
}

it("repeats the caller's words", () => {
  expect(textOf([user('hello'), assistant('Please say something.'), caller])).toBe(
    answerText(WORDS),
  );
});

it('asks for words where the caller has said none', () => {
  expect(textOf([user('hello')])).toBe('Please say something.');
  const answered = [caller, assistant(answerText(WORDS))];
  expect(textOf([...answered, user('hello')])).toBe('Please say something.');
});

it.each([' That', '. That is'])('gives the rest of an answer that broke off after "%s"', (end) => {
  const whole = answerText(WORDS);
  const said = whole.slice(0, whole.indexOf(end) + end.length);
  expect(said.length).toBeGreaterThan(end.length);
  expect(`${said} ${textOf([caller, assistant(said), goOn])}`).toBe(whole);
});
