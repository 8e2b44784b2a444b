// Every preset of a voice by requests against its service's answers, as the vendor's reference has them.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { wavHeader } from '../../../../src/audio/wav.ts';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { type HttpAsked, startHttpService } from '../../../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { HeardUtterance } from '../heard-utterance.ts';

const KEY = 'key-1234567890';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Provider = 'google' | 'minimax' | 'camb' | 'speechmatics' | 'piper_http' | 'http_tts';

async function say(
  provider: Provider,
  answer: (asked: HttpAsked) => void,
  settings: object = {},
  path = '',
) {
  const server = await startHttpService(answer);
  const row = { provider, api_key: KEY, base_url: `${server.url}${path}`, ...settings };
  const parsed = ttsServices[provider].parse(row) as Parameters<typeof createTtsService>[0];
  const tts = createTtsService(parsed, serviceMeans(new FakeClock()));
  opened.push(server, tts);
  const heard = new HeardUtterance();
  const { signal } = new AbortController();
  const request = { text: 'Hello there.', voice: undefined };
  const end = await tts.synthesize(request, heard, signal).catch((error: unknown) => error);
  const [asked] = server.asked;
  return { heard, end, asked, body: JSON.parse(asked?.body.toString() ?? 'null') };
}

/** A tone of 100 ms. */
const pcm = (rateHz: number): Buffer => {
  const samples = Int16Array.from({ length: rateHz / 10 }, (_, at) => (at % 40) * 300);
  return Buffer.from(samples.buffer);
};
const wav = (rateHz: number): Buffer => {
  const data = pcm(rateHz);
  return Buffer.concat([wavHeader({ rateHz, channels: 1, dataBytes: data.length }), data]);
};
const ends =
  (...parts: (string | Buffer)[]) =>
  ({ response }: HttpAsked): void => {
    for (const part of parts) response.write(part);
    response.end();
  };

/** Speechmatics, from its reference: four voices, two formats, one field; anything else is refused. */
function speechmatics({ method, path, headers, body }: HttpAsked) {
  const url = new URL(path, 'http://fake');
  const [, generate, voice = '', ...more] = url.pathname.split('/');
  const format = url.searchParams.get('output_format') ?? 'wav_16000';
  const sent: unknown = JSON.parse(body.toString());
  const text = z.strictObject({ text: z.string().min(1).max(5_000) }).safeParse(sent);
  if (method !== 'POST' || generate !== 'generate' || more.length > 0) return refusal(404, 'no');
  if (headers.authorization !== `Bearer ${KEY}`) return refusal(401, 'Invalid API key');
  if (!['sarah', 'theo', 'megan', 'jack'].includes(voice)) return refusal(404, 'Voice not found');
  const isKnown = [...url.searchParams.keys()].every((name) => name === 'output_format');
  if (!isKnown || !text.success || headers['content-type'] !== 'application/json') {
    return refusal(422, 'Unprocessable');
  }
  if (format === 'pcm_16000') return { status: 200, body: pcm(16_000) };
  return format === 'wav_16000' ? { status: 200, body: wav(16_000) } : refusal(422, format);
}
const refusal = (status: number, detail: string) => ({ status, body: JSON.stringify({ detail }) });
const speaks =
  (service: (asked: HttpAsked) => { status: number; body: string | Buffer }) =>
  (asked: HttpAsked): void => {
    const { status, body } = service(asked);
    asked.response.writeHead(status).end(body);
  };

