// OpenAI's own SDK and our clients on the same server of its audio interface: both ask it alike.

import OpenAI, { toFile } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import { OPEN_SPEECH } from '../../src/model/expected-input.ts';
import { sttServices, ttsServices } from '../../src/model/speech-services/services.ts';
import { createSttService } from '../../src/speech/vendors/stt-registry.ts';
import { createTtsService } from '../../src/speech/vendors/tts-registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { deferred } from '../fakes/deferred.ts';
import { type HttpAsked, startHttpService } from '../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../fakes/services/service-means.ts';
import { KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const pcm = Buffer.alloc(4_800, 1);

async function start() {
  const server = await startHttpService(({ path, headers, response }: HttpAsked) => {
    if (headers.authorization !== `Bearer ${KEY}`) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}');
    } else if (path.endsWith('/audio/speech')) response.end(pcm);
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"text":"two tickets","usage":{"type":"duration","seconds":1}}');
    }
  });
  opened.push(server);
  const client = new OpenAI({ apiKey: KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
  return { server, client, base_url: `${server.url}/v1` };
}

describe('the SDK of OpenAI and ours, on audio', () => {
  it('ask for speech alike', async () => {
    const { server, client, base_url } = await start();
    const answer = await client.audio.speech.create({
      model: 'gpt-4o-mini-tts',
      voice: 'alloy',
      input: 'Hello there.',
      response_format: 'pcm',
    });
    expect(Buffer.from(await answer.arrayBuffer()).equals(pcm)).toBe(true);
    const settings = ttsServices.openai.parse({ provider: 'openai', api_key: KEY, base_url });
    const tts = createTtsService(settings, serviceMeans(systemClock));
    opened.push(tts);
    let samples = 0;
    const listener = {
      onAudio(given: Int16Array) {
        samples += given.length;
      },
      onWords: () => undefined,
    };
    const { signal } = new AbortController();
    await tts.synthesize({ text: 'Hello there.', voice: undefined }, listener, signal);
    // 100 ms of 24 kHz.
    expect(samples).toBeGreaterThan(780);
    const [theirs, ours] = server.asked.map(({ method, path, body }) => [
      ...[method, path],
      JSON.parse(body.toString()),
    ]);
    expect(ours).toEqual(theirs);
  });

  it('upload an utterance alike', async () => {
    const { server, client, base_url } = await start();
    const wav = Buffer.concat([
      wavHeader({ rateHz: 8_000, channels: 1, dataBytes: 8_000 }),
      Buffer.alloc(8_000),
    ]);
    const transcript = await client.audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      response_format: 'json',
      temperature: 0,
      language: 'en',
      file: await toFile(wav, 'a.wav', { type: 'audio/wav' }),
    });
    expect(transcript.text).toBe('two tickets');
    const settings = sttServices.openai.parse({
      provider: 'openai',
      api_key: KEY,
      base_url,
      language: 'en',
    });
    const stt = createSttService(settings, serviceMeans(systemClock));
    let heard = '';
    const over = deferred();
    const hear = (text: string): void => {
      heard = text;
      over.resolve();
    };
    const recognizer = stt.open(OPEN_SPEECH, {
      onPartial: () => undefined,
      onFinal: ({ text }) => hear(text),
      onError: (error) => hear(error.message),
    });
    opened.push(stt, recognizer);
    recognizer.speechStarted();
    for (let at = 0; at < 25; at++) recognizer.push(new Int16Array(160));
    recognizer.finalize();
    await over.promise;
    expect(heard).toBe('two tickets');
    const forms = server.asked.map(({ path, fields, file }) => ({
      path,
      fields: [...fields].sort(),
      header: file.subarray(0, 4).toString(),
    }));
    expect(forms[1]).toEqual(forms[0]);
  });

  it('are both refused with a wrong key', async () => {
    const { server } = await start();
    const wrong = new OpenAI({ apiKey: 'wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
    const refusal = wrong.audio.speech.create({ model: 'm', voice: 'alloy', input: 'x' });
    await expect(refusal).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});
