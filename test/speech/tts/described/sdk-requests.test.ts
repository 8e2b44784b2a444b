// Presets of voices against what the vendors' own SDKs send (test/oracles, fixtures/wire).

import { afterEach, expect, it } from 'vitest';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { startVoiceServer } from '../../../fakes/described/tts-servers.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { HeardUtterance } from '../heard-utterance.ts';

const KEY = 'key-1234567890';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

it('what the SDK of Sarvam sends has all that the preset sends; the rest are its defaults', async () => {
  const clock = new FakeClock();
  const server = await startVoiceServer('sarvam', { clock, key: KEY });
  const row = { provider: 'sarvam', api_key: KEY, base_url: server.url, speed: 1 };
  const tts = createTtsService(ttsServices.sarvam.parse(row), serviceMeans(clock));
  opened.push(server, tts);
  const heard = new HeardUtterance();
  const stream = tts.stream?.(undefined, heard);
  stream?.push('Namaste.');
  stream?.end();
  await heard.over.promise;
  const [connection] = server.connections;
  const messages = connection?.texts.map((text) => JSON.parse(text)) ?? [];
  const options = { key: KEY, headers: ['api-subscription-key'], messages };
  const { messages: sent, ...request } = capturedRequest(
    connection?.request ?? { headers: {} },
    options,
  );
  const { messages: sdk, ...sdksRequest } = sdkRequest('sarvam/text-to-speech');
  expect([heard.end, server.errors, request]).toEqual(['done', [], sdksRequest]);
  expect(sdk).toMatchObject([...sent, { type: 'ping' }]);
});
