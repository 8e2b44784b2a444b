// Strings of two and three digits by one reader, of which the embedded recogniser takes many for others that fit as well: none
// counts before it is read back, and a "no" discards it. The figures are printed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { CLEAR_LINE, throughLine } from '../../../audio/bad-lines.ts';
import { type Judge, openJudge, promptsOf } from '../../../bench/recognition/judged-words.ts';
import { Conversation } from '../../../workflow/conversation.ts';
import { definition, edge, end, start } from '../../../workflow/definitions.ts';
import { print, share } from './synthetic-speech.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

const STEP = { ...OPEN_SPEECH, closed: true, phrases: ['help'], slots: ['digits' as const] };
const STRINGS = 60;
/** Between two prompts, as when somebody reads a number. */
const PAUSE_SAMPLES = 800;

const agent = definition(
  [
    start('ask', { say: 'Which number?', slots: [{ name: 'code', type: 'digits' }] }),
    end('done', { say: 'Thank you.' }),
  ],
  [edge('ask', 'done', { slot: 'code' })],
);

/** Two digits and three in turn, each digit at each place. */
function strings(): { said: string; pcm: Int16Array }[] {
  const digits = promptsOf('digits');
  return Array.from({ length: STRINGS }, (_, nth) => {
    const own = Array.from({ length: 2 + (nth % 2) }, (_digit, at) => {
      const prompt = digits[(nth * (at + 1) + at * 7) % digits.length];
      if (prompt === undefined) throw new Error('no digits');
      return prompt;
    });
    const pcm = own.flatMap((prompt) => [...prompt.pcm, ...new Int16Array(PAUSE_SAMPLES)]);
    return { said: own.map(({ text }) => text).join(' '), pcm: Int16Array.from(pcm) };
  });
}

describe.skipIf(missing !== undefined)(`short strings of digits${skipped}`, () => {
  let judge: Judge;
  beforeAll(() => {
    judge = openJudge();
  }, 60_000);
  afterAll(() => judge.close());

  it('count only after they were read back, and not after a no', () => {
    let [believed, wrong, filled, surest] = [0, 0, 0, 0];
    for (const [nth, { said, pcm }] of strings().entries()) {
      const { text, confidence, trust } = judge.judge(throughLine(pcm, CLEAR_LINE, nth + 1), STEP);
      surest = Math.max(surest, confidence);
      const call = new Conversation(agent, 'scripted').start().heard();
      call.caller(text, confidence);
      filled += Number(call.gathered['code'] !== undefined);
      if (trust !== 'accept') continue;
      believed += 1;
      wrong += Number(text.replace(/\boh\b/g, 'zero') !== said);
      expect(call.state.scripted.confirming).toMatchObject({ what: 'slot', slot: 'code' });
      call.heard().caller('no', 1);
      filled += Number(call.gathered['code'] !== undefined);
    }
    share('strings that the recogniser is sure of', believed, STRINGS);
    share('of all strings, sure and wrong', wrong, STRINGS);
    print(`highest confidence ${surest.toFixed(2)}`);
    expect(believed).toBeGreaterThan(10);
    expect(filled).toBe(0);
  }, 60_000);
});
