import { describe, expect, it } from 'vitest';
import { FRAME_SAMPLES } from '../../src/audio/pcm.ts';
import { Caller, type CallerLine, rms } from './caller.ts';

const silence = new Int16Array(FRAME_SAMPLES);
const voice = Int16Array.from({ length: FRAME_SAMPLES }, (_, i) => (i % 8 < 4 ? 5_000 : -5_000));

function line(given: Partial<CallerLine>): CallerLine {
  const samples = new Int16Array(5 * FRAME_SAMPLES).fill(3_000);
  return { when: 'answer', afterMs: 600, text: 'yes', samples, keys: '', ...given };
}

/** Frame numbers in which the caller speaks, while it hears `agent(frame)`. */
function spoken(caller: Caller, frames: number, agent: (frame: number) => boolean): number[] {
  const loud: number[] = [];
  for (let frame = 0; frame < frames; frame += 1) {
    if (rms(caller.step(agent(frame) ? voice : silence)) > 1_000) loud.push(frame);
  }
  return loud;
}

const nobody = () => undefined;

describe('a caller', () => {
  it('says nothing before the agent has spoken', () => {
    expect(spoken(new Caller([line({})], nobody), 200, () => false)).toEqual([]);
  });

  it('answers once the agent has been silent for a while, pauses between words not counted', () => {
    const agent = (frame: number) => frame < 50 || (frame >= 65 && frame < 100);
    expect(spoken(new Caller([line({})], nobody), 200, agent)).toEqual([129, 130, 131, 132, 133]);
  });

  it('waits for the next question before the next answer, and notes how long the agent took', () => {
    const caller = new Caller([line({}), line({ text: 'no' })], nobody);
    const agent = (frame: number) => frame < 20 || (frame >= 100 && frame < 120);
    expect(spoken(caller, 200, agent)).toEqual([49, 50, 51, 52, 53, 149, 150, 151, 152, 153]);
    expect(caller.facts.waitedMs).toEqual([(100 - 54) * 20]);
    expect(caller.facts.linesSaid).toBe(2);
  });

  it('talks over the agent and measures when it fell silent', () => {
    const caller = new Caller([line({ when: 'interrupt', afterMs: 1_000 })], nobody);
    expect(spoken(caller, 200, (frame) => frame < 75)).toEqual([50, 51, 52, 53, 54]);
    expect(caller.facts.interruptions).toEqual([{ overSpeech: true, silentAfterMs: 25 * 20 }]);
  });

  it('notices an agent that speaks on', () => {
    const caller = new Caller([line({ when: 'interrupt', afterMs: 1_000 })], nobody);
    spoken(caller, 200, () => true);
    expect(caller.facts.interruptions).toEqual([{ overSpeech: true, silentAfterMs: null }]);
  });

  it('presses keys where it has no voice', () => {
    const said: string[] = [];
    const keypad = line({ samples: new Int16Array(0), keys: '42#', text: 'presses 42#' });
    const caller = new Caller([keypad], ({ text }) => said.push(text));
    spoken(caller, 100, (frame) => frame < 20);
    expect(caller.takeKeys()).toBe('42#');
    expect(caller.takeKeys()).toBe('');
    expect(said).toEqual(['presses 42#']);
  });
});
