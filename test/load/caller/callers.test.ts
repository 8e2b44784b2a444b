// What simulated callers do and what they notice, frame by frame on a clock of the test's own.

import { describe, expect, it } from 'vitest';
import { noticedNothing } from '../figures/noticed.ts';
import { type Caller, InterruptingCaller, TalkingCaller } from './callers.ts';

const silence = Buffer.from('silence');
const phrase = { frames: ['one', 'two', 'three'].map((word) => Buffer.from(word)) };

function rig() {
  const line = {
    endMs: Number.NEGATIVE_INFINITY,
    keys: [] as string[],
    press: (key: string) => void line.keys.push(key),
  };
  const noticed = { ...noticedNothing(), measuring: true };
  return { line, noticed };
}

/** Every 20 ms from `fromMs` to `toMs`: what the caller says. */
function pass(caller: Caller, fromMs: number, toMs: number): string[] {
  const said: string[] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 20) {
    said.push(Buffer.from(caller.next(nowMs)).toString());
    caller.tick(nowMs);
  }
  return said;
}

describe('a talking caller', () => {
  function talking(key: string | undefined = '1') {
    const { line, noticed } = rig();
    const caller = new TalkingCaller({ line, noticed, phrase, index: 0, key });
    return { line, noticed, caller };
  }

  it('talks on and on and presses a key once the agent is silent', () => {
    const { line, noticed, caller } = talking();
    expect(pass(caller, 0, 200)).toHaveLength(10);
    expect(line.keys).toEqual([]); // The agent opens.
    caller.agentBegins(200);
    line.endMs = 1_000;
    expect(pass(caller, 200, 1_200)).not.toContain('silence');
    expect(line.keys).toEqual([]);
    pass(caller, 1_200, 1_240);
    expect(line.keys).toEqual(['1']);
    caller.agentBegins(1_233);
    expect(noticed.response.max).toBe(33);
  });

  it('tries again after a while without an answer, and counts that', () => {
    const { line, noticed, caller } = talking();
    line.endMs = 0;
    pass(caller, 1_000, 6_100);
    expect(line.keys).toEqual(['1', '1']);
    expect(noticed.unanswered).toBe(1);
  });

  it('presses none if it has none', () => {
    const { line, noticed } = rig();
    const caller = new TalkingCaller({ line, noticed, phrase, index: 0, key: undefined });
    line.endMs = 0;
    pass(caller, 1_000, 9_000);
    expect(line.keys).toEqual([]);
  });
});

describe('an interrupting caller', () => {
  function interrupting() {
    const { line, noticed } = rig();
    const options = { line, noticed, phrase, silence, index: 0, everyMs: 4_000 };
    return { line, noticed, caller: new InterruptingCaller(options) };
  }

  it('cuts in while the agent speaks and measures until it is silent, and until it answers', () => {
    const { line, noticed, caller } = interrupting();
    caller.agentBegins(0);
    line.endMs = 60_000;
    const before = pass(caller, 0, 2_000);
    expect(new Set(before)).toEqual(new Set(['silence']));
    // The onset is where the first of its 20 ms began.
    expect(pass(caller, 2_000, 2_060)).toEqual(['one', 'two', 'three']);
    line.endMs = 2_150;
    pass(caller, 2_060, 2_200);
    expect(noticed.bargeIn.max).toBe(2_150 - 1_980);
    caller.agentBegins(2_540);
    expect(noticed.response.max).toBe(500);
    expect(noticed.unanswered).toBe(0);
  });

  it('takes the end of the cut word for no answer', () => {
    const { line, noticed, caller } = interrupting();
    caller.agentBegins(0);
    line.endMs = 60_000;
    pass(caller, 0, 2_060);
    caller.agentBegins(2_100); // After a clear, three fading frames.
    line.endMs = 2_160;
    pass(caller, 2_060, 2_300);
    expect(noticed.response.count).toBe(0);
    expect(noticed.bargeIn.max).toBe(2_160 - 1_980);
  });

  it('counts an agent that does not stop, or never comes back, as no answer', () => {
    const { line, noticed, caller } = interrupting();
    caller.agentBegins(0);
    line.endMs = 60_000;
    pass(caller, 0, 7_100);
    expect(noticed.bargeIn.count).toBe(0);
    expect(noticed.unanswered).toBe(1);
  });

  it('does not cut into silence', () => {
    const { line, caller } = interrupting();
    caller.agentBegins(0);
    line.endMs = 1_000;
    expect(new Set(pass(caller, 0, 8_000))).toEqual(new Set(['silence']));
  });
});
