// Speechmatics' own SDK against our fake of its real-time recogniser.

import { RealtimeClient, type RealtimeServerMessage } from '@speechmatics/real-time-client';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { sttProtocols } from '../fakes/described/stt-servers.ts';
import { type SttSession, startSttServer } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start() {
  const protocol = sttProtocols.speechmatics(KEY);
  const server = await startSttServer({ clock: systemClock, key: KEY }, protocol);
  opened.push(server);
  const client = new RealtimeClient({ url: `${server.url}/v2` });
  return { server, client };
}

const CONFIG = {
  audio_format: { type: 'raw', encoding: 'mulaw', sample_rate: 8_000 },
  transcription_config: {
    language: 'de',
    model: 'enhanced',
    max_delay: 1,
    max_delay_mode: 'flexible',
    enable_partials: true,
    additional_vocab: ['Penne', 'Ada'],
  },
} as const;

const config = () => ({
  ...CONFIG,
  transcription_config: {
    ...CONFIG.transcription_config,
    additional_vocab: [...CONFIG.transcription_config.additional_vocab],
  },
});

describe('the SDK of Speechmatics', () => {
  it('shows the words that the fake fixes, and ends the stream', async () => {
    const { server, client } = await start();
    const messages: RealtimeServerMessage[] = [];
    const isOver = new Promise<void>((resolve) => {
      client.addEventListener('receiveMessage', ({ data }) => {
        messages.push(data);
        if (data.message === 'EndOfUtterance') resolve();
      });
    });
    await client.start(KEY, config());
    for (const packet of packetsOf('w1 w2', 200)) client.sendAudio(Uint8Array.from(packet));
    client.forceEndOfUtterance();
    await isOver;
    await client.stopRecognition();
    const fixed = messages.flatMap((each) =>
      each.message === 'AddTranscript' ? [each.metadata.transcript] : [],
    );
    expect(fixed).toEqual(['w1 w2 ']);
    expect(messages.at(-1)?.message).toBe('EndOfTranscript');
    expect(server.violations).toEqual([]);
    const type = "import('@speechmatics/real-time-client').RealtimeServerMessage";
    expect(typeDifferences(messages.map((message) => ({ type, message })))).toEqual([]);
    const [session] = server.sessions as [SttSession];
    const received = session.received.filter(({ message }) => message !== 'EndOfStream');
    const captured = capturedRequest(session, { key: KEY, headers: [], messages: received });
    expectFixture('speechmatics/real-time', captured);
  });

  it('fails on a wrong key, and on an unknown field', async () => {
    const { server, client } = await start();
    await expect(client.start('wrong', config())).rejects.toMatchObject({
      message: 'Unexpected server response: 401',
    });
    expect(server.refusals).toEqual([401]);
    const other = new RealtimeClient({ url: `${server.url}/v2` });
    const odd = { ...CONFIG.transcription_config, additional_vocab: [], output_locale: 'de-CH' };
    const refused = other.start(KEY, { ...CONFIG, transcription_config: odd });
    await expect(refused).rejects.toThrow('invalid_config');
  });
});
