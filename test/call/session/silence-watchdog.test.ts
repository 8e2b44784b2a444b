import { describe, expect, it } from 'vitest';
import { SilenceWatchdog } from '../../../src/call/session/wait-lines.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function watched({ lineMs = 2_000, hasTone = true } = {}) {
  const clock = new FakeClock();
  const at = { clock, isOwed: true, silentSince: 0, acts: [] as string[] };
  const watchdog = new SilenceWatchdog({
    clock,
    lineMs,
    hasTone,
    isOwed: () => at.isOwed,
    silentSince: () => at.silentSince,
    onLine: () => {
      at.acts.push(`line ${clock.monotonicMs()}`);
      // A line of 600 ms.
      at.silentSince = clock.monotonicMs() + 600;
    },
    onTone: () => at.acts.push(`tone ${clock.monotonicMs()}`),
    onToneEnd: () => at.acts.push(`no tone ${clock.monotonicMs()}`),
  });
  return Object.assign(at, { watchdog });
}

describe('the watchdog against silence', () => {
  it('has a line after two seconds, a tone a second behind it, then a line every eight', () => {
    const at = watched();
    at.watchdog.turn();
    at.watchdog.note();
    at.clock.advance(14_000);
    expect(at.acts).toEqual(['line 2000', 'tone 3600', 'line 10600', 'tone 12200']);
  });

  it('counts from the end of what was said, and from the begin of the wait', () => {
    const at = watched();
    at.clock.advance(30_000);
    at.watchdog.note();
    at.clock.advance(500);
    at.silentSince = 31_500;
    at.clock.advance(3_500);
    expect(at.acts).toEqual(['line 33500']);
  });

  it('does nothing while the caller speaks', () => {
    const at = watched();
    at.silentSince = Infinity;
    at.watchdog.note();
    at.clock.advance(10_000);
    expect(at.acts).toEqual([]);
    at.silentSince = 10_000;
    at.clock.advance(2_500);
    expect(at.acts).toEqual(['line 12000']);
  });

  it('has one line for a turn of the caller, and the tone in later silences of the turn', () => {
    const at = watched();
    at.watchdog.turn();
    at.watchdog.note();
    at.clock.advance(2_100);
    at.isOwed = false;
    at.clock.advance(5_000);
    expect(at.clock.timers).toBe(0);
    at.isOwed = true;
    at.silentSince = 7_000;
    at.watchdog.note();
    at.clock.advance(3_000);
    expect(at.acts).toEqual(['line 2000', 'tone 8100']);
    at.watchdog.turn();
    at.watchdog.note();
    at.silentSince = 10_100;
    at.clock.advance(4_000);
    expect(at.acts.at(-1)).toBe('tone 13700');
    expect(at.acts.at(-2)).toBe('line 12100');
  });

  it('ends the tone where the wait ends without a word of the agent', () => {
    const at = watched({ lineMs: 0 });
    at.watchdog.turn();
    at.watchdog.note();
    at.clock.advance(1_500);
    at.isOwed = false;
    at.clock.advance(5_000);
    expect(at.acts).toEqual(['tone 1000', 'no tone 2000']);
  });

  it('ends the tone while the caller speaks, and begins it again in the next silence', () => {
    const at = watched({ lineMs: 0 });
    at.watchdog.turn();
    at.watchdog.note();
    at.clock.advance(1_500);
    at.silentSince = Infinity;
    at.clock.advance(3_000);
    at.silentSince = 4_500;
    at.clock.advance(3_000);
    expect(at.acts).toEqual(['tone 1000', 'no tone 2000', 'tone 5500']);
  });

  it('has the tone at once in place of a line that cannot be played, and ends it as any other', () => {
    const at = watched();
    at.watchdog.turn();
    at.watchdog.note();
    at.clock.advance(2_000);
    at.watchdog.lineFailed();
    at.isOwed = false;
    at.clock.advance(2_000);
    expect(at.acts).toEqual(['line 2000', 'tone 2000', 'no tone 3000']);
    const silent = watched({ hasTone: false });
    silent.watchdog.lineFailed();
    expect(silent.acts).toEqual([]);
  });

  it('can have the tone alone, the line alone, and neither', () => {
    const tone = watched({ lineMs: 0 });
    tone.watchdog.note();
    tone.clock.advance(20_000);
    expect(tone.acts).toEqual(['tone 1000']);
    const line = watched({ hasTone: false });
    line.watchdog.note();
    line.clock.advance(9_000);
    expect(line.acts).toEqual(['line 2000']);
    const neither = watched({ lineMs: 0, hasTone: false });
    neither.watchdog.note();
    neither.clock.advance(20_000);
    expect(neither.acts).toEqual([]);
  });

  it('leaves no timer when nothing is owed, and none when it is closed', () => {
    const at = watched();
    at.isOwed = false;
    at.watchdog.note();
    expect(at.clock.timers).toBe(0);
    at.isOwed = true;
    at.watchdog.note();
    expect(at.clock.timers).toBe(1);
    at.watchdog.close();
    expect(at.clock.timers).toBe(0);
    at.watchdog.note();
    expect(at.clock.timers).toBe(0);
  });
});
