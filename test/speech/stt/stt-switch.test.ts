// Another list of recognisers for another step of the conversation: between two turns, without a lost or doubled word.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { SessionLimit } from '../../../src/speech/service/session-limit.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { framesOf, silentFrames } from '../../fakes/call/spoken-words.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  type RecognizingOptions,
  RecognizingService,
} from '../../fakes/services/recognizing-service.ts';
import { rounds } from '../../rounds.ts';
import { changeInWords } from '../change-in-words.ts';
import { RecognizerRig } from './recognizer-rig.ts';
import { many, SpeakingCaller } from './speaking-caller.ts';

type Given = Omit<RecognizingOptions, 'clock' | 'name'> & { family?: string; language?: string };

/** A call on services `a`, `b`, ...: the first list is `a` and the last one, the next `b` and the last one, and so on. */
function call(...given: Given[]) {
  const clock = new FakeClock();
  const services = given.map(({ family, language, ...options }, nth) => {
    const name = String.fromCharCode(97 + nth);
    const service = new RecognizingService({ clock, name, ...options });
    return {
      service,
      circuit: new CircuitBreaker({ clock, job: 'stt', service: name }),
      family,
      language,
    };
  });
  const last = services.at(-1) as (typeof services)[0];
  const [first = [last], ...others] = services.slice(0, -1).map((each) => [each, last]);
  const faults: ServiceFault[] = [];
  const { log, lines } = quietLog();
  const onPermanentFault = (fault: ServiceFault) => void faults.push(fault);
  const changes: string[] = [];
  const stt = createSttFallback({
    services: first,
    others,
    clock,
    log,
    onPermanentFault,
    onChanged: (change) => changes.push(changeInWords(change)),
  });
  const rig = new RecognizerRig(clock, stt);
  const { hear, silence, says, turn } = new SpeakingCaller(rig);
  return {
    rig,
    hear,
    silence,
    says,
    turn,
    faults,
    changes,
    lines,
    a: services[0] as (typeof services)[0],
    b: services[1] as (typeof services)[0],
    last,
    switchTo: (list: number) => rig.recognizer.switchTo?.(list),
  };
}

