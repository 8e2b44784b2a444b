// The smaller stages, each alone.

import { describe, expect, it } from 'vitest';
import type { ExpectedInput } from '../../src/model/expected-input.ts';
import { DeferredEvents } from '../../src/pipeline/deferred-events.ts';
import { EchoDetector } from '../../src/pipeline/listen/echo-guard.ts';
import { VoiceActivityDetector } from '../../src/pipeline/listen/voice-activity.ts';
import { DigitCollector } from '../../src/pipeline/receive/digit-collector.ts';
import { Segment, Utterance } from '../../src/pipeline/speak/utterance.ts';
import { vadOf } from '../fakes/call/vad-of.ts';

const unexpected = (error: unknown) => expect(error).toBeUndefined();

describe('keys', () => {
  const expecting = (digits?: ExpectedInput['digits'], closed = true): ExpectedInput => ({
    closed,
    phrases: [],
    slots: [],
    boost: [],
    ...(digits === undefined ? {} : { digits }),
  });

  it('are an entry once there are enough', () => {
    const keys = new DigitCollector();
    keys.expect(expecting({ countMax: 3, terminator: '#' }));
    expect(keys.push('1', 0)).toBeUndefined();
    expect(keys.push('2', 100)).toBeUndefined();
    expect(keys.push('3', 200)).toEqual({ text: '123', startMs: 0, endMs: 200 });
  });

  it('are an entry when the terminator comes, which is no part of it', () => {
    const keys = new DigitCollector();
    keys.expect(expecting({ countMax: 10, terminator: '#' }));
    keys.push('4', 0);
    expect(keys.push('#', 100)?.text).toBe('4');
    expect(keys.push('#', 200)?.text).toBe('#');
  });

  it('are an entry after a pause of two seconds', () => {
    const keys = new DigitCollector();
    keys.push('4', 0);
    keys.push('2', 1_000);
    expect(keys.tick(2_980)).toBeUndefined();
    expect(keys.tick(3_000)).toEqual({ text: '42', startMs: 0, endMs: 1_000 });
    expect(keys.tick(9_000)).toBeUndefined();
  });

  it('are an entry after the pause that is expected', () => {
    const keys = new DigitCollector();
    keys.expect(expecting({ countMax: 9, terminator: '#', pauseMs: 5_000 }));
    keys.push('4', 0);
    expect(keys.tick(4_980)).toBeUndefined();
    expect(keys.tick(5_000)?.text).toBe('4');
    keys.expect(expecting());
    keys.push('1', 6_000);
  });

  it('may have their terminator behind an entry that was complete by its count', () => {
    const keys = new DigitCollector();
    keys.expect(expecting({ countMax: 2, terminator: '#' }));
    expect(keys.isBelated('#', 0)).toBe(false);
    keys.push('4', 0);
    expect(keys.isBelated('#', 50)).toBe(false);
    keys.push('2', 100);
    keys.expect(expecting());
    expect([keys.isBelated('#', 3_000), keys.isBelated('1', 200)]).toEqual([true, false]);
    expect(keys.isBelated('#', 3_200)).toBe(false);
  });

  it('are one each in a menu', () => {
    const keys = new DigitCollector();
    keys.expect(expecting());
    expect(keys.push('1', 0)?.text).toBe('1');
    expect(keys.push('#', 0)?.text).toBe('#');
  });

  it('typed ahead count for the next question', () => {
    const keys = new DigitCollector();
    keys.expect(expecting({ countMax: 4, terminator: null }));
    keys.push('1', 0);
    keys.push('2', 100);
    keys.expect(expecting({ countMax: 2, terminator: null }));
    expect(keys.tick(120)?.text).toBe('12');
  });
});

