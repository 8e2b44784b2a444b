// The language model of a load measurement: answers marked words by repeating them, so that the voice and the transcript
// show which words were understood.

import { isObject } from '../../../src/std/json.ts';
import type { Reply } from '../../fakes/scripted-server.ts';
import { chunk, DONE, usage } from '../../fakes/services/openai-server.ts';
import { type CallWord, wordOf, wordsIn } from './call-words.ts';
import type { Observations } from './observations.ts';

/** A fast model. */
const FIRST_TOKEN_MS = 150;
const TOKEN_MS = 20;
const REST = 'That is noted, and you may go on whenever you like.';

/** What the agent says to these words. */
export function answerText(words: readonly CallWord[]): string {
  return `You said ${words.map(wordOf).join(' ')}. ${REST}`;
}

export function answerOf(body: Record<string, unknown>, observations: Observations): Reply {
  const words = wordsIn(lastOfUser(body['messages']));
  const [first] = words;
  if (first === undefined) {
    return {
      steps: [chunk({ role: 'assistant', content: 'Please say something.' }, 'stop'), DONE],
    };
  }
  observations.asked(first.call);
  const [sentence = '', rest = ''] = splitBehind(answerText(words), '. ');
  const tokens = rest.match(/\S+\s*/g) ?? [];
  const mark = () => Promise.resolve(observations.firstToken(first.call));
  return {
    steps: [
      { waitMs: FIRST_TOKEN_MS },
      { until: mark },
      // The first sentence and what shows that it is over.
      chunk({ role: 'assistant', content: `${sentence}${tokens[0] ?? ''}` }),
      ...tokens.slice(1).flatMap((token) => [{ waitMs: TOKEN_MS }, chunk({ content: token })]),
      chunk({}, 'stop'),
      usage(100, tokens.length + words.length),
      DONE,
    ],
  };
}

function splitBehind(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator) + separator.length;
  return [text.slice(0, at), text.slice(at)];
}

function lastOfUser(messages: unknown): string {
  if (!Array.isArray(messages)) return '';
  const last: unknown = messages.findLast((each) => isObject(each) && each['role'] === 'user');
  return isObject(last) ? String(last['content'] ?? '') : '';
}
