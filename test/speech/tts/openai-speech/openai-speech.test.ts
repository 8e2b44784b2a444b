import { afterEach, describe, expect, it, vi } from 'vitest';
import { wavHeader } from '../../../../src/audio/wav.ts';
import {
  type TtsServiceSettings,
  ttsServices,
} from '../../../../src/model/speech-services/services.ts';
import type { ServiceUsage } from '../../../../src/speech/service/service-means.ts';
import { SpeechBody } from '../../../../src/speech/tts/openai-speech/speech-body.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { amplitudeAt, sine } from '../../../audio/sine.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { type HttpAsked, startHttpService } from '../../../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function open(
  answer: (asked: HttpAsked) => void,
  settings: { provider: 'openai' | 'speaches' | 'openai_compatible'; [field: string]: unknown } = {
    provider: 'speaches',
  },
) {
  const server = await startHttpService(answer);
  opened.push(server);
  const clock = new FakeClock();
  const row = ttsServices[settings.provider];
  const parsed = row.parse({ base_url: server.url, api_key: 'key-1234', ...settings });
  const tts = createTtsService(parsed as TtsServiceSettings<'openai'>, serviceMeans(clock));
  opened.push(tts);
  const audio: Int16Array[] = [];
  const usage: ServiceUsage[] = [];
  const listener = {
    onAudio: (samples: Int16Array) => void audio.push(samples),
    onWords: () => undefined,
    onUsage: (each: ServiceUsage) => void usage.push(each),
  };
  const all = (): Int16Array => Int16Array.from(audio.flatMap((samples) => [...samples]));
  return { server, clock, tts, usage, listener, all };
}

function tone(rateHz: number): Buffer {
  const samples = sine({ hz: 1_000, rateHz, count: rateHz / 2, amplitude: 10_000 });
  return Buffer.from(samples.buffer);
}

function wav(rateHz: number): Buffer {
  const bytes = tone(rateHz);
  return Buffer.concat([wavHeader({ rateHz, channels: 1, dataBytes: 0xffff_ffff }), bytes]);
}

/** In chunks of an odd number of bytes. */
function send({ response }: HttpAsked, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += 7_001) response.write(bytes.subarray(at, at + 7_001));
  response.end();
}

const { signal } = new AbortController();
const hello = { text: 'Hello there.', voice: undefined };

