// Deepgram's own SDK against our fake of its two recogniser interfaces.

import { DeepgramClient } from '@deepgram/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { startDeepgramServer } from '../fakes/services/deepgram-server.ts';
import type { SttServer, SttSession } from '../fakes/services/stt-server.ts';
import { type CapturedRequest, capturedRequest } from '../speech/captured-request.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(): Promise<SttServer> {
  const server = await startDeepgramServer({ clock: systemClock, key: KEY });
  opened.push(server);
  return server;
}

function clientOf({ url }: SttServer, apiKey = KEY): DeepgramClient {
  const environment = { base: url, production: url, agent: url, agentRest: url };
  return new DeepgramClient({ apiKey, environment, reconnect: false });
}

function request({ sessions }: SttServer): CapturedRequest {
  const [session] = sessions as [SttSession];
  const { received: messages } = session;
  return capturedRequest(session, { key: KEY, headers: ['authorization'], messages });
}

type MessageOf<Socket> = Socket extends AsyncIterable<infer Message> ? Message : never;
const listenV1 = "import('@deepgram/sdk').Deepgram.listen.ListenV1";
const listenV2 = "import('@deepgram/sdk').Deepgram.listen.ListenV2";
const typed = (prefix: string, messages: readonly { type: string }[]) =>
  typeDifferences(messages.map((message) => ({ type: `${prefix}${message.type}`, message })));

describe('the SDK of Deepgram on listen/v1', () => {
  it('shows the words that the fake recognises', async () => {
    const server = await start();
    const socket = await clientOf(server).listen.v1.connect({
      model: 'nova-3',
      encoding: 'mulaw',
      sample_rate: 8000,
      channels: 1,
      interim_results: 'true',
      punctuate: 'true',
      smart_format: 'false',
      numerals: 'true',
      endpointing: 300,
      vad_events: 'false',
      mip_opt_out: 'false',
      profanity_filter: 'false',
      language: 'en',
      keyterm: ['Gnocchi', 'Penne'],
      reconnectAttempts: 0,
    });
    const messages: MessageOf<typeof socket>[] = [];
    const closed = new Promise((resolve) => socket.on('close', ({ code }) => resolve(code)));
    socket.on('message', (message) => messages.push(message));
    socket.connect();
    await socket.waitForOpen();
    for (const packet of packetsOf('w1 w2', 100)) socket.sendMedia(packet);
    socket.sendKeepAlive({ type: 'KeepAlive' });
    socket.sendFinalize({ type: 'Finalize' });
    socket.sendCloseStream({ type: 'CloseStream' });
    expect(await closed).toBe(1000);
    const finals = messages.flatMap((message) =>
      message.type === 'Results' && message.from_finalize === true ? [message] : [],
    );
    expect(finals.map(({ channel }) => channel.alternatives[0]?.transcript)).toEqual(['w1 w2']);
    expect(messages.at(-1)?.type).toBe('Metadata');
    expect(typed(listenV1, messages)).toEqual([]);
    expect(server.violations).toEqual([]);
    expectFixture('deepgram/listen-v1', request(server));
  });
});

describe('the SDK of Deepgram on listen/v2', () => {
  it('shows the turns that the fake decides', async () => {
    const server = await start();
    const socket = await clientOf(server).listen.v2.connect({
      model: 'flux-general-multi',
      encoding: 'mulaw',
      sample_rate: 8000,
      eot_threshold: 0.7,
      eot_timeout_ms: 3000,
      eager_eot_threshold: 0.5,
      language_hint: 'de',
      keyterm: ['Penne', 'Gnocchi'],
      reconnectAttempts: 0,
    });
    const messages: MessageOf<typeof socket>[] = [];
    const closed = new Promise((resolve) => socket.on('close', ({ code }) => resolve(code)));
    const configured = new Promise<void>((resolve) => {
      socket.on('message', (message) => {
        messages.push(message);
        if (message.type === 'ConfigureSuccess') resolve();
      });
    });
    socket.connect();
    await socket.waitForOpen();
    for (const packet of packetsOf('w1 w2', 600)) socket.sendMedia(packet);
    socket.sendConfigure({
      type: 'Configure',
      thresholds: { eot_threshold: 0.85, eot_timeout_ms: 5000 },
      keyterms: ['Penne'],
    });
    await configured;
    for (const packet of packetsOf('w3', 40)) socket.sendMedia(packet);
    socket.sendForceEndTurn({ type: 'ForceEndTurn' });
    socket.sendCloseStream({ type: 'CloseStream' });
    expect(await closed).toBe(1005);
    const turns = messages.flatMap((message) =>
      message.type === 'TurnInfo' && message.event === 'EndOfTurn'
        ? [[message.trigger, message.turn_index, message.transcript]]
        : [],
    );
    expect(turns).toEqual([
      ['model', 0, 'w1 w2'],
      ['manual', 1, 'w3'],
    ]);
    expect(messages.map((message) => 'sequence_id' in message && message.sequence_id)).toEqual(
      messages.map((_, at) => at),
    );
    expect(typed(listenV2, messages)).toEqual([]);
    expect(server.violations).toEqual([]);
    expectFixture('deepgram/listen-v2', request(server));
  });
});

describe('the SDK of Deepgram', () => {
  it.each(['v1', 'v2'] as const)('fails on a wrong key (%s)', async (version) => {
    const server = await start();
    const { listen } = clientOf(server, 'wrong');
    const args = { encoding: 'mulaw', sample_rate: 8000, reconnectAttempts: 0 } as const;
    const socket =
      version === 'v1'
        ? await listen.v1.connect({ ...args, model: 'nova-3' })
        : await listen.v2.connect({ ...args, model: 'flux-general-en' });
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve));
    socket.connect();
    expect((await failed).message).toContain('401');
    expect(server.refusals[0]).toBe(401);
  });
});
