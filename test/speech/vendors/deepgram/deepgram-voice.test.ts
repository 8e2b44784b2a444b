import { afterEach, describe, expect, it, vi } from 'vitest';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import {
  type DeepgramSpeakServer,
  startDeepgramSpeak,
} from '../../../fakes/services/deepgram-speak-server.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { HeardUtterance } from '../../tts/heard-utterance.ts';
import { streamingContract } from '../../tts/streaming-contract.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const settingsOf = (url: string, key: string, more: Record<string, unknown> = {}) =>
  ttsServices.deepgram.parse({ provider: 'deepgram', api_key: key, base_url: url, ...more });

streamingContract({
  service: 'deepgram',
  hasWords: true,
  // One utterance at a time, and 17 flushes a minute before another one takes the next utterance.
  connectionsMax: 60,
  start: startDeepgramSpeak,
  create: ({ url, key, means }) => createTtsService(settingsOf(url, key), means),
});

async function setUp(
  faults: DeepgramSpeakServer['faults'] = {},
  more: Record<string, unknown> = {},
) {
  const clock = new FakeClock();
  const fake = await startDeepgramSpeak({ clock, key: 'key-1234', faults });
  const settings = settingsOf(fake.url.replace('ws', 'http'), 'key-1234', more);
  const tts = createTtsService(settings, serviceMeans(clock));
  opened.push(fake, tts);
  const say = (text: string) => {
    const heard = new HeardUtterance();
    const stream = tts.stream?.(undefined, heard);
    if (stream === undefined) throw new Error('no streams');
    stream.push(text);
    return { heard, stream };
  };
  const typesOf = (nth = 0): string[] =>
    (fake.connections[nth]?.texts ?? []).map((text) => JSON.parse(text).type);
  return { clock, fake, say, typesOf };
}

describe('Deepgram Aura', () => {
  it('connects for its voice with the key in a header', async () => {
    const { fake, say } = await setUp({}, { voice: 'aura-2-thalia-en', speed: 1.1 });
    say('Hello.');
    const { request } = await fake.connected();
    expect(request.headers.authorization).toBe('Token key-1234');
    expect(request.url).toBe(
      '/v1/speak?model=aura-2-thalia-en&encoding=mulaw&sample_rate=8000&container=none&speed=1.1',
    );
  });

  it('flushes the first clause, then when its audio runs out, and at the end', async () => {
    const { clock, say, typesOf } = await setUp();
    const { heard, stream } = say('Your table is booked,');
    stream.flush();
    await vi.waitFor(() => expect(heard.words).toHaveLength(4));
    stream.push('for eight on Friday.');
    clock.advance(200);
    expect(heard.ms).toBe(22 * 60);
    clock.advance(200);
    await vi.waitFor(() => expect(heard.ms).toBe((22 + 21) * 60));
    stream.push('Good bye.');
    stream.end();
    await vi.waitFor(() => expect(heard.end).toBe('done'));
    expect(typesOf()).toEqual(['Speak', 'Flush', 'Speak', 'Flush', 'Speak', 'Flush']);
  });

  it('takes a connection for the next utterance only after its clear is confirmed', async () => {
    const { clock, fake, say, typesOf } = await setUp({ speed: 1 });
    const first = say('A long sentence that is cut.');
    first.stream.flush();
    await vi.waitFor(() => expect(first.heard.ms).toBeGreaterThan(0));
    fake.connections[0]?.socket.pause();
    first.stream.cancel();
    say('Another one.').stream.flush();
    await vi.waitFor(() => expect(fake.connections).toHaveLength(2));
    clock.advance(2_000);
    fake.connections[0]?.socket.resume();
    await vi.waitFor(() => expect(typesOf()).toEqual(['Speak', 'Flush', 'Clear', 'Close']));
  });

  it('begins no utterance on a connection that has hardly a flush left', async () => {
    const { fake, say } = await setUp();
    for (let nth = 0; nth < 10; nth++) {
      const { heard, stream } = say(`This is number ${nth},`);
      stream.flush();
      stream.push('and that was it.');
      stream.end();
      await vi.waitFor(() => expect(heard.end).toBe('done'));
    }
    expect(fake.connections).toHaveLength(2);
    expect(fake.errors).toEqual([]);
  });
});
