import { describe, expect, it } from 'vitest';
import { telephoneBand } from '../../../src/audio/telephone-band.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { serviceVoice } from '../../../src/speech/tts/service-voice.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { StreamedTts } from '../../fakes/services/streamed-tts.ts';

/** A tone of 700 Hz: speech for the meter. */
function tone(ms: number, amplitude: number, fromMs: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * 700 * (i + fromMs * 8)) / 8_000)),
  );
}

/** Speaks ten seconds in pieces of 100 ms. */
function voiceOf(amplitude: number, fails = false) {
  const asked: string[] = [];
  const tts: TextToSpeech = {
    name: 'service',
    model: 'm',
    synthesize({ text }, listener) {
      asked.push(text);
      if (fails) return Promise.reject(new GatewayError('TTS_FAILED', { reason: 'down' }));
      for (let at = 0; at < 10_000; at += 100) listener.onAudio(tone(100, amplitude, at));
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { asked, tts };
}

async function spoken(tts: TextToSpeech, text = 'Hello.', more = {}): Promise<Int16Array> {
  const parts: number[] = [];
  const listener = {
    onAudio: (samples: Int16Array) => void parts.push(...samples),
    onWords: () => undefined,
  };
  const request = { text, voice: undefined, ...more };
  await tts.synthesize(request, listener, new AbortController().signal);
  return Int16Array.from(parts);
}

function levelDb(samples: Int16Array): number {
  const signal = Float64Array.from(samples);
  telephoneBand().process(signal);
  const power = signal.reduce((sum, each) => sum + each * each, 0) / signal.length;
  return 10 * Math.log10(power / 32_768 ** 2);
}

describe('the voice of a service', () => {
  it.each([1_200, 3_000, 12_000])(
    'of amplitude %i comes to -19 dBFS and stays there',
    async (amplitude) => {
      const tts = serviceVoice(voiceOf(amplitude).tts, new FakeClock());
      const first = await spoken(tts);
      expect(Math.abs(levelDb(first.subarray(-16_000)) + 19)).toBeLessThan(1);
      // The next utterance, of whatever call, begins there.
      const second = await spoken(tts);
      expect(Math.abs(levelDb(second.subarray(0, 8_000)) + 19)).toBeLessThan(1);
    },
  );

  it('changes its gain by no more than 6 dB in a second, and does not amplify silence', async () => {
    const tts = serviceVoice(voiceOf(1_200).tts, new FakeClock());
    const samples = await spoken(tts);
    expect(levelDb(samples.subarray(0, 2_000)) - levelDb(tone(250, 1_200, 0))).toBeLessThan(1);
    const silent = serviceVoice(voiceOf(20).tts, new FakeClock());
    expect(levelDb(await spoken(silent))).toBeCloseTo(levelDb(tone(1_000, 20, 0)), 0);
  });

  it('is asked once for a fixed line, and each time for others', async () => {
    const { tts, asked } = voiceOf(3_674);
    const voice = serviceVoice(tts, new FakeClock());
    const first = await spoken(voice, 'One moment.', { isFixed: true });
    const second = await spoken(voice, 'One moment.', { isFixed: true });
    expect(second).toEqual(first);
    expect(asked).toEqual(['One moment.']);
    await spoken(voice, 'One moment.');
    expect(asked).toHaveLength(2);
  });

  it('that fails in a fixed line is replaced, and nothing of the failure is kept or heard twice', async () => {
    const clock = new FakeClock();
    const bad = voiceOf(1_000, true);
    const good = voiceOf(3_674);
    const services = [bad, good].map(({ tts }) => ({
      service: serviceVoice(tts, clock),
      circuit: new CircuitBreaker({ clock, job: 'tts', service: 'test' }),
    }));
    const call = createTtsFallback({ services, clock, log: quietLog().log });
    const line = spoken(call, 'One moment.', { isFixed: true });
    await clock.advanceAsync(200);
    expect((await line).length).toBeGreaterThanOrEqual(80_000);
    expect(good.asked).toEqual(['One moment.']);
  });

  it('keeps a line that is the same in every call, and makes none ahead that it cannot keep', async () => {
    const { asked, tts } = voiceOf(3_000);
    const voice = serviceVoice(tts, new FakeClock());
    const long = 'Hello. '.repeat(200);
    await spoken(voice, 'Hello Ada.', { isAhead: true });
    await spoken(voice, long, { isAhead: true, isFixed: true });
    expect(asked).toEqual([]);
    expect(voice.kept?.('Hello.', undefined)).toBeUndefined();
    const made = await spoken(voice, 'Hello.', { isAhead: true, isFixed: true });
    expect(voice.kept?.('Hello.', undefined)).toEqual(made);
    expect(voice.kept?.('Hello.', 'another')).toBeUndefined();
    await spoken(voice, 'Hello.', { isAhead: true, isFixed: true });
    expect(asked).toEqual(['Hello.']);
    const of = { clock: new FakeClock(), log: quietLog().log };
    const circuit = new CircuitBreaker({ clock: of.clock, job: 'tts', service: 'service' });
    const fallback = createTtsFallback({ services: [{ service: voice, circuit }], ...of });
    expect(fallback.kept?.('Hello.', undefined)).toEqual(made);
  });

  it('has the cushion that its late audio needs, and passes it on through the fallback of a call', async () => {
    const clock = new FakeClock();
    const voice = serviceVoice(new StreamedTts({ clock, speed: 0.8 }), clock);
    const circuit = new CircuitBreaker({ clock, job: 'tts', service: 'service' });
    const services = [{ service: voice, circuit }];
    const call = createTtsFallback({ services, clock, log: quietLog().log });
    expect(call.cushionMs).toBe(0);
    const silent = { onAudio: () => undefined, onWords: () => undefined };
    for (let nth = 0; nth < 2; nth++) {
      const stream = call.stream?.(undefined, {
        ...silent,
        onDone: () => undefined,
        onError: () => undefined,
      });
      stream?.push('Hello.');
      stream?.end();
      // 360 ms in pieces of 100 ms, each 25 ms late: the last one by 75 ms.
      await clock.advanceAsync(1_000);
    }
    expect(call.cushionMs).toBe(80);
  });
});
