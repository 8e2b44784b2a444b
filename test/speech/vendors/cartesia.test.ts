import { afterEach, describe, expect, it, vi } from 'vitest';
import { ttsServices } from '../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type CartesiaServer, startCartesia } from '../../fakes/services/cartesia-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { capturedRequest, sdkRequest } from '../captured-request.ts';
import { HeardUtterance } from '../tts/heard-utterance.ts';
import { streamingContract } from '../tts/streaming-contract.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const settingsOf = (url: string, key: string, more: Record<string, unknown> = {}) =>
  ttsServices.cartesia.parse({ provider: 'cartesia', api_key: key, base_url: url, ...more });

streamingContract({
  service: 'cartesia',
  hasWords: true,
  // The end of cancelled contexts is not confirmed.
  connectionsMax: 40,
  start: startCartesia,
  create: ({ url, key, means }) => createTtsService(settingsOf(url, key), means),
});

async function setUp(faults: CartesiaServer['faults'] = {}, more: Record<string, unknown> = {}) {
  const clock = new FakeClock();
  const fake = await startCartesia({ clock, key: 'key-1234', faults });
  const settings = settingsOf(fake.url.replace('ws', 'http'), 'key-1234', more);
  const tts = createTtsService(settings, serviceMeans(clock));
  opened.push(fake, tts);
  const say = (text: string, voice?: string) => {
    const heard = new HeardUtterance();
    const stream = tts.stream?.(voice, heard);
    if (stream === undefined) throw new Error('no streams');
    stream.push(text);
    return { heard, stream };
  };
  return { fake, tts, say };
}

describe('Cartesia', () => {
  it('repeats the settings of a context in each of its messages', async () => {
    const { fake, say } = await setUp({}, { speed: 1.2, language: 'de', emotion: 'calm' });
    const { heard, stream } = say('Guten Tag,');
    stream.push('wie geht es?');
    stream.end();
    await vi.waitFor(() => expect(heard.end).toBe('done'));
    const messages = fake.connections[0]?.texts.map((text) => JSON.parse(text)) ?? [];
    expect(messages).toHaveLength(3);
    expect(messages[0]).toEqual({
      model_id: 'sonic-3.5',
      transcript: 'Guten Tag, ',
      voice: { mode: 'id', id: '3faa81ae-d3d8-4ab1-9e44-e50e46d33c30' },
      language: 'de',
      context_id: 'u1',
      continue: true,
      max_buffer_delay_ms: 0,
      output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8_000 },
      add_timestamps: true,
      use_normalized_timestamps: false,
      generation_config: { speed: 1.2, emotion: 'calm' },
    });
    expect(messages[2]).toEqual({ ...messages[0], transcript: '', continue: false });
  });

  it('serves several voices over one connection', async () => {
    const { fake, say } = await setUp();
    const said = [say('One is here.', 'voice-1'), say('Two is here.', 'voice-2')];
    for (const { stream } of said) stream.end();
    await vi.waitFor(() => expect(said.every(({ heard }) => heard.end === 'done')).toBe(true));
    expect(fake.connections).toHaveLength(1);
    expect(fake.contexts.map(({ fields }) => fields['voice'])).toEqual([
      { mode: 'id', id: 'voice-1' },
      { mode: 'id', id: 'voice-2' },
    ]);
  });

  it.each(['before', 'after'] as const)(
    'takes times of words that come %s their audio',
    async (words) => {
      const { say } = await setUp({ words });
      const { heard, stream } = say('Your table is booked.');
      stream.end();
      await vi.waitFor(() => expect(heard.end).toBe('done'));
      expect(heard.words[2]).toEqual({ word: 'is', startMs: 660, endMs: 780 });
    },
  );

  it('fails one context with an error of it, not its connection', async () => {
    const { fake, say } = await setUp({ failsAfterMs: 300, failure: 'quota' });
    const { heard } = say('A longer sentence than that.');
    await vi.waitFor(() => expect(heard.ends).toHaveLength(1));
    expect(heard.end).toMatchObject({ kind: 'quota', detail: 'You have used all credits.' });
    fake.faults = {};
    const next = say('Hello again.');
    next.stream.end();
    await vi.waitFor(() => expect(next.heard.end).toBe('done'));
    expect(fake.connections).toHaveLength(1);
  });

  it('sends what the vendor’s own SDK sends, with the key in a header of its own', async () => {
    const { fake, say } = await setUp({ noAudio: true }, { language: 'de', model: 'sonic-3.5' });
    const { stream } = say('Guten Tag,');
    stream.end();
    stream.cancel();
    await vi.waitFor(() => expect(fake.contexts[0]?.state).toBe('cancelled'));
    const [connection] = fake.connections;
    const messages = connection?.texts.map((text) => JSON.parse(text)) ?? [];
    const request = connection?.request ?? { headers: {} };
    const sdk = sdkRequest('cartesia/tts-websocket');
    expect(capturedRequest(request, { key: 'key-1234', headers: [], messages })).toEqual({
      ...sdk,
      headers: {},
    });
  });
});