describe('listening', () => {
  function listen(probabilities: number[], levels: (nth: number) => number) {
    const states: string[] = [];
    const skipped: number[] = [];
    let window = 0;
    const listener = new VoiceActivityDetector({
      vad: vadOf(() => ({
        process: () => probabilities[window++] ?? 0,
        skip: () => {
          skipped.push(window++);
        },
      })),
      onWindow: () => states.push(listener.voice.state),
      onBroken: unexpected,
    });
    const frame = new Int16Array(160);
    for (let nth = 0; window < probabilities.length; nth++) {
      listener.push(frame, nth * 20, levels(nth));
    }
    return { listener, states, skipped };
  }

  it('takes two windows of voice for speech, and one for a possibility', () => {
    expect(listen([0.1, 0.6, 0.1, 0.6, 0.6], () => -20).states).toEqual([
      'silent',
      'possible',
      'silent',
      'possible',
      'speech',
    ]);
  });

  it('takes one window that is sure', () => {
    expect(listen([0.1, 0.9], () => -20).states).toEqual(['silent', 'speech']);
  });

  it('ends speech after 96 ms below the lower threshold, and not before', () => {
    const { states } = listen([0.9, 0.4, 0.2, 0.2, 0.4, 0.2, 0.2, 0.2], () => -20);
    expect(states.slice(0, 7)).toEqual(Array(7).fill('speech'));
    expect(states[7]).toBe('silent');
  });

  it('finds the real onset by the level, before the detector noticed', () => {
    // Loud from frame 10 (200 ms); the detector says so with the window that ends at 320 ms.
    const quiet = Array(9).fill(0.01);
    const { listener } = listen([...quiet, 0.9], (nth) => (nth >= 10 ? -20 : -60));
    expect(listener.voice).toMatchObject({ state: 'speech', onsetMs: 200, lastMs: 320 });
  });

  it('finds it on a line that hisses from the first second on', () => {
    const quiet = Array(59).fill(0.01);
    const { listener } = listen([...quiet, 0.9], (nth) => (nth >= 90 ? -20 : -38 + (nth % 3)));
    expect(listener.voice).toMatchObject({ state: 'speech', onsetMs: 1_800, lastMs: 1_920 });
  });

  const quiet = Array(50).fill(0.01);

  it('skips three windows of four that are no louder than the noise, once it has measured the noise', () => {
    const { skipped } = listen(quiet, (nth) => -55 + (nth % 3));
    // The noise is known from 1,000 ms on, and window 31 is the first that ends later.
    expect(skipped).toEqual([31, 32, 33, 35, 36, 37, 39, 40, 41, 43, 44, 45, 47, 48, 49]);
  });

  it('skips none with a louder frame in it', () => {
    // Frames 60 and 61 are 1,200 to 1,240 ms: the windows from 1,184 to 1,248 ms.
    const { skipped } = listen(quiet, (nth) => (nth === 60 || nth === 61 ? -48 : -55));
    expect(skipped).not.toContain(37);
    expect(skipped).not.toContain(38);
    expect(skipped).toContain(39);
  });

  it('skips none on a line with noise', () => {
    expect(listen(quiet, () => -49).skipped).toEqual([]);
  });

  it('skips none while the detector is in doubt, nor in speech', () => {
    expect(listen(Array(50).fill(0.2), () => -55).skipped).toEqual([]);
    expect(listen(Array(50).fill(0.9), () => -55).skipped).toEqual([]);
  });

  it('analyses the first window after a gap', () => {
    const { listener, skipped } = listen(quiet, () => -55);
    const before = skipped.length;
    const frame = new Int16Array(160);
    listener.push(frame, 5_000, -55);
    listener.push(frame, 5_020, -55);
    expect(skipped).toHaveLength(before);
  });

  it('ends speech when the caller’s audio stops', () => {
    const { listener } = listen([0.9, 0.9], () => -20);
    listener.tick(200);
    expect(listener.voice.state).toBe('speech');
    listener.tick(500);
    expect(listener.voice).toMatchObject({ state: 'silent', lastMs: 64 });
  });
});

