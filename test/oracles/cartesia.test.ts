// Cartesia's own SDK against our fake of its text-to-speech websocket.

import { createRequire } from 'node:module';
import type { Cartesia } from '@cartesia/cartesia-js';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { wordsOf } from '../fakes/call/scripted-voice.ts';
import { type CartesiaServer, startCartesia } from '../fakes/services/cartesia-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { startTlsRelay } from './tls-relay.ts';
import { typeDifferences } from './vendor-types.ts';

/** Its ES modules do not find `ws`, which they load by `require`. */
const load = createRequire(import.meta.url);
const sdk: typeof import('@cartesia/cartesia-js') = load('@cartesia/cartesia-js');
const { TTSWS }: typeof import('@cartesia/cartesia-js/resources/tts/ws') = load(
  '@cartesia/cartesia-js/resources/tts/ws',
);
const VOICE = '3faa81ae-d3d8-4ab1-9e44-e50e46d33c30';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(faults: CartesiaServer['faults'] = {}, apiKey = KEY) {
  const server = await startCartesia({ clock: systemClock, key: KEY, faults });
  const relay = await startTlsRelay(server.url);
  const baseURL = relay.url.replace('wss', 'https');
  const client: Cartesia = new sdk.Cartesia({ apiKey, baseURL });
  opened.push(server, relay);
  return { server, client };
}

async function context(client: Cartesia) {
  const socket = await client.tts.websocket();
  opened.push(socket);
  socket.on('error', () => undefined);
  return socket.context({
    contextId: 'u1',
    model_id: 'sonic-3.5',
    voice: { mode: 'id', id: VOICE },
    language: 'de',
    output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
    add_timestamps: true,
    use_normalized_timestamps: false,
    max_buffer_delay_ms: 0,
  });
}

type Responses = Awaited<ReturnType<typeof context>>['receive'] extends () => AsyncGenerator<
  infer Response
>
  ? Response[]
  : never;

describe('the SDK of Cartesia', () => {
  it('shows the audio and the words that the fake speaks', async () => {
    const { server, client } = await start();
    const utterance = await context(client);
    await utterance.push({ transcript: 'Guten Tag, ' });
    await utterance.push({ transcript: 'wie geht es? ' });
    await utterance.no_more_inputs();
    const responses: Responses = [];
    for await (const response of utterance.receive()) responses.push(response);
    const text = 'Guten Tag, wie geht es? ';
    const audio = responses.flatMap((each) => (each.type === 'chunk' ? [each.audio] : []));
    expect(audio.reduce((bytes, each) => bytes + (each?.length ?? 0), 0)).toBe(text.length * 480);
    const words = responses.flatMap((each) =>
      each.type === 'timestamps' ? (each.word_timestamps?.words ?? []) : [],
    );
    expect(words).toEqual(wordsOf(text).map(({ word }) => word));
    expect(responses.at(-1)?.type).toBe('done');
    expect(server.errors).toEqual([]);
    const type = "import('@cartesia/cartesia-js/resources/tts').WebsocketResponse";
    // `audio` is what the SDK adds.
    const messages = responses.map((each) => ({ ...each, audio: undefined }));
    expect(typeDifferences(messages.map((message) => ({ type, message })))).toEqual([]);
  });

  it('sends requests that the fake takes', async () => {
    const { server, client } = await start({ noAudio: true });
    const utterance = await context(client);
    await utterance.push({ transcript: 'Guten Tag, ' });
    await utterance.no_more_inputs();
    await utterance.cancel();
    await expect.poll(() => server.contexts[0]?.state).toBe('cancelled');
    expect(server.errors).toEqual([]);
    const [connection] = server.connections;
    const messages = connection?.texts.map((text) => JSON.parse(text)) ?? [];
    const names = ['authorization', 'cartesia-version'];
    const request = connection?.request ?? { headers: {} };
    expectFixture(
      'cartesia/tts-websocket',
      capturedRequest(request, { key: KEY, headers: names, messages }),
    );
  });

  it('fails on a wrong key', async () => {
    const { client } = await start({}, 'wrong');
    const socket = new TTSWS(client);
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve));
    await expect(socket.connect()).rejects.toBeDefined();
    expect((await failed).message).toContain('401');
  });

  it('shows an error of a context in the words of the fake', async () => {
    const { client } = await start({ failsAfterMs: 0, failure: 'quota' });
    const utterance = await context(client);
    await utterance.push({ transcript: 'Guten Tag, ' });
    const receive = async () => {
      for await (const _ of utterance.receive());
    };
    await expect(receive()).rejects.toThrow('You have used all credits.');
  });
});
