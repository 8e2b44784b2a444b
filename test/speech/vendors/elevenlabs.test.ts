import { afterEach, describe, expect, it, vi } from 'vitest';
import { ttsServices } from '../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type ElevenLabsFaults, startElevenLabs } from '../../fakes/services/elevenlabs-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { capturedRequest, sdkRequest } from '../captured-request.ts';
import { HeardUtterance } from '../tts/heard-utterance.ts';
import { streamingContract } from '../tts/streaming-contract.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const settingsOf = (url: string, key: string, more: Record<string, unknown> = {}) =>
  ttsServices.elevenlabs.parse({ provider: 'elevenlabs', api_key: key, base_url: url, ...more });

streamingContract({
  service: 'elevenlabs',
  hasWords: true,
  start: startElevenLabs,
  create: ({ url, key, means }) => createTtsService(settingsOf(url, key), means),
});

async function setUp(faults: ElevenLabsFaults = {}, more: Record<string, unknown> = {}) {
  const clock = new FakeClock();
  const fake = await startElevenLabs({ clock, key: 'key-1234', faults });
  const settings = settingsOf(fake.url.replace('ws', 'http'), 'key-1234', more);
  const tts = createTtsService(settings, serviceMeans(clock));
  opened.push(fake, tts);
  const say = (text: string, voice?: string) => {
    const heard = new HeardUtterance();
    const stream = tts.stream?.(voice, heard);
    if (stream === undefined) throw new Error('no streams');
    if (text !== '') stream.push(text);
    return { heard, stream };
  };
  return { clock, fake, tts, say };
}

const messagesOf = (fake: { connections: { texts: string[] }[] }) =>
  fake.connections.flatMap(({ texts }) => texts.map((text) => JSON.parse(text)));