describe('the echo guard', () => {
  /** Levels of speech: words of some 200 ms with gaps, from a fixed pattern. */
  const speech = (nth: number, seed: number) => {
    const word = Math.sin(nth * 0.7 + seed) + Math.sin(nth * 0.23 + 2 * seed);
    return word > -0.4 ? -22 + 4 * word : -55;
  };

  it.each([2, 6, 15])('suspects the agent’s own voice that comes back after %i frames', (lag) => {
    const guard = new EchoDetector();
    let suspected = 0;
    for (let nth = 0; nth < 200; nth++) {
      guard.outgoing(speech(nth, 1), nth * 20);
      guard.incoming(Math.max(-60, speech(nth - lag, 1) - 12), nth * 20);
      if (nth >= 70 && guard.isEcho()) suspected++;
    }
    expect(suspected).toBe(130);
  });

  it('detects a line with echo from the first word of the next utterance on', () => {
    const guard = new EchoDetector();
    for (let nth = 0; nth < 300; nth++) {
      const silent = nth > 150 && nth < 230;
      guard.outgoing(silent ? -70 : speech(nth, 1), nth * 20);
      const echo = nth - 8 > 150 && nth - 8 < 230 ? -70 : speech(nth - 8, 1) - 9;
      guard.incoming(Math.max(-60, echo), nth * 20);
      const suspected = guard.isEcho();
      if (nth > 245) expect(suspected, String(nth)).toBe(true);
    }
  });

  it('detects the caller on a line with echo by the level', () => {
    const guard = new EchoDetector();
    for (let nth = 0; nth < 200; nth++) {
      guard.outgoing(speech(nth, 1), nth * 20);
      const echo = Math.max(-60, speech(nth - 8, 1) - 15);
      guard.incoming(nth >= 150 ? -14 : echo, nth * 20);
      const suspected = guard.isEcho();
      if (nth >= 150) expect(suspected, String(nth)).toBe(false);
    }
  });

  it('detects a caller who is fainter than the agent over its echo within 40 ms', () => {
    for (let onset = 100; onset < 140; onset++) {
      const guard = new EchoDetector();
      for (let nth = 0; nth < onset + 8; nth++) {
        guard.outgoing(speech(nth, 1), nth * 20);
        const echo = Math.max(-60, speech(nth - 8, 1) - 20);
        guard.incoming(nth >= onset ? -27 : echo, nth * 20);
        if (nth >= onset + 1) expect(guard.isEcho(), `${onset} ${nth}`).toBe(false);
      }
    }
  });

  it('suspects no caller on a line without echo, from the first 60 ms on', () => {
    for (let onset = 60; onset < 160; onset++) {
      const guard = new EchoDetector();
      for (let nth = 0; nth < onset + 5; nth++) {
        guard.outgoing(speech(nth, 1), nth * 20);
        guard.incoming(nth >= onset ? -24 : -60, nth * 20);
        if (nth >= onset + 2) expect(guard.isEcho(), `${onset} ${nth}`).toBe(false);
      }
    }
  });

  it('suspects nothing while the agent is silent', () => {
    const guard = new EchoDetector();
    for (let nth = 0; nth < 50; nth++) guard.incoming(speech(nth, 3) - 20, nth * 20);
    expect(guard.isEcho()).toBe(false);
  });

  it('drops the agent’s level half a second after it', () => {
    const guard = new EchoDetector();
    for (let nth = 0; nth < 100; nth++) {
      if (nth < 50) guard.outgoing(-20, nth * 20);
      guard.incoming(nth < 80 ? -60 : -45, nth * 20);
    }
    expect(guard.isEcho()).toBe(false);
  });
});

describe('what was heard of a sentence', () => {
  function sentence(text: string, ms: number) {
    const utterance = new Utterance(1, true);
    const segment = new Segment(utterance, text);
    utterance.segments.push(segment);
    segment.push(new Int16Array(ms * 8));
    segment.complete = true;
    return { utterance, segment };
  }

  it('is all of it once it was played', () => {
    const { utterance, segment } = sentence('Hello, world!', 1_000);
    segment.playedSamples = 8_000;
    expect(utterance.heardText()).toBe('Hello, world!');
  });

  it('goes by the synthesiser’s word timings', () => {
    const { utterance, segment } = sentence('Hello, wide world!', 3_000);
    segment.words = [
      { word: 'hello', startMs: 0, endMs: 200 },
      { word: 'wide', startMs: 200, endMs: 2_000 },
      { word: 'world', startMs: 2_000, endMs: 3_000 },
    ];
    segment.playedSamples = 8 * 1_000;
    expect(utterance.heardText()).toBe('Hello,');
    segment.playedSamples = 8 * 1_400;
    expect(utterance.heardText()).toBe('Hello, wide');
  });

  it('goes by the share of the characters without them', () => {
    const { utterance, segment } = sentence('aaaa bbbb cccc dddd', 1_900);
    segment.playedSamples = 8 * 1_000;
    expect(utterance.heardText()).toBe('aaaa bbbb');
  });

  it('is never all of it if the synthesiser broke off', () => {
    // At 65 ms a character, 700 ms are the first eleven.
    const { utterance, segment } = sentence('This was not said to its very end.', 700);
    segment.failed = true;
    segment.playedSamples = 5_600;
    expect(utterance.heardText()).toBe('This was not');
  });
});

describe('deferred events', () => {
  it('that their handler causes come after the one in hand, in order', () => {
    const told: string[] = [];
    const outbox = new DeferredEvents<string>((event) => {
      if (event === 'first') outbox.defer('second');
      outbox.flush();
      told.push(event);
    }, unexpected);
    outbox.defer('first');
    outbox.flush();
    expect(told).toEqual(['first', 'second']);
  });

  it('without end are a fault', () => {
    const outbox = new DeferredEvents<number>(() => undefined, unexpected);
    for (let nth = 0; nth < 1_000; nth++) outbox.defer(nth);
    expect(() => outbox.defer(1_000)).toThrow();
  });
});