describe('the voice behind OpenAI’s interface', () => {
  it('asks OpenAI for PCM and speaks it at 8 kHz, at its pitch', async () => {
    const held = await open((asked) => send(asked, tone(24_000)), {
      provider: 'openai',
      speed: 1.2,
      instructions: 'Calmly.',
    });
    await held.tts.synthesize(hello, held.listener, signal);
    const [asked] = held.server.asked as [HttpAsked];
    expect([asked.path, asked.headers['authorization']]).toEqual([
      '/audio/speech',
      'Bearer key-1234',
    ]);
    expect(JSON.parse(asked.body.toString())).toEqual({
      model: 'gpt-4o-mini-tts',
      voice: 'alloy',
      input: 'Hello there.',
      instructions: 'Calmly.',
      speed: 1.2,
      response_format: 'pcm',
    });
    expect(held.all()).toHaveLength(4_000);
    expect(amplitudeAt(held.all().subarray(800), 1_000, 8_000) / 10_000).toBeCloseTo(1, 1);
    expect(held.usage).toMatchObject([{ service: 'openai', unit: 'characters', amount: 12 }]);
    expect(held.clock.timers).toBe(0);
  });

  it('asks Speaches for the rate that it takes, with the voice of the request', async () => {
    const held = await open((asked) => send(asked, tone(24_000)));
    await held.tts.synthesize({ ...hello, voice: 'af_sky' }, held.listener, signal);
    const body = JSON.parse(held.server.asked[0]?.body.toString() ?? '');
    expect(body).toMatchObject({ model: 'kokoro', voice: 'af_sky', sample_rate: 24_000 });
  });

  it.each([16_000, 22_050, 24_000, 44_100])(
    'takes the rate of %i Hz from a WAV header, also unasked',
    async (rateHz) => {
      const held = await open((asked) => send(asked, wav(rateHz)));
      await held.tts.synthesize(hello, held.listener, signal);
      expect(Math.abs(held.all().length - 4_000)).toBeLessThan(2);
      expect(amplitudeAt(held.all().subarray(800), 1_000, 8_000) / 10_000).toBeCloseTo(1, 1);
    },
  );

  it('takes PCM of another rate where the settings say so', async () => {
    const settings = {
      provider: 'openai_compatible',
      model: 'm',
      voice: 'v',
      sample_rate: 8_000,
    } as const;
    const held = await open((asked) => send(asked, tone(8_000)), settings);
    await held.tts.synthesize(hello, held.listener, signal);
    expect(held.all()).toHaveLength(4_000);
  });

  it.each(['', ' ', '?!', '😀'])('asks nothing for %j', async (text) => {
    const held = await open((asked) => send(asked, tone(24_000)));
    await held.tts.synthesize({ text, voice: undefined }, held.listener, signal);
    expect(held.server.asked).toEqual([]);
  });

  it('cancels the request when it is aborted, and gives nothing more', async () => {
    const held = await open(({ response }) => void response.write(tone(24_000)));
    const abort = new AbortController();
    const spoken = held.tts.synthesize(hello, held.listener, abort.signal);
    await vi.waitFor(() => expect(held.all().length).toBeGreaterThan(0));
    abort.abort('barge-in');
    await expect(spoken).rejects.toBe('barge-in');
    await vi.waitFor(() => expect(held.server.asked[0]?.isCancelled).toBe(true));
    expect(held.clock.timers).toBe(0);
  });

  it.each<[string, (asked: HttpAsked) => void, string]>([
    [
      'a refused key',
      ({ response }) => void response.writeHead(401).end('{"error":{"message":"key-1234"}}'),
      'auth',
    ],
    [
      'an unknown voice',
      ({ response }) => void response.writeHead(400).end('{"detail":"no voice"}'),
      'request',
    ],
    ['an answer without audio', ({ response }) => void response.end(), 'protocol'],
    [
      'a WAV file of two channels',
      ({ response }) => void response.end(wavHeader({ rateHz: 24_000, channels: 2, dataBytes: 0 })),
      'protocol',
    ],
    [
      'a connection that breaks',
      ({ response }) => void response.write(tone(24_000), () => response.destroy()),
      'network',
    ],
  ])('rejects for %s', async (_, answer, kind) => {
    const held = await open(answer);
    const spoken = held.tts.synthesize(hello, held.listener, signal);
    await expect(spoken).rejects.toMatchObject({ kind, job: 'tts', service: 'speaches' });
    await spoken.catch((fault) => expect(fault.detail).not.toContain('key-1234'));
    expect(held.clock.timers).toBe(0);
  });

  it('rejects audio that stalls for 3 s', async () => {
    const held = await open(({ response }) => void response.write(tone(24_000)));
    const spoken = held.tts.synthesize(hello, held.listener, signal);
    spoken.catch(() => undefined);
    await vi.waitFor(() => expect(held.all()).toHaveLength(4_000));
    held.clock.advance(3_000);
    await expect(spoken).rejects.toMatchObject({ code: 'TTS_TIMEOUT' });
  });

  it('speaks 200 sentences over few connections', async () => {
    const ports = new Set<number | undefined>();
    const held = await open((asked) => {
      ports.add(asked.response.socket?.remotePort);
      send(asked, tone(8_000));
    });
    for (let i = 0; i < 200; i++) await held.tts.synthesize(hello, held.listener, signal);
    expect(ports.size).toBeLessThan(5);
    expect(held.clock.timers).toBe(0);
  });
});

describe('the audio of an answer', () => {
  it.each([wav(16_000).subarray(0, 400), tone(24_000).subarray(0, 300)])(
    'is the same wherever it is cut',
    (bytes) => {
      const whole = new SpeechBody(24_000);
      const wanted = [...whole.push(Buffer.from(bytes)), ...whole.end()];
      for (let cut = 0; cut <= bytes.length; cut++) {
        const body = new SpeechBody(24_000);
        const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].map((each) =>
          Buffer.from(each),
        );
        const heard = parts.flatMap((part) => [...body.push(part)]);
        expect([...heard, ...body.end()], `cut at ${cut}`).toEqual(wanted);
      }
    },
  );
});
