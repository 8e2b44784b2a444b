// The watchdog of a recogniser by itself: its deadlines, and what it makes of a turn without words. In calls:
// stt-fallback.test.ts, short-words.test.ts.

import { describe, expect, it } from 'vitest';
import { serviceFaults } from '../../../../src/metrics/speech-metrics.ts';
import { CircuitBreaker } from '../../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { SpeechWatchdog } from '../../../../src/speech/stt/fallback/speech-watchdog.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

function watched() {
  const clock = new FakeClock();
  const found: string[] = [];
  const watchdog = new SpeechWatchdog(clock, (detail) => found.push(detail));
  /** What it has found at that time, and a millisecond before. */
  const findsAt = (ms: number): string[][] => {
    clock.advance(ms - 1 - clock.monotonicMs());
    const before = [...found];
    clock.advance(1);
    return [before, [...found]];
  };
  return { clock, found, watchdog, findsAt };
}

const NO_SIGN = 'no sign of life';
const SILENT = 'silent while the caller speaks';

describe('the watchdog of a recogniser', () => {
  it('finds silence where speech has no sign of life for 4 s', () => {
    const { watchdog, findsAt } = watched();
    watchdog.speaks(0);
    expect(findsAt(4_000)).toEqual([[], [NO_SIGN]]);
    expect(watchdog.silences).toBe(1);
  });

  it('finds silence 2.5 s after the last message while the caller speaks', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    clock.advance(1_000);
    watchdog.event();
    clock.advance(2_000);
    watchdog.event();
    expect(findsAt(5_500)).toEqual([[], [SILENT]]);
  });

  it('waits on for the first message behind speech of 1.2 s, and not behind shorter speech', () => {
    const long = watched();
    long.watchdog.speaks(3_000);
    long.clock.advance(1_200);
    long.watchdog.pauses(4_200);
    expect(long.findsAt(4_000)).toEqual([[], [NO_SIGN]]);
    const short = watched();
    short.watchdog.speaks(3_000);
    short.clock.advance(1_199);
    short.watchdog.pauses(4_199);
    short.clock.advance(10_000);
    expect([short.found, short.clock.timers]).toEqual([[], 0]);
  });

  it('expects nothing more once the first message comes in the pause behind the speech', () => {
    const { clock, found, watchdog } = watched();
    watchdog.speaks(0);
    clock.advance(1_500);
    watchdog.pauses(1_500);
    expect(clock.timers).toBe(1);
    watchdog.event();
    clock.advance(10_000);
    expect([found, clock.timers]).toEqual([[], 0]);
  });

  it('expects no further message in a pause', () => {
    const { clock, found, watchdog } = watched();
    watchdog.speaks(0);
    clock.advance(1_000);
    watchdog.event();
    clock.advance(1_000);
    watchdog.pauses(2_000);
    expect(clock.timers).toBe(0);
    watchdog.event();
    clock.advance(10_000);
    expect([found, clock.timers]).toEqual([[], 0]);
  });

  it('has its deadlines again where speech goes on: 2.5 s behind a message, else 4 s', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    clock.advance(1_000);
    watchdog.event();
    watchdog.pauses(1_000);
    clock.advance(1_000);
    watchdog.speaksOn();
    expect(findsAt(4_500)).toEqual([[], [SILENT]]);
    const unheard = watched();
    unheard.watchdog.speaks(0);
    unheard.clock.advance(500);
    unheard.watchdog.pauses(500);
    unheard.clock.advance(500);
    unheard.watchdog.speaksOn();
    expect(unheard.findsAt(5_000)).toEqual([[], [NO_SIGN]]);
  });

  it('expects a message behind each other one where speech has gone on', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    watchdog.event();
    watchdog.pauses(0);
    watchdog.speaksOn();
    clock.advance(2_000);
    watchdog.event();
    expect(findsAt(4_500)).toEqual([[], [SILENT]]);
  });

  it('puts no deadline off that runs already where speech goes on', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    clock.advance(1_500);
    watchdog.pauses(1_500);
    clock.advance(1_500);
    watchdog.speaksOn();
    expect(findsAt(4_000)).toEqual([[], [NO_SIGN]]);
  });

  it('begins anew with each speech', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    clock.advance(1_000);
    watchdog.event();
    clock.advance(1_000);
    watchdog.speaks(2_000);
    expect(findsAt(6_000)).toEqual([[], [NO_SIGN]]);
  });

  it('finds the next silence where speech goes on behind one', () => {
    const { watchdog, findsAt } = watched();
    watchdog.speaks(0);
    findsAt(4_000);
    watchdog.pauses(4_000);
    watchdog.speaksOn();
    expect(findsAt(8_000)).toEqual([[NO_SIGN], [NO_SIGN, NO_SIGN]]);
  });

  it('finds two silences, and no more until there are words', () => {
    const { clock, found, watchdog } = watched();
    for (let speech = 0; speech < 4; speech++) {
      watchdog.speaks(speech * 10_000);
      clock.advance(10_000);
    }
    expect([found.length, clock.timers]).toEqual([2, 0]);
    watchdog.words(undefined);
    watchdog.speaks(40_000);
    clock.advance(10_000);
    expect([found.length, watchdog.silences]).toEqual([3, 1]);
  });

  it('expects nothing when no words are due', () => {
    const { clock, found, watchdog } = watched();
    watchdog.speaks(0);
    watchdog.stop();
    watchdog.event();
    clock.advance(10_000);
    expect([found, clock.timers]).toEqual([[], 0]);
  });

  it('knows no message and no speech of the session before', () => {
    const { clock, watchdog, findsAt } = watched();
    watchdog.speaks(0);
    clock.advance(600);
    watchdog.event();
    watchdog.pauses(1_000);
    watchdog.reset();
    expect([clock.timers, watchdog.doubt()]).toEqual([0, undefined]);
    watchdog.speaksOn();
    expect(findsAt(4_600)).toEqual([[], [NO_SIGN]]);
    watchdog.pauses(1_000);
    expect(watchdog.doubt()).toBe('word');
  });
});

