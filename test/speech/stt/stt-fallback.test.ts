import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { SessionLimit } from '../../../src/speech/service/session-limit.ts';
import type { RecognizerListener } from '../../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { FakeStt } from '../../fakes/speech-services.ts';
import { RecognizerRig } from './recognizer-rig.ts';
import { call, type Given } from './recognizers-of-a-call.ts';
import { many, SpeakingCaller } from './speaking-caller.ts';

describe('recognisers with a fallback', () => {
  it('pass everything to the first while it works', () => {
    const at = call({ fixedAfterWords: 3 }, {});
    at.rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['x'] });
    at.turn('w1 w2 w3 w4');
    at.silence(400);
    expect(at.rig.finals.map(({ text }) => text)).toEqual(['w1 w2 w3', 'w4']);
    expect(at.rig.partials).toEqual(['w1', 'w1 w2', 'w4']);
    expect(at.a.service.sessions[0]?.calls).toEqual(['start', 'stop', 'finalize']);
    expect(at.a.service.sessions[0]?.expectation.boost).toEqual(['x']);
    expect(at.b.service.sessions).toHaveLength(0);
    expect(at.stt.name).toBe('a');
  });

  it('replay what is not confirmed to a new session of the same service, then to the next', () => {
    const failing = { faults: () => ({ failAtMs: 900 }) };
    const at = call({ ...failing, fixedAfterWords: 2 }, {});
    at.turn(many(8));
    at.silence(3_000);
    expect(at.rig.text).toBe(many(8));
    expect(at.a.service.sessions).toHaveLength(2);
    expect(at.b.service.sessions).toHaveLength(1);
    expect(at.rig.replaced).toEqual([at.b.service.capabilities]);
    expect(at.b.service.sessions[0]?.calls).toEqual(['start', 'stop', 'finalize']);
    expect(at.rig.errors).toEqual([]);
  });

  it('keep the time of the call in the words after a replay', () => {
    const at = call({ faults: () => ({ failAtMs: 4_100, kind: 'auth' }) }, {});
    at.silence(4_000);
    at.turn('w1 w2');
    at.silence(2_000);
    expect(at.rig.finals.at(-1)?.words).toEqual([
      { word: 'w1', startMs: 4_000, endMs: 4_200 },
      { word: 'w2', startMs: 4_260, endMs: 4_460 },
    ]);
    expect(at.b.service.sessions[0]?.finder.positionMs).toBeLessThan(4_000);
  });

  it('replay at 1.8 times real time, or as slowly as the service wants it', () => {
    for (const [replaySpeedMax, speed] of [
      [undefined, 1.8],
      [1.2, 1.2],
    ] as const) {
      const capabilities = replaySpeedMax === undefined ? {} : { replaySpeedMax };
      const at = call({ faults: () => ({ failAtMs: 5_000, kind: 'quota' }) }, { capabilities });
      at.says(many(20));
      const [session] = at.b.service.sessions;
      const before = session?.finder.positionMs ?? 0;
      at.silence(1_000);
      const passed = (session?.finder.positionMs ?? 0) - before;
      expect(passed).toBeGreaterThan(speed * 950);
      expect(passed).toBeLessThanOrEqual(speed * 1_000 + 40);
    }
  });

  it('answer each finalize once when the fault comes in place of the answer', () => {
    const at = call({ faults: () => ({ failOnFinalize: true }) }, {});
    at.turn('w1 w2 w3');
    expect(at.rig.finals).toEqual([]);
    // Half a second for the connection, and all of the call's audio at 1.8 times real time.
    expect(at.rig.delays.at(-1)).toBeCloseTo(500 + at.clock.monotonicMs() / 1.8, 0);
    at.silence(2_500);
    expect(at.rig.finals.map(({ text }) => text)).toEqual(['w1 w2 w3']);
  });

  it('announce the delay when the words are asked for during a replay', () => {
    const at = call({ faults: () => ({ failAtMs: 3_000, kind: 'forbidden' }) }, {});
    at.turn(many(12));
    expect(at.rig.delays.length).toBe(1);
    at.silence(3_000);
    expect(at.rig.text).toBe(many(12));
    expect(at.rig.finals).toHaveLength(1);
  });

  it('announce a delay when the service has fallen behind the speech whose words are asked for', () => {
    const stalled = call({ faults: () => ({ silentAtMs: 700 }) }, {});
    stalled.turn(many(8));
    expect(stalled.rig.partials.at(-1)).toBe(many(2));
    expect(stalled.rig.delays).toEqual([1_000]);
    const healthy = call({}, {});
    healthy.turn(many(8));
    expect(healthy.rig.delays).toEqual([]);
  });

  it('do not take back interim words while they are replayed', () => {
    const at = call({ faults: () => ({ failAtMs: 2_000, kind: 'auth' }) }, {});
    at.says(many(9));
    at.silence(3_000);
    const lengths = at.rig.partials.map((text) => text.length);
    expect(lengths).toEqual([...lengths].sort((one, other) => one - other));
    expect(at.rig.partials.at(-1)).toBe(many(9));
  });

  it('replace a service that does not answer finalize', () => {
    const at = call({ faults: () => ({ neverFinal: true }) }, {});
    at.turn('w1 w2');
    at.silence(5_000);
    expect(at.rig.finals.map(({ text }) => text)).toEqual(['w1 w2']);
    expect(at.b.service.sessions).toHaveLength(1);
  });

  it.each([
    [300, 2_000],
    [1_000, 3_000],
  ])('have %d ms for 99 of 100 final words: are waited for for %d ms', (finalMsP99, ms) => {
    const faults = () => ({ neverFinal: true });
    const at = call({ faults, capabilities: { finalMsP99 } }, {});
    at.turn('w1 w2');
    at.silence(ms - 20);
    expect(at.b.service.sessions).toHaveLength(0);
    at.silence(40);
    expect(at.b.service.sessions).toHaveLength(1);
  });

  it('replace a service that is silent for 4 s of speech: its session, then itself', () => {
    const at = call({ faults: () => ({ silentAtMs: 0 }) }, {});
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(15)));
    expect(at.a.service.sessions).toHaveLength(1);
    at.hear(framesOf(many(3, 15)));
    expect(at.a.service.sessions).toHaveLength(2);
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(9_000);
    expect(at.rig.text).toBe(many(18));
    expect(at.b.service.sessions).toHaveLength(1);
    expect(at.changes).toEqual(['a to b, timeout']);
  });

  // A call that began while its recogniser rested had another one, and its run gave no reason.
  it('name the one that is passed by because it failed in other calls, once', () => {
    const at = call({}, { faults: () => ({ failAtMs: 900, kind: 'rate' }) }, {});
    const fault = new ServiceFault('stt', 'a', 'overload', { detail: 'what another caller said' });
    at.changes.length = 0;
    for (let nth = 0; nth < 3; nth++) at.a.circuit.failed(fault);
    for (let session = 0; session < 2; session++) {
      const each = at.again();
      each.turn(many(6));
      each.silence(3_000);
      each.rig.recognizer.close();
    }
    expect(at.changes).toEqual(['a to b, overload', 'b to c, rate']);
    expect(at.details.join()).not.toContain('another caller');
  });

  it('report a fault that lasts and that another call met since the plan, once', () => {
    const at = call({}, {});
    at.a.circuit.failed(new ServiceFault('stt', 'a', 'quota', { detail: 'used up' }));
    for (const each of [at.again(), at.again()]) each.rig.recognizer.close();
    expect([at.changes, at.permanent]).toEqual([[], ['a quota']]);
  });

  it('report a fault that lasts once where the call opens another session', () => {
    const at = call({ faults: () => ({ failAtMs: 900, kind: 'auth' }) }, {});
    at.turn(many(6));
    at.silence(3_000);
    at.again().rig.recognizer.close();
    expect([at.changes, at.permanent]).toEqual([[], ['a auth']]);
  });

  it('replace a session that sends nothing for 2.5 s within speech', () => {
    const at = call({ faults: (nth) => (nth === 0 ? { silentAtMs: 1_000 } : {}) }, {});
    at.rig.recognizer.speechStarted();
    at.hear(framesOf(many(12)));
    expect(at.a.service.sessions).toHaveLength(1);
    at.hear(framesOf(many(4, 12)));
    expect(at.a.service.sessions).toHaveLength(2);
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(4_000);
    expect(at.rig.text).toBe(many(16));
    expect(at.changes).toEqual([]);
  });

  it('count no fault for voice without words', () => {
    const at = call({}, {}, { capabilities: { closedOnly: true } });
    const noise = Array.from({ length: 300 }, () => new Int16Array(160).fill(9));
    for (let turn = 0; turn < 5; turn++) {
      at.rig.recognizer.speechStarted();
      at.hear(noise);
      at.rig.recognizer.speechStopped?.();
      at.silence(500);
      at.rig.recognizer.finalize();
      at.silence(2_000);
    }
    expect(at.rig.finals.map(({ text }) => text)).toEqual(['', '', '', '', '']);
    expect(at.a.service.sessions.length + at.b.service.sessions.length).toBeLessThanOrEqual(3);
    expect(at.c.service.sessions).toHaveLength(0);
    expect([at.a.circuit.state, at.b.circuit.state]).toEqual(['closed', 'closed']);
    at.turn('w1');
    at.silence(1_000);
    expect(at.rig.text).toBe('w1');
  });

  // A service that had stopped answered one-word turns with nothing, call after call, until somebody said a longer sentence.
  it('replay a word to a new session where the service gave no sign of life, and count the fault', () => {
    const at = call({ faults: (nth) => (nth === 0 ? { deafAtMs: 1_000 } : {}) }, {});
    at.silence(1_200);
    at.turn('w1');
    at.silence(2_000);
    expect([at.rig.text, at.rig.finals.length, at.rig.errors]).toEqual(['w1', 1, []]);
    expect([at.a.service.sessions.length, at.b.service.sessions.length]).toEqual([2, 0]);
  });

  // Messages of the first moments of speech are about the audio before it.
  it('replay a sentence to a new session where the last sign of life came as it began', () => {
    const at = call({ faults: (nth) => (nth === 0 ? { deafAtMs: 1_000 } : {}) }, {});
    at.silence(1_000);
    at.rig.recognizer.speechStarted();
    // A word in the detected begin of speech, which the service had begun to hear.
    at.hear(framesOf('w1'));
    at.a.service.sessions[0]?.alive();
    at.hear(framesOf('w2 w3 w4 w5 w6'));
    at.rig.recognizer.speechStopped?.();
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(4_000);
    expect(at.rig.text).toBe('w1 w2 w3 w4 w5 w6');
    expect(at.a.service.sessions).toHaveLength(2);
  });

  it('expect nothing during speech from a service without interim words', () => {
    const faults = () => ({ silentAtMs: 0 });
    const at = call({ capabilities: { interimWords: false }, faults }, {});
    at.says(many(20));
    expect(at.a.service.sessions).toHaveLength(1);
    const quiet = call({ capabilities: { interimWords: false } }, {});
    quiet.rig.recognizer.speechStarted();
    quiet.hear(Array.from({ length: 100 }, () => new Int16Array(160).fill(9)));
    quiet.rig.recognizer.speechStopped?.();
    quiet.rig.recognizer.finalize();
    quiet.silence(1_000);
    expect(quiet.rig.finals.map(({ text }) => text)).toEqual(['']);
    expect(quiet.a.service.sessions).toHaveLength(1);
  });

  it('skip services whose circuits are open', () => {
    const at = call({ faults: () => ({ failAtMs: 500, kind: 'auth' }) }, {}, {});
    for (let i = 0; i < 3; i++) at.b.circuit.failed(failed('overload'));
    at.turn('w1 w2');
    at.silence(2_000);
    expect(at.b.service.sessions).toHaveLength(0);
    expect(at.c.service.sessions).toHaveLength(1);
    expect(at.a.circuit.state).toBe('open');
    const later = at.stt.open(OPEN_SPEECH, { onPartial: no, onFinal: no, onError: no });
    expect([at.stt.name, at.c.service.sessions.length]).toEqual(['c', 2]);
    later.close();
    expect(at.rig.text).toBe('w1 w2');
  });

  it('end with the fault when nothing is left, and at once when no circuit admits the call', () => {
    const at = call({ faults: () => ({ failAtMs: 100, kind: 'auth' }) });
    at.turn('w1');
    expect(at.rig.errors).toHaveLength(1);
    const rig = new RecognizerRig(at.clock, at.stt);
    expect(rig.errors).toEqual([]);
    at.clock.advance(0);
    expect(rig.errors.map(({ code }) => code)).toEqual(['STT_FAILED']);
  });

  it('keep a service that reports its delay, and pass the delay on', () => {
    const clock = new FakeClock();
    const stt = new FakeStt(clock);
    stt.finalMs = 6_000;
    const { open } = stt;
    let listener: RecognizerListener | undefined;
    const service = Object.assign(stt, {
      open(...of: Parameters<FakeStt['open']>) {
        [, listener] = of;
        return open.apply(stt, of);
      },
    });
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'fake' });
    const services = [{ service, circuit }];
    const rig = new RecognizerRig(
      clock,
      createSttFallback({ services, clock, log: quietLog().log }),
    );
    rig.recognizer.speechStarted();
    stt.understand('late words');
    rig.recognizer.finalize();
    for (let ms = 0; ms < 6_000; ms += 250) {
      clock.advance(250);
      listener?.onDelayed?.(350);
    }
    expect(rig.finals.map(({ text }) => text)).toEqual(['late words']);
    expect([rig.errors, circuit.lastFault]).toEqual([[], undefined]);
    expect(rig.delays.length).toBeGreaterThan(20);
  });

  it('try a service again before the embedded recogniser takes over', () => {
    const stalls = {
      faults: (nth: number) => (nth === 0 ? { failAtMs: 300, kind: 'timeout' as const } : {}),
    };
    const at = call(stalls, { capabilities: { closedOnly: true } });
    at.turn('w1 w2');
    at.silence(2_000);
    expect([at.a.service.sessions.length, at.b.service.sessions.length]).toEqual([2, 0]);
    expect(at.rig.text).toBe('w1 w2');
  });

  it('open the next session in a pause before the longest one is over', () => {
    const at = call({ capabilities: { sessionMsMax: 20_000 } });
    at.silence(18_800);
    at.says('w1');
    at.silence(100);
    expect(at.a.service.sessions).toHaveLength(1);
    at.rig.recognizer.finalize();
    at.silence(400);
    expect(at.a.service.sessions).toHaveLength(2);
    expect(at.a.service.sessions[0]?.isClosed).toBe(true);
    at.turn('w2');
    at.silence(1_000);
    expect([at.rig.text, at.rig.errors, at.a.circuit.state]).toEqual(['w1 w2', [], 'closed']);
  });

  it('open the next session within speech if there is no pause', () => {
    const at = call({ capabilities: { sessionMsMax: 10_000 } });
    at.says(many(46));
    at.silence(300);
    at.rig.recognizer.finalize();
    at.silence(8_000);
    expect(at.rig.text).toBe(many(46));
    const [session] = at.a.service.sessions;
    expect(session?.isClosed).toBe(true);
    expect(session?.finder.positionMs).toBeLessThan(10_000);
  });

  it('carry the language and the expected input to the next session', () => {
    const at = call({ faults: (nth) => (nth === 0 ? { failAtMs: 500 } : {}) });
    at.rig.recognizer.setLanguage?.('de');
    at.rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Ada'] });
    at.silence(600);
    expect(at.a.service.sessions[1]?.calls).toEqual(['de']);
    expect(at.a.service.sessions[1]?.expectation.boost).toEqual(['Ada']);
  });

  it('report the usage of all sessions, and nothing else after the end', () => {
    const at = call({ faults: () => ({ failAtMs: 500, kind: 'auth' }) }, {});
    at.says('w1 w2');
    at.rig.recognizer.finalize();
    at.rig.recognizer.close();
    at.silence(2_000);
    expect(at.rig.usage.map(({ service }) => service)).toEqual(['a', 'b']);
    expect([at.rig.finals, at.rig.errors]).toEqual([[], []]);
    expect(at.clock.timers).toBeLessThan(10);
  });

  it('report a permanent fault that the caller does not notice, and a transient one as a change', () => {
    const at = call(
      { faults: () => ({ failAtMs: 1_000, kind: 'quota' }) },
      { faults: () => ({ failAtMs: 3_000, kind: 'overload' }) },
      {},
    );
    at.turn(many(12));
    at.silence(4_000);
    expect([at.rig.text, at.rig.errors, at.permanent]).toEqual([many(12), [], ['a quota']]);
    expect(at.changes).toEqual(['b to c, overload']);
  });

  it('report the fault once as an error when nothing is left', () => {
    const at = call({ faults: () => ({ failAtMs: 1_000, kind: 'auth' }) });
    at.turn(many(4));
    at.silence(3_000);
    expect([at.rig.errors.length, at.permanent]).toEqual([1, []]);
  });

  it('leave the services open when a call is over', async () => {
    const at = call({}, {});
    await at.stt.close();
    at.turn('w1 w2');
    at.silence(400);
    expect(at.rig.text).toBe('w1 w2');
    expect(at.a.service.isClosed).toBe(false);
  });

  it('begin speech at a gated service where the one before had ended the turn within it', () => {
    const faults = () => ({ failAtMs: 2_400, kind: 'auth' as const });
    const at = call({ faults, endsAfterMs: 260 }, { capabilities: { gated: true } });
    at.says('w1 w2');
    at.silence(400);
    expect(at.rig.turns).toEqual([['ended', 'w1 w2']]);
    at.rig.recognizer.speechResumed?.();
    at.hear(framesOf(many(6, 3)));
    at.rig.recognizer.speechStopped?.();
    at.silence(400);
    at.rig.recognizer.finalize();
    at.silence(2_000);
    expect(at.b.service.sessions[0]?.calls.slice(-3)).toEqual(['start', 'stop', 'finalize']);
    expect(at.rig.text).toBe(`w1 w2 ${many(6, 3)}`);
  });

  it('keep the words of audio that is no longer there to replay', () => {
    const faults = () => ({ failAtMs: 20_000, kind: 'auth' as const });
    const at = call({ faults }, {});
    at.turn(many(90));
    at.silence(12_000);
    expect(at.rig.text).toBe(many(90));
    expect(at.rig.finals).toHaveLength(1);
  });

  it('end with the code of the embedded recogniser that has no room, which counts as no fault', () => {
    const faults = () => ({ failAtMs: 100, kind: 'auth' as const });
    const at = call({ faults }, { refuses: true });
    at.turn('w1');
    at.silence(1_000);
    expect(at.rig.errors.map(({ code }) => code)).toEqual(['STT_UNAVAILABLE']);
    expect(at.b.service.sessions).toHaveLength(1);
    for (let other = 0; other < 5; other++) {
      new RecognizerRig(at.clock, at.stt);
      at.silence(100);
    }
    expect(at.b.circuit.state).toBe('closed');
  });

  it('lose and double no word, whatever fails when', () => {
    for (let seed = 1; seed <= 120; seed++) {
      const random = randomOf(seed);
      const { spoken, text, finals, finalizes, errors } = randomCall(random);
      expect({ seed, text, errors }).toEqual({ seed, text: spoken, errors: [] });
      if (finals !== undefined) expect({ seed, finals }).toEqual({ seed, finals: finalizes });
    }
  });
});

