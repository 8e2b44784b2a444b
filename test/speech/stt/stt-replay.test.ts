// What a replay of unconfirmed audio does not do: burst, report turns of the past, or keep a turn waiting for ever. And
// what the circuit of a recogniser learns from a call.

import { describe, expect, it } from 'vitest';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import { call } from './recognizers-of-a-call.ts';
import { many } from './speaking-caller.ts';

describe('replayed audio', () => {
  it('comes in no burst after the process has stalled', () => {
    const at = call({ faults: () => ({ failAtMs: 6_000, kind: 'quota' }) }, {});
    at.says(many(24));
    const [session] = at.b.service.sessions;
    const before = session?.finder.positionMs ?? 0;
    at.clock.stall(2_000);
    at.clock.advance(20);
    const passed = (session?.finder.positionMs ?? 0) - before;
    expect(passed).toBeGreaterThan(100);
    expect(passed).toBeLessThanOrEqual(6 * 20 * 1.8 + 1);
  });

  it('begins and ends no turn: what the service makes of its pauses is over', () => {
    const at = call({ faults: () => ({ failAtMs: 3_000, kind: 'auth' }) }, { eagerAfterMs: 300 });
    at.rig.recognizer.speechStarted();
    at.hear(framesOf('w1 w2'));
    at.silence(500);
    at.hear(framesOf(many(12, 3)));
    at.rig.recognizer.speechStopped?.();
    at.silence(4_000);
    expect(at.b.service.sessions).toHaveLength(1);
    expect(at.rig.partials.at(-1)).toBe(`w1 w2 ${many(12, 3)}`);
    expect(at.rig.turns).toEqual([]);
  });

  it('begins 200 ms before the report of words without times', () => {
    const at = call({
      timeless: true,
      fixedAfterWords: 3,
      fixedMs: 180,
      faults: (nth) => (nth === 0 ? { failAtMs: 1_300 } : {}),
    });
    at.says(many(4));
    expect(at.a.service.sessions).toHaveLength(1);
    at.hear(framesOf(many(6, 4)));
    expect(at.a.service.sessions).toHaveLength(2);
    at.silence(3_000);
    at.rig.recognizer.finalize();
    at.silence(1_000);
    expect(at.rig.text).toBe(many(10));
  });

  it('prepares no final words, which are late anyway', () => {
    const at = call({ faults: () => ({ failAtMs: 3_000, kind: 'auth' }) }, {});
    at.says(many(12));
    at.rig.recognizer.prepareFinal?.();
    at.silence(8_000);
    expect(at.b.service.sessions[0]?.calls).toEqual(['start', 'stop']);
    at.rig.recognizer.prepareFinal?.();
    expect(at.b.service.sessions[0]?.calls).toEqual(['start', 'stop', 'prepare']);
  });

  it('puts the words of a turn off by 2.5 s at most', () => {
    const at = call({ faults: () => ({ failAtMs: 11_000, kind: 'auth' }) }, {});
    at.turn(many(42));
    expect(at.rig.delays).toEqual([2_500]);
  });
});

describe('a replay to a service whose connection is half closed', () => {
  it('goes on with the next service 3 s after one that never connects, and says nothing', () => {
    const at = call(
      { faults: () => ({ failAtMs: 600, kind: 'auth' }) },
      { faults: () => ({ unreadyAtMs: 0 }) },
      {},
    );
    at.says(many(4));
    at.silence(2_300);
    expect(at.c.service.sessions).toHaveLength(0);
    at.silence(400);
    expect(at.c.service.sessions).toHaveLength(1);
    expect(at.b.service.sessions[0]?.isClosed).toBe(true);
    at.rig.recognizer.finalize();
    at.silence(4_000);
    expect([at.rig.text, at.rig.errors]).toEqual([many(4), []]);
  });

  it('goes on 500 ms after one that began to close, and counts it as a fault', () => {
    const at = call(
      { faults: () => ({ failAtMs: 3_000, kind: 'auth' }) },
      { faults: () => ({ unreadyAtMs: 600 }) },
      {},
    );
    at.turn(many(16));
    const [session] = at.b.service.sessions;
    expect(session?.finder.positionMs).toBeGreaterThanOrEqual(600);
    at.silence(300);
    expect(at.c.service.sessions).toHaveLength(1);
    at.silence(4_000);
    expect([at.rig.text, at.rig.finals.length, at.rig.errors]).toEqual([many(16), 1, []]);
    for (let i = 0; i < 2; i++) {
      at.b.circuit.failed(new ServiceFault('stt', 'b', 'network', { detail: 'x' }));
    }
    expect(at.b.circuit.state).toBe('open');
  });
});

describe('a replay over a connection that comes and goes', () => {
  it('goes on with it each time that it is back within 500 ms', () => {
    const at = call({ faults: () => ({ failAtMs: 3_000, kind: 'auth' }) }, {}, {});
    at.says(many(16));
    const [session] = at.b.service.sessions;
    let isReady = true;
    Object.defineProperty(session, 'isReady', { get: () => isReady });
    for (let times = 0; times < 3; times++) {
      isReady = false;
      at.silence(440);
      isReady = true;
      at.silence(100);
    }
    at.rig.recognizer.finalize();
    at.silence(4_000);
    expect([at.rig.text, at.rig.errors]).toEqual([many(16), []]);
    expect([at.b.service.sessions.length, at.c.service.sessions.length]).toEqual([1, 0]);
  });
});

describe('the circuit of a recogniser', () => {
  it('closes once the service answers the call that it has admitted after its pause', () => {
    const at = call({}, {});
    for (let i = 0; i < 3; i++) {
      at.a.circuit.failed(new ServiceFault('stt', 'a', 'network', { detail: 'x' }));
    }
    expect(at.a.circuit.state).toBe('open');
    at.clock.advance(15_000);
    const next = at.again();
    expect(at.a.circuit.state).toBe('half-open');
    next.turn('w1 w2');
    next.silence(400);
    expect([next.rig.text, at.a.circuit.state]).toEqual(['w1 w2', 'closed']);
  });

  it('has a fault for each silence in which another service found words, and for no other', () => {
    for (const { second, state } of [
      { second: {}, state: 'open' },
      { second: { faults: () => ({ silentAtMs: 0 }) }, state: 'closed' },
    ]) {
      const at = call({ faults: () => ({ silentAtMs: 0 }) }, second);
      for (let i = 0; i < 2; i++) {
        at.a.circuit.failed(new ServiceFault('stt', 'a', 'network', { detail: 'x' }));
      }
      at.says(many(50));
      at.silence(3_000);
      expect(at.b.service.sessions.length).toBeGreaterThan(0);
      expect(at.a.circuit.state).toBe(state);
    }
  });
});
