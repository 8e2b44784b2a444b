import { describe, expect, it } from 'vitest';
import { FRAME_SAMPLES } from '../../src/audio/pcm.ts';
import { Caller, type CallerLine } from './caller.ts';

const silence = new Int16Array(FRAME_SAMPLES);
const voice = Int16Array.from({ length: FRAME_SAMPLES }, (_, i) => (i % 8 < 4 ? 5_000 : -5_000));

function line(given: Partial<CallerLine>): CallerLine {
  const samples = new Int16Array(5 * FRAME_SAMPLES).fill(3_000);
  return { when: 'answer', afterMs: 600, text: 'yes', samples, keys: '', ...given };
}

/** The frames before which the caller begins a line, while it hears `agent(frame)`. */
function begun(caller: Caller, frames: number, agent: (frame: number) => boolean): number[] {
  return Array.from({ length: frames }, (_, frame) => frame).flatMap((frame) =>
    caller.hear(agent(frame) ? voice : silence) === undefined ? [] : [frame + 1],
  );
}

describe('a caller', () => {
  it('says nothing before the agent has spoken', () => {
    expect(begun(new Caller([line({})]), 200, () => false)).toEqual([]);
  });

  it('answers once the agent has been silent for a while, pauses between words not counted', () => {
    const agent = (frame: number) => frame < 50 || (frame >= 65 && frame < 100);
    expect(begun(new Caller([line({})]), 200, agent)).toEqual([130]);
  });

  it('waits for the next question before the next answer, and notes how long the agent took', () => {
    const caller = new Caller([line({}), line({ text: 'no' })]);
    const agent = (frame: number) => frame < 20 || (frame >= 100 && frame < 120);
    expect(begun(caller, 200, agent)).toEqual([50, 150]);
    expect(caller.facts.waitedMs).toEqual([(100 - 55) * 20]);
    expect(caller.facts.linesSaid).toBe(2);
  });

  it('talks over the agent and measures when it fell silent', () => {
    const caller = new Caller([line({ when: 'interrupt', afterMs: 1_000 })]);
    expect(begun(caller, 200, (frame) => frame < 75)).toEqual([51]);
    expect(caller.facts.interruptions).toEqual([{ overSpeech: true, silentAfterMs: 24 * 20 }]);
  });

  it('notices an agent that speaks on', () => {
    const caller = new Caller([line({ when: 'interrupt', afterMs: 1_000 })]);
    begun(caller, 200, () => true);
    expect(caller.facts.interruptions).toEqual([{ overSpeech: true, silentAfterMs: null }]);
  });

  it('takes what follows a cut for new speech where it interrupted by a key', () => {
    const keys = line({ when: 'interrupt', afterMs: 1_000, samples: new Int16Array(0), keys: '1' });
    const caller = new Caller([keys, line({})]);
    expect(begun(caller, 51, () => true)).toEqual([51]);
    caller.cutOff(53 * 20);
    expect(caller.facts.interruptions).toEqual([{ overSpeech: true, silentAfterMs: 40 }]);
    expect(begun(caller, 100, (frame) => frame < 50)).toEqual([80]);
  });

  it('presses keys where it has no voice', () => {
    const keypad = line({ samples: new Int16Array(0), keys: '42#' });
    const caller = new Caller([keypad, line({})]);
    const agent = (frame: number) => frame < 20 || (frame >= 60 && frame < 70);
    expect(begun(caller, 150, agent)).toEqual([50, 100]);
    expect(caller.facts.waitedMs).toEqual([(60 - 50) * 20]);
  });
});
