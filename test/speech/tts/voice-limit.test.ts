// The concurrency limit of a voice's key: calls beyond it speak with the next service from their first word on, and a call
// keeps the voice that it began with.

import { describe, expect, it } from 'vitest';
import { CallSessions } from '../../../src/speech/service/call-sessions.ts';
import { CircuitBreaker } from '../../../src/speech/service/circuit-breaker.ts';
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
) {
  const clock = new FakeClock();
  const sessions = new SessionLimit(clock, limit);
  const first = new PreparedTts({ clock, name: 'limited', ...(failure && { failure }) });
  const second = new PreparedTts({ clock, name: 'next' });
  const of = (service: StreamedTts) => ({
    ...{ service, circuit: new CircuitBreaker({ clock, service: service.name }), voice: 'v' },
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
