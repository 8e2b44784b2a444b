// The concurrency limit of a voice's key: calls beyond it speak with the next service from their first word on, and a call
// keeps the voice that it began with.

import { describe, expect, it } from 'vitest';
import { CallSessions } from '../../../src/speech/service/call-sessions.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { SessionLimit } from '../../../src/speech/service/session-limit.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { faultOf, StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { HeardUtterance } from './heard-utterance.ts';

class PreparedTts extends StreamedTts {
  prepared = 0;
  /** Lines that it keeps. */
  readonly lines = new Map<string, Int16Array>();
  prepare(): void {
    this.prepared += 1;
  }
  kept(text: string): Int16Array | undefined {
    return this.lines.get(text);
  }
}

function setUp(
  limit: number | undefined,
  failure?: () => { afterMs: number; fault: ServiceFault },
  speed?: number,
) {
  const clock = new FakeClock();
  const sessions = new SessionLimit(clock, limit);
  const options = { ...(failure && { failure }), ...(speed !== undefined && { speed }) };
  const first = new PreparedTts({ clock, name: 'limited', ...options });
  const second = new PreparedTts({ clock, name: 'next' });
  const of = (service: StreamedTts) => ({
    service,
    circuit: new CircuitBreaker({ clock, job: 'tts', service: service.name }),
    voice: 'v',
  });
  const services = [{ ...of(first), sessions }, of(second)];
  const call = () => {
    const held = new CallSessions(clock);
    const faults: ServiceFault[] = [];
    const onPermanentFault = (fault: ServiceFault) => void faults.push(fault);
    const voice = (): TextToSpeech =>
      createTtsFallback({ services, held, clock, log: quietLog().log, onPermanentFault });
    const tts = voice();
    const says = async (text: string, by = tts) => {
      const heard = new HeardUtterance();
      const stream = by.stream?.('v', heard);
      stream?.push(text);
      stream?.end();
      await clock.advanceAsync(100);
      expect(heard.ends).toEqual(['done']);
    };
    return { tts, voice, says, faults, held };
  };
  const said = (service: StreamedTts) =>
    service.log.filter((line) => line.startsWith('push')).map((line) => line.slice(5));
  return { clock, sessions, first, second, call, said };
}

describe('the limit of a voice’s key', () => {
  it('lets so many calls speak with it; the next one has the next voice, and its owner the reason', async () => {
    const { call, first, second, said, sessions } = setUp(2);
    const [one, two, three] = [call(), call(), call()];
    await one.says('Hello one.');
    await two.says('Hello two.');
    await three.says('Hello three.');
    await one.says('Again.');
    expect(said(first)).toEqual(['Hello one.', 'Hello two.', 'Again.']);
    expect(said(second)).toEqual(['Hello three.']);
    expect(sessions.isFull).toBe(true);
    expect([one.faults, two.faults]).toEqual([[], []]);
    expect(three.faults.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['rate', 'all 2 sessions of the key are in use'],
    ]);
  });

  it('reports the limit to a call once, which stays with its voice when a session is free', async () => {
    const { call, first, second, said } = setUp(1);
    const [one, two] = [call(), call()];
    await one.says('Hello.');
    await two.says('Good morning.');
    one.held.release();
    await two.says('Good bye.');
    expect(said(first)).toEqual(['Hello.']);
    expect(said(second)).toEqual(['Good morning.', 'Good bye.']);
    expect(two.faults).toHaveLength(1);
  });

  it('has room again when a call is over, has left the voice, or says nothing for a minute', async () => {
    const { call, clock, first, said } = setUp(1);
    const one = call();
    await one.says('One.');
    one.held.release();
    const two = call();
    await two.says('Two.');
    await clock.advanceAsync(60_000);
    const three = call();
    await three.says('Three.');
    expect(said(first)).toEqual(['One.', 'Two.', 'Three.']);
    three.held.release();
    expect(clock.timers).toBe(0);
  });

  it('counts a call once, whatever voices of the key its nodes have, and keeps a long one', async () => {
    const { call, clock, sessions, first, second, said } = setUp(1);
    const one = call();
    await one.says('One.');
    await one.says('Other node.', one.voice());
    for (let nth = 0; nth < 4; nth++) {
      await clock.advanceAsync(40_000);
      await one.says('On.');
    }
    expect(sessions.isFull).toBe(true);
    const two = call();
    await two.says('Two.');
    expect(said(first)).toHaveLength(6);
    expect(said(second)).toEqual(['Two.']);
  });

  it('does not take the voice from a call that was silent for long, also where its place is gone', async () => {
    const { call, clock, first, said } = setUp(1);
    const [one, two] = [call(), call()];
    await one.says('One.');
    await clock.advanceAsync(61_000);
    await two.says('Two.');
    await one.says('Back.');
    expect(said(first)).toEqual(['One.', 'Two.', 'Back.']);
    one.held.release();
    two.held.release();
    expect(clock.timers).toBe(0);
  });

  it('is shown by the refusal of the first utterance, for a minute', async () => {
    let refuses = false;
    const refusal = () => ({ afterMs: refuses ? 0 : 60_000, fault: faultOf('rate') });
    const { call, first, second, said, sessions, clock } = setUp(undefined, refusal);
    const one = call();
    await one.says('One.');
    refuses = true;
    const two = call();
    await two.says('Two.');
    refuses = false;
    expect(said(second)).toEqual(['Two.']);
    expect(sessions.max).toBe(1);
    const three = call();
    await three.says('Three.');
    expect(said(first)).toEqual(['One.', 'Two.']);
    await clock.advanceAsync(60_000);
    expect(sessions.max).toBe(Number.POSITIVE_INFINITY);
  });

  it('has at most a fifth of its sessions connected ahead', () => {
    const { call, first } = setUp(10);
    for (let nth = 0; nth < 8; nth++) call().tts.prepare?.();
    expect(first.prepared).toBe(2);
  });

  it('is looked at when the call speaks, not when its phone rings', async () => {
    const { call, first, second, said } = setUp(1);
    const [one, two] = [call(), call()];
    one.tts.prepare?.();
    two.tts.prepare?.();
    await two.says('Two.');
    await one.says('One.');
    expect([said(first), said(second)]).toEqual([['Two.'], ['One.']]);
  });

  it('holds the session of a call through an utterance of more than a minute', async () => {
    const { call, clock, sessions } = setUp(1, undefined, 1);
    // 72 s of speech.
    const text = Array.from({ length: 120 }, () => 'good bye,').join(' ');
    call().tts.stream?.('v', new HeardUtterance()).push(text);
    await clock.advanceAsync(70_000, 500);
    expect(sessions.isFull).toBe(true);
    await clock.advanceAsync(70_000, 500);
    expect(sessions.isIdle).toBe(true);
  });

  /** What the first voice is asked to make ahead. */
  function askedAhead(first: StreamedTts) {
    const asked: string[] = [];
    const synthesize: TextToSpeech['synthesize'] = ({ text }) => {
      asked.push(text);
      return new Promise(() => undefined);
    };
    Object.assign(first, { synthesize });
    const listener = { onAudio: () => undefined, onWords: () => undefined };
    const makes = (tts: TextToSpeech, text: string): void => {
      const request = { text, voice: 'v', isFixed: true, isAhead: true };
      void tts.synthesize(request, listener, new AbortController().signal);
    };
    return { asked, makes };
  }

  it('leaves the connections that others opened ahead to them where a line is made that a caller awaits', async () => {
    const { call, first, sessions } = setUp(5);
    const asked: string[] = [];
    const synthesize: TextToSpeech['synthesize'] = ({ text }, listener) => {
      listener.onAudio(new Int16Array(160));
      return Promise.resolve(void asked.push(text));
    };
    Object.assign(first, { synthesize });
    const [one, two] = [call(), call()];
    two.tts.prepare?.();
    const listener = { onAudio: () => undefined, onWords: () => undefined };
    const request = { text: 'Hello.', voice: 'v', isFixed: true };
    await one.tts.synthesize(request, listener, new AbortController().signal);
    expect(asked).toEqual(['Hello.']);
    expect(sessions.admitAhead()).toBe(false);
  });

  it('leaves no room for a second line that is made ahead while the first one is made', () => {
    const { call, first } = setUp(5);
    const { asked, makes } = askedAhead(first);
    const { tts } = call();
    tts.prepare?.();
    for (const text of ['Hello.', 'One moment.']) makes(tts, text);
    expect(asked).toEqual(['Hello.']);
  });

  it('gives the connection that was opened ahead to the words of its call, and to no line after them', async () => {
    for (const isKept of [true, false]) {
      const { call, first } = setUp(5);
      const { asked, makes } = askedAhead(first);
      const [one, two] = [call(), call()];
      one.tts.prepare?.();
      first.lines.set('Hello.', new Int16Array(160));
      if (isKept) one.tts.kept?.('Hello.', 'v');
      else await one.says('One.');
      two.tts.prepare?.();
      makes(one.tts, 'One moment.');
      expect(asked).toEqual([]);
    }
  });

  it('counts a call from its first text on, before the first audio', async () => {
    const { call, second, said } = setUp(1);
    const [one, two] = [call(), call()];
    one.tts.stream?.('v', new HeardUtterance()).push('One.');
    await two.says('Two.');
    expect(said(second)).toEqual(['Two.']);
  });

  it('has room again once a call has left the voice for a fault', async () => {
    const { call, sessions } = setUp(1, () => ({ afterMs: 0, fault: faultOf('auth') }));
    await call().says('One.');
    expect(sessions.isIdle).toBe(true);
  });

  it('is told once, only where the key would have been used, and not of a voice that was left', async () => {
    const full = setUp(1);
    await full.call().says('One.');
    const two = full.call();
    for (const text of ['Two.', 'Again.']) await two.says(text);
    expect(two.faults).toHaveLength(1);

    const resting = setUp(5, () => ({ afterMs: 0, fault: faultOf('auth') }));
    await resting.call().says('One.');
    const other = resting.call();
    await other.says('Two.');
    expect(other.faults).toEqual([]);

    let left = 2;
    const network = () => ({ afterMs: left-- > 0 ? 0 : 60_000, fault: faultOf('network') });
    const broken = setUp(1, network);
    const three = broken.call();
    await three.says('Three.');
    await broken.call().says('Four.');
    await three.says('Five.');
    expect(broken.said(broken.first)).toEqual(['Three.', 'Three.', 'Four.']);
    expect(three.faults).toEqual([]);
  });

  it('of a voice behind the one that speaks concerns nobody', () => {
    const clock = new FakeClock();
    const sessions = new SessionLimit(clock, 1);
    sessions.opened();
    const entry = (name: string) => ({
      service: new StreamedTts({ clock, name }),
      circuit: new CircuitBreaker({ clock, job: 'tts', service: name }),
    });
    const faults: ServiceFault[] = [];
    const tts = createTtsFallback({
      services: [entry('a'), { ...entry('b'), sessions }],
      clock,
      log: quietLog().log,
      onPermanentFault: (fault) => faults.push(fault),
    });
    tts.stream?.('v', new HeardUtterance()).push('One.');
    expect(faults).toEqual([]);
  });

  it('is not shown by a refusal within an utterance', async () => {
    const { call, sessions } = setUp(undefined, () => ({ afterMs: 120, fault: faultOf('rate') }));
    await call().says('One.');
    expect(sessions.max).toBe(Number.POSITIVE_INFINITY);
  });

  it('and faults have the connection opened to the voice that will speak', async () => {
    const full = setUp(1);
    await full.call().says('One.');
    full.call().tts.prepare?.();
    expect([full.first.prepared, full.second.prepared]).toEqual([0, 1]);
    const failing = setUp(undefined, () => ({ afterMs: 0, fault: faultOf('network') }));
    const call = failing.call();
    await call.says('One.');
    call.tts.prepare?.();
    expect([failing.first.prepared, failing.second.prepared]).toEqual([0, 1]);
    const refused = setUp(undefined, () => ({ afterMs: 0, fault: faultOf('auth') }));
    await refused.call().says('One.');
    refused.call().tts.prepare?.();
    expect([refused.first.prepared, refused.second.prepared]).toEqual([0, 1]);
  });

  it('is looked at again when the call speaks, where its voice was asked about something before', async () => {
    const { call, first, second, said } = setUp(1);
    const [one, two] = [call(), call()];
    expect([one.tts.cushionMs, one.tts.kept?.('Good morning.', 'v')]).toEqual([0, undefined]);
    await two.says('Two.');
    await one.says('One.');
    expect([said(first), said(second)]).toEqual([['Two.'], ['One.']]);
  });

  it('counts a call from a greeting that its voice has kept, and shows by the next words that there is no more', async () => {
    const limited = setUp(1);
    limited.first.lines.set('Hello.', new Int16Array(160));
    const [one, two] = [limited.call(), limited.call()];
    expect(one.tts.kept?.('Good morning.', 'v')).toBeUndefined();
    expect(limited.sessions.isIdle).toBe(true);
    expect(one.tts.kept?.('Hello.', 'v')).toHaveLength(160);
    expect(limited.sessions.isFull).toBe(true);
    expect(two.tts.kept?.('Hello.', 'v')).toBeUndefined();
    await two.says('Two.');
    await one.says('One.');
    expect([limited.said(limited.first), limited.said(limited.second)]).toEqual([
      ['One.'],
      ['Two.'],
    ]);
    one.held.release();
    expect(limited.sessions.isIdle).toBe(true);

    const refusing = setUp(undefined, () => ({ afterMs: 0, fault: faultOf('rate') }));
    refusing.first.lines.set('Hello.', new Int16Array(160));
    const three = refusing.call();
    three.tts.kept?.('Hello.', 'v');
    await three.says('Three.');
    expect(refusing.sessions.max).toBe(1);
  });

  it('counts the lines that are made ahead, and makes none where the key has no room', async () => {
    const { call, first, sessions, said } = setUp(2);
    const asked: string[] = [];
    let answer: () => void = () => undefined;
    const synthesize: TextToSpeech['synthesize'] = ({ text }, listener) => {
      asked.push(text);
      return new Promise<void>((resolve) => {
        answer = () => {
          listener.onAudio(new Int16Array(160));
          resolve();
        };
      });
    };
    Object.assign(first, { synthesize });
    const makes = async (tts: TextToSpeech, text: string) => {
      let samples = 0;
      const onAudio = (part: Int16Array) => {
        samples += part.length;
      };
      const request = { text, voice: 'v', isFixed: true, isAhead: true };
      const listener = { onAudio, onWords: () => undefined };
      await tts.synthesize(request, listener, new AbortController().signal);
      return samples;
    };
    const [one, two] = [call(), call()];
    one.tts.prepare?.();
    // By the connection that was opened ahead.
    const made = makes(one.tts, 'Hello.');
    expect(await makes(two.tts, 'Hello.')).toBe(0);
    answer();
    expect(await made).toBe(160);
    const next = makes(one.tts, 'One moment.');
    answer();
    expect(await next).toBe(160);
    sessions.admitAhead();
    expect(await makes(two.tts, 'Just a second.')).toBe(0);
    first.lines.set('Good bye.', new Int16Array(160));
    const kept = makes(two.tts, 'Good bye.');
    answer();
    expect(await kept).toBe(160);
    expect(asked).toEqual(['Hello.', 'One moment.', 'Good bye.']);
    expect(said(first)).toEqual([]);
  });
});
