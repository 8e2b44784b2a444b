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

/** The model's answer; for one that broke off, the rest, as a model gives it when it is asked to go on. */
export function answerOf(body: Record<string, unknown>, observations: Observations): Reply {
  const { words, said } = conversationOf(body['messages']);
  const [first] = words;
  const whole = answerText(words);
  if (first === undefined || said === whole) return sentence('Please say something.');
  if (said !== '' && whole.startsWith(said)) {
    return sentence(whole.slice(said.length).trimStart(), FIRST_TOKEN_MS);
  }
  observations.asked(first.call);
  const [beginning = '', rest = ''] = splitBehind(whole, '. ');
  const tokens = rest.match(/\S+\s*/g) ?? [];
  const mark = () => Promise.resolve(observations.firstToken(first.call));
  return {
    steps: [
      { waitMs: FIRST_TOKEN_MS },
      { until: mark },
      // The first sentence and what shows that it is over.
      chunk({ role: 'assistant', content: `${beginning}${tokens[0] ?? ''}` }),
      ...tokens.slice(1).flatMap((token) => [{ waitMs: TOKEN_MS }, chunk({ content: token })]),
      chunk({}, 'stop'),
      usage(100, tokens.length + words.length),
      DONE,
    ],
  };
}

function sentence(content: string, waitMs = 0): Reply {
  return { steps: [{ waitMs }, chunk({ role: 'assistant', content }, 'stop'), DONE] };
}

function splitBehind(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator) + separator.length;
  return [text.slice(0, at), text.slice(at)];
}

/** `words`: of the caller's last turn that has any. `said`: what the agent has said since. */
function conversationOf(messages: unknown): { words: CallWord[]; said: string } {
  const all = Array.isArray(messages) ? messages.filter(isObject) : [];
  const at = all.findLastIndex(
    ({ role, content }) => role === 'user' && wordsIn(String(content ?? '')).length > 0,
  );
  const words = wordsIn(String(all[at]?.['content'] ?? ''));
  const said = all.slice(at + 1).find(({ role }) => role === 'assistant');
  return { words: at < 0 ? [] : words, said: String(said?.['content'] ?? '').trim() };
}