describe('a turn without words', () => {
  /** Speech of so many milliseconds, and when a message came. */
  function said(ms: number, { eventMs, atMs = 0 }: { eventMs?: number; atMs?: number } = {}) {
    const at = watched();
    at.watchdog.speaks(atMs);
    if (eventMs !== undefined) {
      at.clock.advance(eventMs);
      at.watchdog.event();
    }
    at.watchdog.pauses(atMs + ms);
    return at.watchdog;
  }

  it('is a silence from 1.2 s on, twice', () => {
    const watchdog = said(1_200);
    expect([watchdog.doubt(), watchdog.doubt(), watchdog.doubt()]).toEqual([
      'speech',
      'speech',
      undefined,
    ]);
    expect(watchdog.silences).toBe(2);
  });

  it('may be a word from 0.2 s on, and counts as no silence', () => {
    expect(said(199).doubt()).toBeUndefined();
    for (const ms of [200, 1_199]) {
      const watchdog = said(ms, { atMs: 7_000 });
      expect([ms, watchdog.doubt(), watchdog.silences]).toEqual([ms, 'word', 0]);
    }
  });

  it('is nothing to look into where a message was made from it: one that came 0.5 s after its begin', () => {
    expect(said(1_000, { eventMs: 500 }).doubt()).toBeUndefined();
    expect(said(2_000, { eventMs: 500 }).doubt()).toBeUndefined();
    expect(said(1_000, { eventMs: 499 }).doubt()).toBe('word');
  });

  it('is judged by the messages of its own speech', () => {
    const { clock, watchdog } = watched();
    watchdog.speaks(0);
    clock.advance(1_000);
    watchdog.event();
    watchdog.pauses(1_000);
    watchdog.speaks(5_000);
    clock.advance(400);
    watchdog.event();
    watchdog.pauses(5_600);
    expect(watchdog.doubt()).toBe('word');
    // Ended by force before its first pause: how long it is, is not known.
    watchdog.speaks(9_000);
    expect(watchdog.doubt()).toBeUndefined();
  });

  it('is looked into twice in a call if it is short, the second time elsewhere if it is the same', () => {
    const { watchdog } = watched();
    const short = (atMs: number) => {
      watchdog.speaks(atMs);
      watchdog.pauses(atMs + 500);
      return watchdog.doubt();
    };
    expect([short(1_000), short(1_000), short(1_000)]).toEqual(['word', 'word-again', undefined]);
    const other = watched().watchdog;
    const at = (atMs: number) => {
      other.speaks(atMs);
      other.pauses(atMs + 500);
      return other.doubt();
    };
    expect([at(1_000), at(2_000), at(3_000)]).toEqual(['word', 'word', undefined]);
  });
});

describe('a service that was silent', () => {
  const fault = new ServiceFault('stt', 'suspected', 'timeout', { detail: NO_SIGN });
  const counted = async () => {
    const { values } = await serviceFaults.get();
    return values.find(({ labels }) => labels['service'] === 'suspected')?.value ?? 0;
  };

  it('has one fault once another session has words, and short turns may be looked into again', async () => {
    const { clock, watchdog } = watched();
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'suspected' });
    const before = await counted();
    for (let nth = 0; nth < 2; nth++) {
      watchdog.speaks(nth * 1_000);
      watchdog.pauses(nth * 1_000 + 500);
      expect(watchdog.doubt()).toBe('word');
    }
    watchdog.suspect(fault, circuit);
    watchdog.words(undefined);
    watchdog.words(undefined);
    expect((await counted()) - before).toBe(1);
    for (let nth = 0; nth < 2; nth++) circuit.failed(fault);
    expect(circuit.state).toBe('open');
    watchdog.speaks(5_000);
    watchdog.pauses(5_500);
    expect(watchdog.doubt()).toBe('word');
  });

  it('has none where the other session has no words either', async () => {
    const { watchdog } = watched();
    const before = await counted();
    watchdog.suspect(fault, undefined);
    watchdog.noWords();
    watchdog.words(undefined);
    expect(await counted()).toBe(before);
  });
});
