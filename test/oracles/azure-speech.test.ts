// Azure's own Speech SDK against our fake of its recogniser's websocket.

import * as sdk from 'microsoft-cognitiveservices-speech-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { type AzureSttServer, startAzureStt } from '../fakes/services/azure-stt-server.ts';
import type { SttSession } from '../fakes/services/stt-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { AZURE_HEADERS, contextsIn } from '../speech/vendors/azure/sdk-context.ts';
import { packetsOf } from './audio.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(key = KEY) {
  const server = await startAzureStt({ clock: systemClock, key: KEY });
  const config = sdk.SpeechConfig.fromHost(new URL(server.url), key);
  config.speechRecognitionLanguage = 'de-DE';
  config.outputFormat = sdk.OutputFormat.Detailed;
  config.requestWordLevelTimestamps();
  config.setProfanity(sdk.ProfanityOption.Raw);
  config.setProperty(sdk.PropertyId.Speech_SegmentationSilenceTimeoutMs, '300');
  const format = sdk.AudioStreamFormat.getWaveFormat(8_000, 8, 1, sdk.AudioFormatTag.MuLaw);
  const stream = sdk.AudioInputStream.createPushStream(format);
  const recognizer = new sdk.SpeechRecognizer(config, sdk.AudioConfig.fromStreamInput(stream));
  sdk.PhraseListGrammar.fromRecognizer(recognizer).addPhrases(['Penne', 'Ada']);
  opened.push(server, recognizer);
  return { server, stream, recognizer };
}

/** The address has the key and random ids once more. */
function request(server: AzureSttServer) {
  const [session] = server.sessions as [SttSession];
  const messages = contextsIn(server);
  const captured = capturedRequest(session, { key: KEY, headers: AZURE_HEADERS, messages });
  const own = ['Ocp-Apim-Subscription-Key', 'X-ConnectionId', 'connectionId'];
  const query = Object.entries(captured.query).filter(([name]) => !own.includes(name));
  return { ...captured, query: Object.fromEntries(query) };
}

/** The words of a phrase in the service's form, with their lengths of 100 ns. */
function readPhrase(json: string): { words: [unknown, unknown][] } {
  const [best] = JSON.parse(json)['NBest'];
  const words = best['Words'].map((word: Record<string, unknown>) => [
    word['Word'],
    word['Duration'],
  ]);
  return { words };
}

describe("Azure's Speech SDK", () => {
  it('shows the phrases that the fake ends, with the times of their words', async () => {
    const { server, stream, recognizer } = await start();
    const partials: string[] = [];
    const finals: sdk.SpeechRecognitionResult[] = [];
    recognizer.recognizing = (_, { result }) => partials.push(result.text);
    recognizer.recognized = (_, { result }) => {
      if (result.reason === sdk.ResultReason.RecognizedSpeech) finals.push(result);
    };
    await new Promise<void>((resolve, reject) => {
      recognizer.startContinuousRecognitionAsync(resolve, reject);
    });
    for (const packet of [...packetsOf('w1 w2', 600), ...packetsOf('w3', 40)]) {
      stream.write(new Uint8Array(packet).buffer);
    }
    stream.close();
    await expect.poll(() => finals.length, { timeout: 20_000 }).toBe(2);
    expect(partials).toEqual(['w1', 'w1 w2', 'w3']);
    expect(finals.map(({ text }) => text)).toEqual(['w1 w2', 'w3']);
    const { words } = readPhrase(finals[0]?.json ?? '');
    expect(words).toEqual([
      ['w1', 2_000_000],
      ['w2', 2_000_000],
    ]);
    expect(server.violations).toEqual([]);
    expectFixture('azure/speech-recognition', request(server));
  });

  it('fails on a wrong key', async () => {
    const { server, recognizer, stream } = await start('wrong');
    const cancelled = new Promise<sdk.SpeechRecognitionCanceledEventArgs>((resolve) => {
      recognizer.canceled = (_, event) => resolve(event);
    });
    recognizer.startContinuousRecognitionAsync();
    stream.close();
    expect((await cancelled).reason).toBe(sdk.CancellationReason.Error);
    expect(server.refusals[0]).toBe(401);
  });
});