describe('a recogniser with several lists', () => {
  it('uses another one from the next turn on, and closes the session before', () => {
    const at = call({}, {}, {});
    at.turn(many(3));
    at.silence(500);
    at.switchTo(1);
    at.silence(800);
    at.turn(many(3, 3));
    at.silence(500);
    expect(at.rig.finals.map(({ text }) => text)).toEqual([many(3), many(3, 3)]);
    expect(at.a.service.sessions.map(({ isClosed }) => isClosed)).toEqual([true]);
    expect(at.b.service.sessions[0]?.calls).toEqual(['start', 'stop', 'finalize']);
    expect(at.rig.replaced).toEqual([at.b.service.capabilities]);
    expect(at.rig.usage.map(({ service }) => service)).toEqual(['a']);
  });

  it('goes on with the one before where no service of the node can be used, and says so', () => {
    const at = call({}, {}, {});
    const fault = new ServiceFault('stt', 'b', 'auth', { detail: 'refused' });
    at.b.circuit.failed(fault);
    at.last.circuit.failed(fault);
    at.turn(many(2));
    at.silence(500);
    at.switchTo(1);
    at.turn(many(2, 2));
    at.silence(500);
    expect(at.rig.finals.map(({ text }) => text)).toEqual([many(2), many(2, 2)]);
    expect(at.a.service.sessions).toHaveLength(1);
    expect(at.faults.map(({ service, kind, detail }) => [service, kind, detail])).toEqual([
      [
        'b',
        'overload',
        'no recogniser of the node can be used (b, c): faults a short time ago, or keys at their limit; a goes on',
      ],
    ]);
    expect(at.lines().filter(({ msg }) => msg === 'recogniser skipped')).toHaveLength(1);
  });

  it('gives the first second before the switch to the next session: an onset that the detector has not seen yet', () => {
    const at = call({}, {}, {});
    at.turn(many(2));
    at.silence(500);
    at.hear(framesOf(many(1, 2)).slice(0, 5));
    at.switchTo(1);
    at.hear(framesOf(many(1, 2)).slice(5));
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(2, 3)));
    at.rig.recognizer.speechStopped?.();
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(800);
    expect(at.rig.text).toBe(many(5));
  });

  it('keeps the one with which a turn began until its final words are there', () => {
    const at = call({}, {}, {});
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(2)));
    at.switchTo(1);
    expect(at.b.service.prepared).toBe(1);
    at.hear(framesOf(many(2, 2)));
    at.rig.recognizer.speechStopped?.();
    at.silence(300);
    at.rig.recognizer.finalize();
    expect(at.b.service.sessions).toHaveLength(0);
    at.silence(600);
    expect(at.rig.text).toBe(many(4));
    expect(at.a.service.sessions[0]?.isClosed).toBe(true);
    expect(at.b.service.sessions).toHaveLength(1);
  });

  it('switches between two turns of a caller who does not stop', () => {
    const at = call({}, {}, {});
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(4)));
    at.switchTo(1);
    // The turn is ended by force; the voice goes on.
    at.rig.recognizer.finalize();
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(8, 4)));
    at.rig.recognizer.speechStopped?.();
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(3_000);
    expect(at.rig.finals.map(({ text }) => text)).toEqual([many(4), many(8, 4)]);
    expect(at.b.service.sessions[0]?.calls).toEqual(['start', 'stop', 'finalize']);
  });

  it('changes the language of the open session where the service can', () => {
    const flux = (language: string): Given => ({
      family: 'flux',
      language,
      capabilities: { setsLanguage: true },
    });
    const at = call(flux('en'), flux('de'), {});
    at.turn(many(2));
    at.silence(500);
    at.switchTo(1);
    at.turn(many(2, 2));
    at.silence(500);
    at.switchTo(0);
    expect(at.rig.text).toBe(many(4));
    expect(at.a.service.sessions[0]?.calls.filter((each) => each.length === 2)).toEqual([
      'de',
      'en',
    ]);
    expect([at.a.service.sessions.length, at.b.service.sessions.length]).toEqual([1, 0]);
  });

  it('tells each session what the agent has said', () => {
    const at = call({}, {}, {});
    at.rig.recognizer.agentSaid?.('Your name?');
    at.switchTo(1);
    at.rig.recognizer.agentSaid?.('And your birthday?');
    const said = (service: RecognizingService) =>
      service.sessions.map(({ calls }) => calls.filter((each) => each.endsWith('?')));
    expect(said(at.a.service)).toEqual([['Your name?']]);
    expect(said(at.b.service)).toEqual([['Your name?', 'And your birthday?']]);
  });

  it('opens no connection ahead of a switch that happens at once, or needs none', () => {
    const at = call({}, {}, {});
    at.switchTo(1);
    expect([at.b.service.prepared, at.b.service.sessions.length]).toEqual([0, 1]);
    const flux = (language: string): Given => ({ family: 'flux', language });
    const alike = call(flux('en'), flux('de'), {});
    alike.rig.recognizer.speechStarted();
    alike.switchTo(1);
    expect(alike.b.service.prepared).toBe(0);
    const failing = call({}, {}, {});
    failing.b.circuit.failed(new ServiceFault('stt', 'b', 'auth', { detail: 'no' }));
    failing.rig.recognizer.speechStarted();
    failing.switchTo(1);
    expect([failing.b.service.prepared, failing.last.service.prepared]).toEqual([0, 1]);
  });

  it('opens the session of the new language when the one that has changed to it breaks', () => {
    const flux = (language: string): Given => ({ family: 'flux', language });
    const at = call({ ...flux('en'), faults: () => ({ failAtMs: 1_500 }) }, flux('de'), {});
    at.switchTo(1);
    at.silence(700);
    at.turn(many(4));
    at.silence(2_000);
    expect(at.rig.text).toBe(many(4));
    expect(at.b.service.sessions).toHaveLength(1);
  });

  it('does nothing for the list in use, and nothing if it is taken back before the pause', () => {
    const at = call({}, {}, {});
    at.switchTo(0);
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(2)));
    at.switchTo(1);
    at.switchTo(0);
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(600);
    expect(at.a.service.sessions).toHaveLength(1);
    expect(at.b.service.sessions).toHaveLength(0);
  });

  it('passes by a service of the next list whose circuit is open, and falls back within that list', () => {
    const at = call({}, {}, {});
    at.b.circuit.failed(new ServiceFault('stt', 'b', 'auth', { detail: 'no' }));
    at.switchTo(1);
    at.turn(many(2));
    at.silence(500);
    expect(at.b.service.sessions).toHaveLength(0);
    expect(at.last.service.sessions).toHaveLength(1);
    const failing = call({}, { faults: () => ({ failAtMs: 900, kind: 'quota' }) }, {});
    failing.switchTo(1);
    failing.turn(many(6));
    failing.silence(3_000);
    expect(failing.rig.text).toBe(many(6));
    expect(failing.last.service.sessions).toHaveLength(1);
  });

  it('names the service of the next list that it passes by after faults in other calls, once', () => {
    const at = call({}, {}, {});
    const fault = new ServiceFault('stt', 'b', 'overload', { detail: 'busy' });
    for (let nth = 0; nth < 3; nth++) at.b.circuit.failed(fault);
    for (const list of [1, 0, 1]) at.switchTo(list);
    expect(at.last.service.sessions).toHaveLength(2);
    expect(at.changes).toEqual(['b to c, overload']);
  });

  it('says that the key of the first service of the next list is at its limit, and uses the second', () => {
    const clock = new FakeClock();
    const entry = (name: string) => {
      const service = new RecognizingService({ clock, name });
      return { service, circuit: new CircuitBreaker({ clock, job: 'stt', service: name }) };
    };
    const [a, b, c] = [entry('a'), entry('b'), entry('c')];
    const sessions = new SessionLimit(clock, 1);
    sessions.opened();
    const faults: string[] = [];
    const stt = createSttFallback({
      services: [a],
      others: [[{ ...b, sessions }, c]],
      clock,
      log: quietLog().log,
      onPermanentFault: ({ facts }) => faults.push(`${facts['service']} ${facts['kind']}`),
    });
    const rig = new RecognizerRig(clock, stt);
    rig.recognizer.switchTo?.(1);
    expect([b.service.sessions.length, c.service.sessions.length]).toEqual([0, 1]);
    expect(faults).toEqual(['b rate']);
    rig.recognizer.switchTo?.(0);
    expect(faults).toEqual(['b rate']);
  });

  it('begins with the first list where no service of its own can be used, and says so', () => {
    const clock = new FakeClock();
    const entry = (name: string) => {
      const service = new RecognizingService({ clock, name });
      return { service, circuit: new CircuitBreaker({ clock, job: 'stt', service: name }) };
    };
    const [a, b, c] = [entry('a'), entry('b'), entry('c')];
    const sessions = new SessionLimit(clock, 1);
    sessions.opened();
    c.circuit.failed(new ServiceFault('stt', 'c', 'auth', { detail: 'refused' }));
    const faults: string[] = [];
    const stt = createSttFallback({
      services: [a],
      others: [[{ ...b, sessions }, c]],
      clock,
      log: quietLog().log,
      onPermanentFault: ({ service, detail }) => faults.push(`${service}: ${detail}`),
    });
    const rig = new RecognizerRig(clock, stt, OPEN_SPEECH, 1);
    new SpeakingCaller(rig).turn(many(2));
    new SpeakingCaller(rig).silence(800);
    expect(rig.text).toBe(many(2));
    expect(rig.errors).toEqual([]);
    expect(faults).toEqual([
      'b: all 1 sessions of the key are in use',
      'b: no recogniser of the node can be used (b, c): faults a short time ago, or keys at their limit; a goes on',
    ]);
    // Its own list again, once that has room.
    sessions.closed();
    rig.recognizer.switchTo?.(1);
    expect(b.service.sessions).toHaveLength(1);
  });

  it('counts no session that a service fails to open', () => {
    const clock = new FakeClock();
    const service = new RecognizingService({ clock, name: 'a' });
    service.open = () => {
      throw new Error('broken');
    };
    const sessions = new SessionLimit(clock, 1);
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'a' });
    const services = [{ service, circuit, sessions }];
    const stt = createSttFallback({ services, clock, log: quietLog().log });
    expect(() => new RecognizerRig(clock, stt)).toThrow('broken');
    expect(sessions.isIdle).toBe(true);
  });

  it('loses and doubles no word, whenever it switches', () => {
    const run = (switchesAtMs: readonly number[], pauseMs: number) => {
      const at = call({ fixedAfterWords: 3 }, { endsAfterMs: 700 }, { finalMs: 400 }, {});
      let words = 0;
      let atMs = 0;
      const due = [...switchesAtMs].sort((one, other) => one - other);
      const hear = (frames: readonly Int16Array[]) => {
        for (const frame of frames) {
          while (due[0] !== undefined && due[0] <= atMs) at.switchTo((due.shift() ?? 0) % 3);
          at.hear([frame]);
          atMs += 20;
        }
      };
      for (let turn = 0; turn < 4; turn += 1) {
        hear(silentFrames(pauseMs));
        at.rig.recognizer.speechStarted();
        hear(framesOf(many(3, words)));
        words += 3;
        at.rig.recognizer.speechStopped?.();
        hear(silentFrames(300));
        at.rig.recognizer.finalize();
      }
      at.silence(4_000);
      expect(at.rig.text).toBe(many(words));
    };
    const times = fc.array(fc.integer({ min: 0, max: 8_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(fc.property(times, fc.integer({ min: 200, max: 1_500 }), run), {
      numRuns: rounds(60, 120),
    });
  });
});