describe('voices by requests', () => {
  it('are given up after three minutes, however steadily their audio drips', async () => {
    const clock = new FakeClock();
    let drip = (): void => undefined;
    const server = await startHttpService(({ response }) => {
      drip = () => void response.write(pcm(48_000));
      drip();
    });
    const row = {
      provider: 'camb',
      api_key: KEY,
      base_url: server.url,
      model: 'mars-pro',
    } as const;
    const tts = createTtsService(ttsServices.camb.parse(row), serviceMeans(clock));
    opened.push(server, tts);
    const heard = new HeardUtterance();
    const request = { text: 'Hello there.', voice: undefined };
    const end = tts
      .synthesize(request, heard, new AbortController().signal)
      .catch((error: unknown) => error);
    for (let passedMs = 0; passedMs < 180_000; passedMs += 2_500) {
      await vi.waitFor(() => expect(heard.ms).toBeGreaterThan(passedMs / 25 + 70), 10_000);
      clock.advance(2_500);
      drip();
    }
    expect(await end).toMatchObject({ kind: 'timeout', detail: 'speech without an end' });
    expect(clock.timers).toBe(0);
  });

  it.each<[Provider, () => (string | Buffer)[], object]>([
    ['google', () => [JSON.stringify({ audioContent: wav(8_000).toString('base64') })], {}],
    [
      'minimax',
      () => [
        `data: ${JSON.stringify({ data: { audio: pcm(8_000).toString('hex') }, base_resp: { status_code: 0 } })}\n\n`,
      ],
      { group_id: 'g1' },
    ],
    ['camb', () => [pcm(48_000)], { model: 'mars-pro' }],
    ['piper_http', () => [wav(16_000)], {}],
  ])('%s: 200 sentences, over few connections', async (provider, parts, settings) => {
    const ports = new Set<number | undefined>();
    const server = await startHttpService((asked) => {
      ports.add(asked.response.socket?.remotePort);
      ends(...parts())(asked);
    });
    const clock = new FakeClock();
    const row = { provider, api_key: KEY, base_url: server.url, ...settings };
    const parsed = ttsServices[provider].parse(row) as Parameters<typeof createTtsService>[0];
    const tts = createTtsService(parsed, serviceMeans(clock));
    opened.push(server, tts);
    const { signal } = new AbortController();
    for (let nth = 0; nth < 200; nth++) {
      const heard = new HeardUtterance();
      await tts.synthesize({ text: `Sentence ${nth}.`, voice: undefined }, heard, signal);
      expect(Math.round(heard.ms)).toBe(100);
    }
    expect(ports.size).toBeLessThan(5);
    expect(clock.timers).toBe(0);
  });

  it('google: a WAV file in JSON', async () => {
    const audioContent = wav(8_000).toString('base64');
    const { heard, asked, body, end } = await say('google', ends(JSON.stringify({ audioContent })));
    expect([end, heard.ms]).toEqual([undefined, 100]);
    expect([asked?.path, asked?.headers['x-goog-api-key']]).toEqual(['/v1/text:synthesize', KEY]);
    expect(body).toEqual({
      input: { text: 'Hello there.' },
      voice: { languageCode: 'en-US', name: 'en-US-Chirp3-HD-Charon' },
      audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 8_000 },
    });
  });

  it('minimax: events with hex, the last of which repeats everything', async () => {
    const hex = pcm(8_000).toString('hex');
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    const ok = { base_resp: { status_code: 0, status_msg: 'success' } };
    const first = event({ data: { audio: hex.slice(0, 801), status: 1 }, ...ok });
    const whole = `${first.replace(hex.slice(0, 801), hex.slice(0, 800))}${event({
      data: { audio: hex.slice(800), status: 1 },
      ...ok,
    })}${event({ data: { audio: hex, status: 2 }, extra_info: { usage_characters: 24 }, ...ok })}`;
    const settings = { group_id: 'g1', speed: 1.2 };
    const cut = [whole.slice(0, 50), whole.slice(50, 900), whole.slice(900)];
    const held = await say('minimax', ends(...cut), settings, '/v1/t2a_v2');
    expect([held.end, held.heard.ms]).toEqual([undefined, 100]);
    // A Chinese character is billed as two.
    expect(held.heard.characters).toBe(24);
    expect(held.asked?.path).toBe('/v1/t2a_v2?GroupId=g1');
    expect(held.body).toMatchObject({
      model: 'speech-2.8-hd',
      text: 'Hello there.',
      stream: true,
      voice_setting: { voice_id: 'English_Graceful_Lady', speed: 1.2, vol: 1, pitch: 0 },
      audio_setting: { sample_rate: 8_000, format: 'pcm', channel: 1 },
    });
  });

  it.each([
    [1002, 'rate'],
    [1004, 'auth'],
    [1008, 'quota'],
    [2013, 'request'],
    [9999, 'overload'],
  ])('minimax: code %d in a success is %s', async (code, kind) => {
    const baseResp = { status_code: code, status_msg: `no ${KEY}` };
    const { end } = await say('minimax', ends(JSON.stringify({ base_resp: baseResp })), {
      group_id: 'g',
    });
    expect(end).toMatchObject({ kind, detail: 'no [redacted]' });
  });

  it.each([
    ['mars-flash', 22_050],
    ['mars-pro', 48_000],
  ])('camb: PCM at the rate of %s', async (model, rateHz) => {
    const { heard, asked, body } = await say('camb', ends(pcm(rateHz)), { model });
    expect(heard.ms).toBeGreaterThan(95);
    expect(heard.ms).toBeLessThanOrEqual(101);
    expect([asked?.path, asked?.headers['x-api-key']]).toEqual(['/apis/tts-stream', KEY]);
    expect(body).toEqual({
      text: 'Hello there.',
      voice_id: 147_320,
      language: 'en-us',
      speech_model: model,
      output_configuration: { format: 'pcm_s16le' },
    });
  });

  it('speechmatics: PCM at 16 kHz, the voice in the address', async () => {
    const { heard, asked, body, end } = await say('speechmatics', speaks(speechmatics));
    expect([end, Math.round(heard.ms)]).toEqual([undefined, 100]);
    expect([asked?.path, asked?.headers.authorization]).toEqual([
      '/generate/sarah?output_format=pcm_16000',
      `Bearer ${KEY}`,
    ]);
    expect(body).toEqual({ text: 'Hello there.' });
  });

  it.each([
    ['a refused key', { api_key: 'wrong-key-98765' }, { kind: 'auth', isPermanent: true }],
    ['an unknown voice', { voice: 'nobody' }, { kind: 'request', detail: 'Voice not found' }],
  ])('speechmatics: %s is a fault, without the key', async (_what, settings, fault) => {
    const { end, heard } = await say('speechmatics', speaks(speechmatics), settings);
    expect([end, heard.ms]).toMatchObject([fault, 0]);
    expect(JSON.stringify(end)).not.toContain('wrong-key');
  });

  it('speechmatics: a busy service is one that the next voice stands in for', async () => {
    const busy = ({ response }: HttpAsked): void => {
      response.writeHead(503).end('{"detail":"busy"}');
    };
    const { end } = await say('speechmatics', busy);
    expect(end).toMatchObject({ kind: 'overload', detail: 'busy', isPermanent: false });
  });

  it('piper: a WAV file whose header has the rate, without a key', async () => {
    const { heard, asked, body } = await say('piper_http', ends(wav(16_000)), {
      api_key: undefined,
    });
    expect(Math.round(heard.ms)).toBe(100);
    expect([asked?.path, asked?.headers.authorization]).toEqual(['/', undefined]);
    expect(body).toEqual({ text: 'Hello there.', voice: 'en_US-lessac-medium' });
  });

  it('http_tts: as the user describes it, µ-law in JSON', async () => {
    const description = {
      path: '/say/{voice}',
      query: { fast: 'yes', lang: '{language}' },
      headers: { 'X-Key': '{key}' },
      body: { words: '{text}', pace: '{speed}' },
      audio: { in: 'json', format: 'ulaw8', path: 'result.0.audio' },
    };
    const audio = Buffer.alloc(800, 0x30).toString('base64');
    const answer = ends(JSON.stringify({ result: [{ audio }] }));
    const held = await say('http_tts', answer, { voice: 'a b/c', description });
    expect([held.end, held.heard.ms]).toEqual([undefined, 100]);
    expect([held.asked?.path, held.asked?.headers['x-key']]).toEqual([
      '/say/a%20b%2Fc?fast=yes',
      KEY,
    ]);
    expect(held.body).toEqual({ words: 'Hello there.' });
  });

  it.each<[string, Provider, (asked: HttpAsked) => void, string]>([
    ['a refused key', 'google', ({ response }) => void response.writeHead(403).end(), 'forbidden'],
    ['no audio', 'google', ends('{}'), 'overload'],
    ['no JSON', 'google', ends('hello'), 'protocol'],
    ['an endless answer', 'google', ends('x'.repeat(5_000_000)), 'protocol'],
    ['no audio in a body', 'camb', ends(), 'overload'],
  ])('%s is a fault', async (_, provider, answer, kind) => {
    const { end } = await say(provider, answer);
    expect(end).toMatchObject({ kind, service: provider });
  });
});
