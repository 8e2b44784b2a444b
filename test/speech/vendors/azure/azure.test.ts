import { afterEach, describe, expect, it, vi } from 'vitest';
import { ulaw } from '../../../../src/audio/companding.ts';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { ssmlOf } from '../../../../src/speech/vendors/azure/azure.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { type HttpAsked, startHttpService } from '../../../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** As strict as the service: what lacks a header is refused. */
function refusal({ headers }: HttpAsked): number | undefined {
  if (headers['ocp-apim-subscription-key'] !== 'key-1234') return 401;
  if (headers['user-agent'] === undefined) return 400;
  if (headers['content-type'] !== 'application/ssml+xml') return 415;
  return headers['x-microsoft-outputformat'] === 'raw-8khz-8bit-mono-mulaw' ? undefined : 400;
}

async function open(answer: (asked: HttpAsked) => void, settings: object = {}) {
  const server = await startHttpService((asked) => {
    const status = refusal(asked);
    if (status === undefined) answer(asked);
    else asked.response.writeHead(status).end();
  });
  opened.push(server);
  const clock = new FakeClock();
  const row = { provider: 'azure_speech', api_key: 'key-1234', base_url: server.url, ...settings };
  const tts = createTtsService(ttsServices.azure_speech.parse(row), serviceMeans(clock));
  opened.push(tts);
  const audio: number[] = [];
  const usage: unknown[] = [];
  const listener = {
    onAudio: (samples: Int16Array) => void audio.push(...samples),
    onWords: () => undefined,
    onUsage: (each: unknown) => void usage.push(each),
  };
  return { server, clock, tts, audio, usage, listener };
}

const { signal } = new AbortController();
const hello = { text: 'Hello there.', voice: undefined };
const SOUND = Buffer.from(Array.from({ length: 800 }, (_, i) => i % 256));

describe('the voice of Azure Speech', () => {
  it('asks for µ-law at 8 kHz in SSML, and gives it as samples', async () => {
    const held = await open(({ response }) => {
      response.write(SOUND.subarray(0, 333));
      response.end(SOUND.subarray(333));
    });
    await held.tts.synthesize(hello, held.listener, signal);
    const [asked] = held.server.asked as [HttpAsked];
    expect(asked.path).toBe('/cognitiveservices/v1');
    expect(asked.body.toString()).toBe(
      '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="en-US">' +
        '<voice name="en-US-AriaNeural">Hello there.</voice></speak>',
    );
    expect(held.audio).toEqual([...SOUND].map((code) => ulaw.samples[code]));
    expect(held.usage).toMatchObject([{ service: 'azure_speech', amount: 12 }]);
    expect(held.clock.timers).toBe(0);
  });

  it('speaks 200 sentences over few connections, and leaves no timer', async () => {
    const ports = new Set<number | undefined>();
    const held = await open(({ response }) => {
      ports.add(response.socket?.remotePort);
      response.end(SOUND);
    });
    for (let nth = 0; nth < 200; nth++) await held.tts.synthesize(hello, held.listener, signal);
    expect(held.audio).toHaveLength(200 * SOUND.length);
    expect(ports.size).toBeLessThan(5);
    expect(held.clock.timers).toBe(0);
  });

  it('escapes what is markup, and leaves out what is no XML', () => {
    const ssml = ssmlOf(`a<b>&"c"'d'\0\ud800e`, {
      voice: 'de-DE-"X"',
      language: undefined,
      speed: 1.2,
    });
    expect(ssml).toContain('xml:lang="de-DE"');
    expect(ssml).toContain('<voice name="de-DE-&quot;X&quot;">');
    expect(ssml).toContain(
      '<prosody rate="1.2">a&lt;b&gt;&amp;&quot;c&quot;&apos;d&apos; e</prosody>',
    );
  });

  it.each<[string, (asked: HttpAsked) => void, string]>([
    [
      'too many requests',
      ({ response }) => void response.writeHead(429, { 'retry-after': '2' }).end(),
      'rate',
    ],
    ['a service that is down', ({ response }) => void response.writeHead(503).end(), 'overload'],
    ['success without audio', ({ response }) => void response.end(), 'request'],
    [
      'a connection that breaks',
      ({ response }) => void response.write(SOUND, () => response.destroy()),
      'network',
    ],
  ])('rejects for %s', async (_, answer, kind) => {
    const { tts, listener, clock } = await open(answer);
    const spoken = tts.synthesize(hello, listener, signal);
    await expect(spoken).rejects.toMatchObject({ kind, service: 'azure_speech' });
    expect(clock.timers).toBe(0);
  });

  it('rejects a refused key, and audio that stalls', async () => {
    const refused = await open(() => undefined, { api_key: 'wrong-key' });
    await expect(refused.tts.synthesize(hello, refused.listener, signal)).rejects.toMatchObject({
      kind: 'auth',
    });
    const still = await open(({ response }) => void response.write(SOUND));
    const spoken = still.tts.synthesize(hello, still.listener, signal);
    spoken.catch(() => undefined);
    await vi.waitFor(() => expect(still.audio).toHaveLength(800));
    still.clock.advance(3_000);
    await expect(spoken).rejects.toMatchObject({ code: 'TTS_TIMEOUT' });
  });

  it('ends the request when it is aborted', async () => {
    const held = await open(({ response }) => void response.write(SOUND));
    const abort = new AbortController();
    const spoken = held.tts.synthesize(hello, held.listener, abort.signal);
    await vi.waitFor(() => expect(held.audio).toHaveLength(800));
    abort.abort('barge-in');
    await expect(spoken).rejects.toBe('barge-in');
    await vi.waitFor(() => expect(held.server.asked[0]?.isCancelled).toBe(true));
  });

  it('refuses a region that would be another host', () => {
    const row = { provider: 'azure_speech', api_key: 'k', region: 'evil.example/' };
    expect(ttsServices.azure_speech.safeParse(row).success).toBe(false);
  });
});
