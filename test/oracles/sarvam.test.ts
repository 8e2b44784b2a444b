// Sarvam's own SDK against our fakes of its recogniser and its voice.

import { SarvamAIClient } from 'sarvamai';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { framesOf, silentFrames } from '../fakes/call/spoken-words.ts';
import { sttProtocols } from '../fakes/described/stt-servers.ts';
import { startVoiceServer } from '../fakes/described/tts-servers.ts';
import { type SttSession, startSttServer } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const headers = ['api-subscription-key'];

async function recogniser(apiSubscriptionKey = KEY) {
  const server = await startSttServer({ clock: systemClock, key: KEY }, sttProtocols.sarvam(KEY));
  opened.push(server);
  const client = new SarvamAIClient({ apiSubscriptionKey, baseUrl: server.url });
  const socket = await client.speechToTextStreaming.connect({
    'language-code': 'hi-IN',
    model: 'saaras:v3',
    vad_signals: 'true',
    flush_signal: 'true',
    high_vad_sensitivity: 'true',
    sample_rate: '8000',
    input_audio_codec: 'pcm_s16le',
    reconnectAttempts: 0,
  });
  opened.push(socket);
  return { server, socket };
}

async function voice() {
  const server = await startVoiceServer('sarvam', { clock: systemClock, key: KEY });
  opened.push(server);
  const client = new SarvamAIClient({ apiSubscriptionKey: KEY, baseUrl: server.url });
  const socket = await client.textToSpeechStreaming.connect({
    model: 'bulbul:v2',
    send_completion_event: 'true',
    reconnectAttempts: 0,
  });
  opened.push(socket);
  return { server, socket };
}

describe('the SDK of Sarvam', () => {
  it('shows the words that the fake recognises', async () => {
    const { server, socket } = await recogniser();
    const messages: unknown[] = [];
    const transcript = new Promise<string>((resolve) => {
      socket.on('message', (message) => {
        messages.push(message);
        if (message.type === 'data' && 'transcript' in message.data)
          resolve(message.data.transcript);
      });
    });
    await socket.waitForOpen();
    for (const frame of [...framesOf('w1 w2'), ...silentFrames(200)]) {
      const audio = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
      socket.transcribe({ audio: audio.toString('base64'), sample_rate: 8_000 });
    }
    socket.flush();
    expect(await transcript).toBe('w1 w2');
    expect(server.violations).toEqual([]);
    const type = "import('sarvamai').SarvamAI.SpeechToTextStreamingResponse";
    expect(typeDifferences(messages.map((message) => ({ type, message })))).toEqual([]);
    const [session] = server.sessions as [SttSession];
    // One message of each kind, its audio left out.
    const [audio] = session.received.flatMap(({ audio: each }) => (each ? [each] : []));
    const shape = { audio: { ...(audio as object), data: '' } };
    const sent = [shape, ...session.received.filter((each) => each['audio'] === undefined)];
    expectFixture(
      'sarvam/speech-to-text',
      capturedRequest(session, { key: KEY, headers, messages: sent }),
    );
  });

  it('fails on a wrong key', async () => {
    const { server, socket } = await recogniser('wrong');
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve));
    expect((await failed).message).toContain('401');
    expect(server.refusals).toContain(401);
  });

  it('gets the audio that the fake speaks, and its end', async () => {
    const { server, socket } = await voice();
    const messages: unknown[] = [];
    let bytes = 0;
    const isOver = new Promise<void>((resolve) => {
      socket.on('message', (message) => {
        messages.push(message);
        if (message.type === 'audio') bytes += Buffer.from(message.data.audio, 'base64').length;
        if (message.type === 'event') resolve();
      });
    });
    await socket.waitForOpen();
    socket.configureConnection({
      type: 'config',
      data: {
        language_code: 'hi-IN',
        speaker: 'anushka',
        speech_sample_rate: 8_000,
        output_audio_codec: 'mulaw',
        enable_preprocessing: true,
      },
    });
    socket.convert('Namaste. ');
    socket.flush();
    socket.ping();
    await isOver;
    expect(bytes).toBe('Namaste. '.length * 480);
    expect(server.errors).toEqual([]);
    const types = ['AudioOutput', 'EventResponse'].map(
      (each) => `import('sarvamai').SarvamAI.${each}`,
    );
    const type = types.join(' | ');
    expect(typeDifferences(messages.map((message) => ({ type, message })))).toEqual([]);
    const [connection] = server.connections;
    const sent = connection?.texts.map((text) => JSON.parse(text)) ?? [];
    const request = connection?.request ?? { headers: {} };
    expectFixture(
      'sarvam/text-to-speech',
      capturedRequest(request, { key: KEY, headers, messages: sent }),
    );
  });
});
