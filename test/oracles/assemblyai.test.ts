// AssemblyAI's own SDK against our fake of its streaming interface.

import { AssemblyAI, type StreamingTranscriberParams, type TurnEvent } from 'assemblyai';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { startAssemblyAiServer } from '../fakes/services/assemblyai-server.ts';
import type { SttServer, SttSession } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { startTlsRelay } from './tls-relay.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(params: Partial<StreamingTranscriberParams>, apiKey = KEY) {
  const server: SttServer = await startAssemblyAiServer({ clock: systemClock, key: KEY });
  const relay = await startTlsRelay(server.url);
  opened.push(server, relay);
  const transcriber = new AssemblyAI({ apiKey }).streaming.transcriber({
    websocketBaseUrl: `${relay.url}/v3/ws`,
    sampleRate: 8000,
    encoding: 'pcm_mulaw',
    speechModel: 'universal-3-5-pro',
    maxConnectionRetries: 0,
    ...params,
  });
  return { server, transcriber };
}

describe('the SDK of AssemblyAI', () => {
  it('shows the turns that the fake decides', async () => {
    const { server, transcriber } = await start({
      languageCodes: ['de'],
      minTurnSilence: 300,
      maxTurnSilence: 1200,
      keytermsPrompt: ['Penne', 'Gnocchi'],
    });
    const turns: TurnEvent[] = [];
    const twoTurns = new Promise<void>((resolve) => {
      transcriber.on('turn', (turn) => {
        turns.push(turn);
        if (turn.turn_order === 1 && turn.end_of_turn) resolve();
      });
    });
    const begin = await transcriber.connect();
    const send = (packet: Buffer) => transcriber.sendAudio(new Uint8Array(packet).buffer);
    packetsOf('w1 w2', 500).forEach(send);
    transcriber.updateConfiguration({ keyterms_prompt: ['Penne'] });
    transcriber.keepAlive();
    packetsOf('w3', 40).forEach(send);
    transcriber.forceEndpoint();
    await twoTurns;
    await transcriber.close();
    const ends = turns.filter(({ end_of_turn: isEnd }) => isEnd);
    expect(ends.map(({ transcript }) => transcript)).toEqual(['w1 w2.', 'w3.']);
    expect(server.violations).toEqual([]);
    const message = [{ type: "import('assemblyai').BeginEvent", message: begin }];
    const type = "import('assemblyai').TurnEvent";
    expect(
      typeDifferences([...message, ...turns.map((turn) => ({ type, message: turn }))]),
    ).toEqual([]);
    const [session] = server.sessions as [SttSession];
    const { received: messages } = session;
    expectFixture(
      'assemblyai/streaming',
      capturedRequest(session, { key: KEY, headers: ['authorization'], messages }),
    );
  });

  it('fails on a wrong key', async () => {
    const { server, transcriber } = await start({}, 'wrong');
    await expect(transcriber.connect()).rejects.toThrow('401');
    expect(server.refusals).toEqual([401]);
  });

  it('shows an input that the fake refuses, with its code', async () => {
    const { transcriber } = await start({ encoding: 'pcm_s16le' });
    await expect(transcriber.connect()).rejects.toMatchObject({ code: 4034 });
  });
});
