// Soniox's own SDK against our fake of its real-time recogniser.

import { type RealtimeSttSession, SonioxNodeClient } from '@soniox/node';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/std/clock.ts';
import { sttProtocols } from '../fakes/described/stt-servers.ts';
import { type SttServer, type SttSession, startSttServer } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';

/** The SDK takes the browser's, which Node has from 22 on. */
globalThis.WebSocket ??= WebSocket as never;

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(apiKey = KEY): Promise<{ server: SttServer; session: RealtimeSttSession }> {
  const server = await startSttServer({ clock: systemClock, key: KEY }, sttProtocols.soniox(KEY));
  opened.push(server);
  const client = new SonioxNodeClient({
    api_key: apiKey,
    realtime: { ws_base_url: `${server.url}/transcribe-websocket` },
  });
  const session = client.realtime.stt({
    model: 'stt-rt-v5',
    audio_format: 'mulaw',
    sample_rate: 8_000,
    num_channels: 1,
    language_hints: ['de'],
    enable_endpoint_detection: false,
    context: { terms: ['Penne', 'Ada'] },
  });
  return { server, session };
}

describe('the SDK of Soniox', () => {
  it('shows the words that the fake fixes', async () => {
    const { server, session } = await start();
    let fixed = '';
    session.on('result', ({ tokens }) => {
      for (const { text, is_final: isFinal } of tokens) if (isFinal) fixed += text;
    });
    await session.connect();
    const finalized = new Promise<void>((resolve) => session.on('finalized', resolve));
    session.keepAlive();
    for (const packet of packetsOf('w1 w2 w3', 200)) session.sendAudio(packet);
    session.finalize();
    await finalized;
    expect(fixed).toBe(' w1 w2 w3');
    for (const packet of packetsOf('w4', 40)) session.sendAudio(packet);
    await session.finish();
    expect(fixed).toBe(' w1 w2 w3 w4');
    expect(server.violations).toEqual([]);
    const [captured] = server.sessions as [SttSession];
    const { received: messages } = captured;
    expectFixture(
      'soniox/transcribe-websocket',
      capturedRequest(captured, { key: KEY, headers: [], messages }),
    );
  });

  it('fails on a wrong key', async () => {
    const { session } = await start('wrong');
    const failed = new Promise<Error>((resolve) => session.on('error', resolve));
    await session.connect();
    expect((await failed).message).toContain('Incorrect API key');
  });
});
