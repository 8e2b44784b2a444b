import { describe, expect, it } from 'vitest';
import { IdleTimer } from '../../../src/call/session/dialogue/call-timers.ts';
import { valuesOf } from '../../../src/call/session/dialogue/generation.ts';
import { turnLatencyOf } from '../../../src/call/session/session-events.ts';
import { callbackUrls, mediaUrl } from '../../../src/call/start/setup/callback-urls.ts';
import { deadlineSignal, withDeadline } from '../../../src/std/deadline.ts';
import { createTwilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

describe('the latency of an answer', () => {
  it("adds up to the time from the caller's last speech to the agent's first frame", () => {
    const parts = turnLatencyOf(
      { lastSpeechAt: 1_000, decidedAt: 1_300, finalAt: 1_310 },
      { firstTextAt: 1_710, firstAudioAt: 1_760, firstFrameAt: 1_765 },
    );
    expect(parts).toEqual({
      endpointingMs: 300,
      recognitionMs: 10,
      modelMs: 400,
      speechMs: 50,
      totalMs: 765,
      gatewayMs: 5,
    });
  });

  it('counts no part below zero when the words were there before the decision', () => {
    const parts = turnLatencyOf(
      { lastSpeechAt: 1_000, decidedAt: 1_300, finalAt: 1_290 },
      { firstTextAt: 1_300, firstAudioAt: 1_250, firstFrameAt: 1_304 },
    );
    expect(parts).toMatchObject({ recognitionMs: 0, modelMs: 10, speechMs: 0, totalMs: 304 });
  });
});

describe('the idle watch', () => {
  function watch(busy: () => boolean) {
    const clock = new FakeClock();
    let idle = 0;
    const it = new IdleTimer({ clock, idleMs: 10_000, busy, onIdle: () => (idle += 1) });
    return { clock, watch: it, idles: () => idle };
  }

  it('reports silence once it has lasted, and again', () => {
    const { clock, watch: idle, idles } = watch(() => false);
    idle.reset();
    clock.advance(9_999);
    expect(idles()).toBe(0);
    clock.advance(1);
    expect(idles()).toBe(1);
    clock.advance(10_000);
    expect(idles()).toBe(2);
  });

  it('restarts when someone speaks, and waits while someone is speaking', () => {
    let speaking = true;
    const { clock, watch: idle, idles } = watch(() => speaking);
    idle.reset();
    clock.advance(10_000);
    speaking = false;
    clock.advance(5_000);
    idle.reset();
    clock.advance(9_000);
    expect(idles()).toBe(0);
    clock.advance(1_000);
    expect(idles()).toBe(1);
  });

  it('leaves no timer behind, whatever is reported later', () => {
    const { clock, watch: idle } = watch(() => false);
    idle.reset();
    idle.close();
    expect(clock.timers).toBe(0);
    idle.reset();
    expect(clock.timers).toBe(0);
  });
});

describe('values out of a model', () => {
  it('are read from bare JSON and from a fenced block', () => {
    expect(valuesOf('{"day":"friday"}')).toEqual({ day: 'friday' });
    expect(valuesOf('Sure:\n```json\n{"day":"friday"}\n```')).toEqual({ day: 'friday' });
  });

  it('are kept raw when they are no object', () => {
    expect(valuesOf('friday')).toEqual({ raw: 'friday' });
    expect(valuesOf('} {')).toEqual({ raw: '} {' });
    expect(valuesOf('[1]')).toEqual({ raw: '[1]' });
  });
});

describe('URLs for providers', () => {
  it('carry the run, and the token in the path', () => {
    const run = { workflowId: '3', organizationId: '1', id: '42' };
    expect(mediaUrl('https://gw.example.com', run, 'abc')).toBe(
      'wss://gw.example.com/api/v1/telephony/ws/3/1/42/abc',
    );
    const twilio = createTwilioProvider({ clock: new FakeClock() });
    expect(callbackUrls('https://gw.example.com', twilio, '42').statusUrl).toBe(
      'https://gw.example.com/api/v1/telephony/twilio/status-callback/42',
    );
  });
});

describe('deadlines', () => {
  it('reject with TIMED_OUT when the work takes too long', async () => {
    const clock = new FakeClock();
    const slow = withDeadline(clock, 100, 'nap', new Promise<void>(() => undefined));
    clock.advance(100);
    await expect(slow).rejects.toMatchObject({
      code: 'TIMED_OUT',
      facts: { what: 'nap', ms: 100 },
    });
  });

  it('leave no timer when the work is done in time', async () => {
    const clock = new FakeClock();
    await expect(withDeadline(clock, 100, 'nap', Promise.resolve(5))).resolves.toBe(5);
    await settle();
    expect(clock.timers).toBe(0);
  });

  it('fire with their parent or with time, whichever comes first', () => {
    const clock = new FakeClock();
    const parent = new AbortController();
    const early = deadlineSignal(clock, 100, 'nap', parent.signal);
    const late = deadlineSignal(clock, 50, 'nap', parent.signal);
    clock.advance(50);
    expect([early.signal.aborted, late.signal.aborted]).toEqual([false, true]);
    parent.abort();
    expect(early.signal.aborted).toBe(true);
    early.done();
    expect(clock.timers).toBe(0);
  });
});
