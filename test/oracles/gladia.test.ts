// Gladia's own SDK against our fake of its live recogniser.

import { GladiaClient, type LiveV2WebSocketMessage } from '@gladiaio/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { sttProtocols } from '../fakes/described/stt-servers.ts';
import { type SttServer, startSttServer } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(apiKey = KEY) {
  const server = await startSttServer({ clock: systemClock, key: KEY }, sttProtocols.gladia(KEY));
  opened.push(server);
  const client = new GladiaClient({
    apiKey,
    apiUrl: server.url.replace('ws', 'http'),
    region: 'eu-west',
    httpRetry: { maxAttempts: 1 },
    wsRetry: { maxAttemptsPerConnection: 1, maxConnections: 1 },
  });
  const session = client.liveV2().startSession({
    encoding: 'wav/ulaw',
    bit_depth: 8,
    sample_rate: 8_000,
    channels: 1,
    model: 'solaria-1',
    endpointing: 0.3,
    language_config: { languages: ['de'], code_switching: false },
    realtime_processing: {
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['Penne', 'Ada'] },
    },
    messages_config: {
      receive_partial_transcripts: true,
      receive_final_transcripts: true,
      receive_speech_events: false,
      receive_lifecycle_events: true,
    },
  });
  return { server, session };
}

/** The request that opens the session. */
function request({ posts }: SttServer) {
  const [post] = posts as [SttServer['posts'][0]];
  return capturedRequest(post, { key: KEY, headers: ['x-gladia-key'], messages: [post.body] });
}

describe('the SDK of Gladia', () => {
  it('shows the words that the fake ends by silence', async () => {
    const { server, session } = await start();
    const messages: LiveV2WebSocketMessage[] = [];
    session.on('message', (message) => messages.push(message));
    const ended = new Promise<number>((resolve) =>
      session.on('ended', ({ code }) => resolve(code)),
    );
    await new Promise((resolve) => session.on('connected', resolve));
    for (const packet of [...packetsOf('w1 w2', 400), ...packetsOf('w3', 40)]) {
      session.sendAudio(packet);
    }
    session.stopRecording();
    expect(await ended).toBe(1000);
    const fixed = messages.flatMap((each) =>
      each.type === 'transcript' && each.data.is_final ? [each.data.utterance.text] : [],
    );
    expect(fixed).toEqual(['w1 w2', 'w3']);
    expect(messages.at(-1)?.type).toBe('end_session');
    expect(server.violations).toEqual([]);
    const type = "import('@gladiaio/sdk').LiveV2WebSocketMessage";
    expect(typeDifferences(messages.map((message) => ({ type, message })))).toEqual([]);
    expectFixture('gladia/live', request(server));
  });

  it('fails on a wrong key', async () => {
    const { session } = await start('wrong');
    const failed = new Promise<Error>((resolve) => session.on('error', resolve));
    expect((await failed).message).toContain('gladia key not found');
  });
});
