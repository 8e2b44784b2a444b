// A caller who converses about marked words, on a clock of the test's own.

import { describe, expect, it } from 'vitest';
import { noticedNothing } from '../figures/noticed.ts';
import { ANSWER_CLIP, NO_WORD, readFrameMark, WORD_FRAMES } from '../services/frame-marks.ts';
import { base64Of } from '../wires/json-stream.ts';
import { ConversingCaller } from './conversing-caller.ts';
import { FRAME_BYTES, MARK_FRAMES_MAX } from './watermark.ts';

const WORDS = 2;
const frames = Array.from({ length: WORDS * WORD_FRAMES }, () =>
  new Uint8Array(FRAME_BYTES).fill(0x20),
);

function conversing() {
  const line = { endMs: Number.NEGATIVE_INFINITY, press: () => undefined };
  const noticed = { ...noticedNothing(), measuring: true };
  const caller = new ConversingCaller({
    line,
    noticed,
    phrase: { frames },
    payloadOf: base64Of,
    index: 7,
  });
  return { line, noticed, caller };
}

/** Every 20 ms from `fromMs` to `toMs`: the words that are said, by their numbers. */
function pass(caller: ConversingCaller, fromMs: number, toMs: number): number[] {
  const said: number[] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 20) {
    const bytes = Buffer.from(Buffer.from(caller.next(nowMs)).toString(), 'base64');
    const mark = readFrameMark(bytes, 0);
    expect(mark?.call).toBe(7);
    if (mark !== undefined && mark.nth !== NO_WORD && mark.part === 0) said.push(mark.nth);
    caller.tick(nowMs);
  }
  return said;
}

const answerTo = (nth: number) => Int32Array.of(-1, ANSWER_CLIP * MARK_FRAMES_MAX + nth);

describe('a conversing caller', () => {
  it('speaks once the agent has finished, and goes on after the answer to these words', () => {
    const { line, noticed, caller } = conversing();
    expect(pass(caller, 0, 400)).toEqual([]);
    line.endMs = 1_000;
    expect(pass(caller, 400, 3_200)).toEqual([0, 1]);
    caller.agentBegins(3_400);
    caller.hears(answerTo(0), 3_400);
    line.endMs = 5_000;
    expect(pass(caller, 3_400, 7_200)).toEqual([2, 3]);
    expect([noticed.response.count, noticed.answer.count, noticed.unanswered]).toEqual([1, 1, 0]);
    expect(noticed.answers.map(([call, first]) => [call, first])).toEqual([[7, 0]]);
  });

  it('takes another sound for a sound, not for the answer', () => {
    const { line, noticed, caller } = conversing();
    line.endMs = 0;
    pass(caller, 0, 2_200);
    caller.agentBegins(2_400);
    caller.hears(Int32Array.of(-1, -1), 2_400);
    caller.hears(answerTo(5), 2_500);
    line.endMs = 3_000;
    expect(pass(caller, 2_400, 6_000)).toEqual([]);
    expect([noticed.response.count, noticed.answer.count]).toEqual([1, 0]);
  });

  it('speaks again after a long wait, and counts that', () => {
    const { line, noticed, caller } = conversing();
    line.endMs = 0;
    expect(pass(caller, 0, 2_200)).toEqual([0, 1]);
    expect(pass(caller, 2_200, 20_000)).toEqual([2, 3]);
    expect(noticed.unanswered).toBe(1);
  });

  it('speaks first to an agent that does not greet', () => {
    expect(pass(conversing().caller, 0, 6_000)).toEqual([0, 1]);
  });
});