describe('ElevenLabs', () => {
  it('has a time for each letter of a text without spaces', async () => {
    const { say } = await setUp();
    const { heard, stream } = say('好的，我要iPhone。ค่ะ');
    stream.end();
    await vi.waitFor(() => expect(heard.ends).toEqual(['done']));
    expect(heard.words.map(({ word }) => word)).toEqual([
      '好',
      '的，',
      '我',
      '要',
      'iPhone。',
      'ค่',
      'ะ',
    ]);
    expect(heard.words[3]).toMatchObject({ startMs: 240, endMs: 300 });
  });

  it('connects for the voice’s id, at 8 kHz µ-law, with the key in a header', async () => {
    const { fake, say } = await setUp({}, { voice: 'Rachel - abc123', language: 'de', speed: 2 });
    const { heard, stream } = say('Guten Tag.');
    stream.end();
    await vi.waitFor(() => expect(heard.ends).toEqual(['done']));
    expect(fake.connections[0]?.request.url).toBe(
      '/v1/text-to-speech/abc123/multi-stream-input?model_id=eleven_flash_v2_5&output_format=ulaw_8000' +
        '&auto_mode=true&sync_alignment=true&inactivity_timeout=180&apply_text_normalization=auto&language_code=de',
    );
    expect(messagesOf(fake)[0]).toEqual({
      text: ' ',
      voice_settings: {
        stability: 0.5,
        similarity_boost: 0.75,
        style: 0,
        use_speaker_boost: true,
        speed: 1.2,
      },
      context_id: 'u1',
    });
  });

  it('names no language to a model that refuses it', async () => {
    const { fake, say } = await setUp({}, { model: 'eleven_multilingual_v2', language: 'de' });
    say('Guten Tag.');
    await fake.connected();
    expect(fake.connections[0]?.request.url).not.toContain('language_code');
  });

  it('closes a context only after its first audio', async () => {
    const { fake, say } = await setUp({ noAudio: true });
    const { stream } = say('Hello.');
    stream.end();
    await vi.waitFor(() =>
      expect(messagesOf(fake).at(-1)).toEqual({ flush: true, context_id: 'u1' }),
    );
    expect(fake.contexts[0]?.state).toBe('open');
    stream.cancel();
    await vi.waitFor(() => expect(fake.contexts[0]?.state).toBe('done'));
  });

  it('never has more than four contexts on a connection', async () => {
    const { fake, say } = await setUp();
    const said = Array.from({ length: 12 }, (_, nth) => say(`Number ${nth} is open.`));
    await vi.waitFor(() => expect(said.every(({ heard }) => heard.ms > 0)).toBe(true));
    expect(fake.connections).toHaveLength(3);
    expect(fake.contextsMost).toBe(4);
    for (const { stream } of said) stream.end();
    await vi.waitFor(() => expect(said.every(({ heard }) => heard.end === 'done')).toBe(true));
  });

  it('counts a cancelled context until its end is confirmed, at most 5 s', async () => {
    const { clock, fake, say } = await setUp({ noAudio: true });
    const said = Array.from({ length: 4 }, () => say('Hello.'));
    await fake.connected();
    fake.connections[0]?.socket.pause();
    for (const { stream } of said) stream.cancel();
    say('A fifth one.');
    // It is open for both ends: the deadline of its opening is past.
    await vi.waitFor(() => expect(fake.connections[1]?.texts.length).toBeGreaterThan(0));
    clock.advance(5_000);
    say('On the first connection.');
    fake.connections[0]?.socket.resume();
    await vi.waitFor(() => expect(fake.contexts).toHaveLength(6));
    expect(fake.connections).toHaveLength(2);
  });

  it('opens a connection for each voice', async () => {
    const { fake, say } = await setUp();
    const said = [say('One.', 'voiceOne'), say('Two.', 'voiceTwo'), say('One more.', 'voiceOne')];
    for (const { stream } of said) stream.end();
    await vi.waitFor(() => expect(said.every(({ heard }) => heard.end === 'done')).toBe(true));
    expect(fake.connections).toHaveLength(2);
  });

  it.each(['ended at once', 'silent'])(
    'finds out by one HTTP request that the account is used up: %s',
    async (how) => {
      const fault = how === 'silent' ? 'noAudio' : 'doneWithoutAudio';
      const { clock, fake, say } = await setUp({ isUsedUp: true, [fault]: true });
      const said = [say('Hello.'), say('And hello.')];
      for (const { stream } of said) stream.end();
      await vi.waitFor(() => expect(fake.contexts).toHaveLength(2));
      if (how === 'silent') clock.advance(1_200);
      await vi.waitFor(() => expect(said.every(({ heard }) => heard.ends.length === 1)).toBe(true));
      expect(said[0]?.heard.end).toMatchObject({ kind: 'quota', isPermanent: true });
      expect(said[1]?.heard.end).toMatchObject({ kind: 'quota' });
      expect(fake.probes).toBe(1);
    },
  );

  // It counted as a wrong key, which the owner would have replaced in vain.
  it('reports a used-up account by which the connection is refused', async () => {
    const detail = { status: 'quota_exceeded', message: 'This request exceeds your limit.' };
    const { say } = await setUp({ refuse: { status: 401, body: JSON.stringify({ detail }) } });
    const { heard } = say('Hello.');
    await vi.waitFor(() => expect(heard.ends).toHaveLength(1));
    expect(heard.end).toMatchObject({ kind: 'quota', detail: detail.message });
  });

  it('reports a used-up account in the middle of an utterance', async () => {
    const { say } = await setUp({ failsAfterMs: 300, failure: 'quota' });
    const { heard, stream } = say('This is a longer sentence.');
    stream.end();
    await vi.waitFor(() => expect(heard.ends).toHaveLength(1));
    expect(heard.end).toMatchObject({ kind: 'quota', detail: expect.stringContaining('quota') });
  });

  it('keeps a context open while the model generates', async () => {
    const { clock, fake, say } = await setUp();
    const { heard, stream } = say('One moment.');
    await vi.waitFor(() => expect(heard.ms).toBeGreaterThan(0));
    clock.advance(15_000);
    await vi.waitFor(() =>
      expect(messagesOf(fake).slice(2)).toEqual([{ text: '', context_id: 'u1' }]),
    );
    stream.push('There it is.');
    stream.end();
    await vi.waitFor(() => expect(heard.end).toBe('done'));
  });

  it('sends the messages that the vendor’s own SDK writes', async () => {
    const { fake, say } = await setUp();
    const { heard, stream } = say('Guten Tag.');
    stream.end();
    await vi.waitFor(() => expect(heard.ends).toEqual(['done']));
    const request = fake.connections[0]?.request ?? { headers: {} };
    const messages = messagesOf(fake);
    const options = { key: 'key-1234', headers: ['xi-api-key'], messages };
    const sdk = sdkRequest('elevenlabs/multi-stream-input');
    const sent = capturedRequest(request, options);
    expect([sent.headers, sent.messages]).toEqual([sdk.headers, sdk.messages]);
  });
});