const no = () => undefined;
const failed = (kind: 'overload') => new ServiceFault('stt', 'b', kind, { detail: '' });

/** 0 to 1, the same for each seed. Source: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function randomCall(random: () => number) {
  const between = (from: number, to: number) => Math.round(from + random() * (to - from));
  const faults = () => {
    const which = random();
    if (which < 0.4) {
      const kind = random() < 0.6 ? ('network' as const) : ('protocol' as const);
      return { failAtMs: between(0, 20_000), kind };
    }
    if (which < 0.6) return { silentAtMs: between(0, 20_000) };
    if (which < 0.75) return { failOnFinalize: true };
    return which < 0.9 ? { neverFinal: true } : {};
  };
  const asks = random() < 0.5;
  const style = () => {
    if (asks) return {};
    return random() < 0.5 ? { fixedAfterWords: between(1, 5) } : { endsAfterMs: 260 };
  };
  const at = call({ faults, ...style() }, { faults, ...style() }, style());
  const said: string[] = [];
  const turns = between(3, 8);
  let finalizes = 0;
  for (let turn = 0; turn < turns; turn++) {
    const text = many(between(1, 14), said.length * 7);
    said.push(text);
    at.says(text);
    at.silence(between(60, 900));
    at.rig.recognizer.finalize();
    finalizes += 1;
    at.silence(between(40, 6_000));
  }
  at.silence(12_000);
  const finals = asks ? at.rig.finals.length : undefined;
  return { spoken: said.join(' '), text: at.rig.text, finals, finalizes, errors: at.rig.errors };
}

describe('recognisers whose keys have a concurrency limit', () => {
  /** Calls of one key, each with its own fallback. */
  function calls(limit: number | undefined, more: Given = {}) {
    const clock = new FakeClock();
    const sessions = new SessionLimit(clock, limit);
    const a = new RecognizingService({ clock, name: 'a', ...more });
    const b = new RecognizingService({ clock, name: 'b' });
    const entries = [
      { service: a, circuit: new CircuitBreaker({ clock, job: 'stt', service: 'a' }), sessions },
      { service: b, circuit: new CircuitBreaker({ clock, job: 'stt', service: 'b' }) },
    ];
    const call = (services: typeof entries = entries) => {
      const faults: ServiceFault[] = [];
      const stt = createSttFallback({
        services,
        clock,
        log: quietLog().log,
        onPermanentFault: (fault) => faults.push(fault),
      });
      return { stt, faults, rig: () => new RecognizerRig(clock, stt) };
    };
    return { clock, a, b, entries, call };
  }

  it('use the next service at once in a new call, without asking the first, and say why', () => {
    const { a, b, call } = calls(1);
    const first = call().rig();
    const second = call();
    second.rig();
    expect([a.sessions.length, b.sessions.length]).toEqual([1, 1]);
    expect(second.faults.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['rate', 'all 1 sessions of the key are in use'],
    ]);
    first.recognizer.close();
    const third = call();
    third.rig();
    expect([a.sessions.length, b.sessions.length, third.faults]).toEqual([2, 1, []]);
  });

  it('learn the limit from a refusal, and keep the calls that have a session', async () => {
    const { clock, a, b, call } = calls(undefined, {
      faults: (nth) => (nth === 2 ? { failAtMs: 20, kind: 'rate' } : {}),
    });
    const rigs = [call().rig(), call().rig(), call().rig()];
    for (let ms = 0; ms < 12_000; ms += 20) {
      clock.advance(20);
      for (const rig of rigs) rig.recognizer.push(new Int16Array(160));
    }
    // The circuit is closed again after 10 s; the limit holds for a minute.
    call().rig();
    expect([a.sessions.length, b.sessions.length]).toEqual([3, 2]);
    expect(a.sessions.map(({ isClosed }) => isClosed)).toEqual([false, false, true]);
  });

  it('learn no limit from the refusal of a session that has worked', () => {
    const faults = () => ({ failAtMs: 2_000, kind: 'rate' as const });
    const { entries, call } = calls(undefined, { faults });
    const rig = call().rig();
    const caller = new SpeakingCaller(rig);
    caller.says(many(10));
    expect(rig.partials.length).toBeGreaterThan(0);
    expect(entries[0]?.sessions?.max).toBe(Number.POSITIVE_INFINITY);
  });

  it('pass by a service whose key is at its limit also within a call', () => {
    const { clock, a, b, entries } = calls(1, { faults: () => ({ failAtMs: 500, kind: 'auth' }) });
    const c = new RecognizingService({ clock, name: 'c' });
    const full = new SessionLimit(clock, 1);
    full.opened();
    const [first, second] = entries;
    if (first === undefined || second === undefined) throw new Error('no services');
    const third = { service: c, circuit: new CircuitBreaker({ clock, job: 'stt', service: 'c' }) };
    const services = [first, { ...second, sessions: full }, third];
    const stt = createSttFallback({ services, clock, log: quietLog().log });
    new SpeakingCaller(new RecognizerRig(clock, stt)).says('w1 w2 w3');
    expect([a, b, c].map(({ sessions }) => sessions.length)).toEqual([1, 0, 1]);
  });

  it('open connections ahead for a fifth of the sessions', () => {
    const { a, call } = calls(10);
    for (let nth = 0; nth < 5; nth++) call().stt.prepare?.();
    expect(a.prepared).toBe(2);
  });

  it('leave the keypad where every key is at its limit, and nothing else is left', () => {
    const { clock, entries, call } = calls(1);
    const [only] = entries;
    if (only === undefined) throw new Error('no service');
    call([only]).rig();
    const refused = call([only]).rig();
    clock.advance(20);
    expect(refused.errors.map(({ code }) => code)).toEqual(['STT_FAILED']);
  });
});
