// Words of less than 1.2 s at a service that has stopped while its connection is open. A cough has no words either, and
// the caller waits while one is looked into: twice in a call at most.
//
// A service whose sessions stopped one after the other answered "yes" with nothing: the same audio went to it twice more,
// and never to the next one. One that fixes words by its own silence had given "yes" before it was asked for it: the empty
// answer was doubted, which delayed the turn by two replays, after which no other word of the call was looked for.

import { describe, expect, it } from 'vitest';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { SessionFaults } from '../../fakes/services/recognizing-service.ts';
import { call, type Given } from './recognizers-of-a-call.ts';

/** Stopped before anything was said, in each of its sessions that `has` names. */
const deaf = (has: (nth: number) => boolean = () => true): Given => ({
  faults: (nth): SessionFaults => (has(nth) ? { deafAtMs: 0 } : {}),
});

function coughs(at: ReturnType<typeof call>, thenMs = 4_000): void {
  at.rig.recognizer.speechStarted();
  at.hear(Array.from({ length: 15 }, () => new Int16Array(160).fill(9)));
  at.rig.recognizer.speechStopped?.();
  at.silence(300);
  at.rig.recognizer.finalize();
  at.silence(thenMs);
}

const overload = () => new ServiceFault('stt', 'a', 'overload', { detail: '' });

const sessionsOf = (...given: { service: { sessions: readonly unknown[] } }[]): number[] =>
  given.map(({ service }) => service.sessions.length);

describe('a word of less than 1.2 s', () => {
  it('is understood by the next service where a session and the one after it have stopped', () => {
    const at = call(deaf(), {});
    at.silence(1_200);
    at.turn('w1 w2 w3');
    at.silence(3_000);
    expect([at.rig.text, at.rig.finals.length, at.rig.errors]).toEqual(['w1 w2 w3', 1, []]);
    expect(sessionsOf(at.a, at.b)).toEqual([2, 1]);
    at.turn('w4');
    at.silence(3_000);
    expect([at.rig.text, at.rig.replaced]).toEqual(['w1 w2 w3 w4', [at.b.service.capabilities]]);
    expect(sessionsOf(at.a, at.b)).toEqual([2, 1]);
  });

  it('counts one fault of the service that had stopped, once another one has understood it', () => {
    const at = call(deaf(), {});
    for (let fault = 0; fault < 2; fault++) at.a.circuit.failed(overload());
    at.turn('w1');
    at.silence(4_000);
    expect([at.rig.text, at.a.circuit.state, at.b.circuit.state]).toEqual(['w1', 'open', 'closed']);
  });

  it('is looked for in a third session where only the embedded recogniser comes next', () => {
    const at = call(
      deaf((nth) => nth < 2),
      { capabilities: { closedOnly: true } },
    );
    at.turn('w1');
    at.silence(4_000);
    expect([at.rig.text, at.rig.errors]).toEqual(['w1', []]);
    expect(sessionsOf(at.a, at.b)).toEqual([3, 0]);
  });

  it('is understood behind a next service that fails as it is asked', () => {
    const at = call(
      deaf((nth) => nth < 2),
      { faults: () => ({ failAtMs: 0, kind: 'auth' }) },
    );
    at.turn('w1');
    at.silence(4_000);
    expect([at.rig.text, at.rig.errors]).toEqual(['w1', []]);
    expect(sessionsOf(at.a, at.b)).toEqual([3, 1]);
  });

  it('is not looked for again where its words came unasked before the empty answer', () => {
    const at = call({ fixedAfterWords: 1 }, {});
    at.silence(1_200);
    at.turn('w1');
    at.silence(3_000);
    expect([at.rig.text, ...sessionsOf(at.a, at.b)]).toEqual(['w1', 1, 0]);
  });

  it('is looked for where the one before had no sign of life either, though coughs had been looked into', () => {
    const at = call({ faults: (nth): SessionFaults => (nth === 2 ? { deafAtMs: 5_000 } : {}) }, {});
    coughs(at);
    at.turn('w1');
    at.silence(5_000);
    expect([at.rig.text, ...sessionsOf(at.a, at.b)]).toEqual(['w1', 3, 1]);
    for (const word of ['w2', 'w3', 'w4']) {
      at.turn(word);
      at.silence(4_000);
    }
    expect([at.rig.text, ...sessionsOf(at.a, at.b)]).toEqual(['w1 w3 w4', 4, 1]);
  });
});

describe('a cough', () => {
  it('delays the answer twice in a call, and leaves the call with the service that it has', () => {
    const at = call({}, {});
    for (let turn = 0; turn < 4; turn++) {
      coughs(at);
      at.turn('w1');
      at.silence(2_000);
    }
    expect([at.rig.text, at.rig.finals.length]).toEqual(['w1 w1 w1 w1', 8]);
    // Its session, the next one, and that to which the call returns.
    expect([...sessionsOf(at.a, at.b), at.changes]).toEqual([3, 1, []]);
    for (let fault = 0; fault < 2; fault++) at.a.circuit.failed(overload());
    expect(at.a.circuit.state).toBe('closed');
  });

  it('delays nothing more while others follow it, but for every second, fourth and eighth in a row', () => {
    const at = call({}, {});
    const sessions = Array.from({ length: 18 }, () => {
      coughs(at);
      return at.a.service.sessions.length;
    });
    // The first one, and those behind 2, 4 and 8 more.
    expect(sessions).toEqual([3, 3, 5, 5, 5, 5, 7, ...Array(7).fill(7), 9, 9, 9, 9]);
    expect([at.rig.finals.length, at.rig.errors]).toEqual([18, []]);
  });

  it('is followed by words at once, wherever the call is', () => {
    const at = call({}, {});
    coughs(at, 0);
    for (let turn = 0; turn < 6; turn++) at.turn(`w${turn}`);
    at.silence(4_000);
    expect(at.rig.text).toBe('w0 w1 w2 w3 w4 w5');
    expect([at.rig.finals.length, at.rig.errors]).toEqual([7, []]);
  });

  it('leaves the call with the next service while the first one rests', () => {
    const at = call({}, {});
    coughs(at, 0);
    for (let fault = 0; fault < 3; fault++) at.a.circuit.failed(overload());
    at.silence(4_000);
    at.turn('w1');
    at.silence(1_000);
    expect([at.rig.text, ...sessionsOf(at.a, at.b)]).toEqual(['w1', 2, 1]);
    expect(at.changes).toEqual(['a to b, timeout']);
  });
});
