// How the caller's audio is cut for each streaming service: 60 to 100 ms in a packet, and the rest at once when the voice
// ends, so that the last word does not wait for silence.

import { afterEach, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { sttServices } from '../../../src/model/speech-services/services.ts';
import type { SttSettings } from '../../../src/model/speech-services/speech-settings.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { type SttPreset, sttPresets } from '../../fakes/described/presets.ts';
import { sttProtocols } from '../../fakes/described/stt-servers.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { startAssemblyAiServer } from '../../fakes/services/assemblyai-server.ts';
import { startAzureStt } from '../../fakes/services/azure-stt-server.ts';
import { startDeepgramServer } from '../../fakes/services/deepgram-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { type SttServer, startSttServer } from '../../fakes/services/stt-server.ts';
import { RecognizerRig } from './recognizer-rig.ts';

const KEY = 'key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Start = (clock: FakeClock) => Promise<SttServer>;
const ofModel = (model: string, baseUrl: string) => ({ api_key: KEY, model, base_url: baseUrl });

type Settings = Exclude<SttSettings, { provider: 'pocketsphinx' }>;

const SERVICES: [string, Start, (url: string) => Settings][] = [
  ...['nova-3', 'flux-general-en'].map((model): (typeof SERVICES)[number] => [
    model,
    (clock) => startDeepgramServer({ clock, key: KEY }),
    (url) => sttServices.deepgram.parse({ provider: 'deepgram', ...ofModel(model, url) }),
  ]),
  [
    'azure_speech',
    (clock) => startAzureStt({ clock, key: KEY }),
    (baseUrl) =>
      sttServices.azure_speech.parse({ provider: 'azure_speech', api_key: KEY, base_url: baseUrl }),
  ],
  ...(Object.keys(sttPresets) as SttPreset[]).map((provider): (typeof SERVICES)[number] => [
    provider,
    (clock) => startSttServer({ clock, key: KEY }, sttProtocols[provider](KEY)),
    (baseUrl) => sttServices[provider].parse({ provider, api_key: KEY, base_url: baseUrl }),
  ]),
];

async function speak(start: Start, settingsOf: (url: string) => Settings) {
  const clock = new FakeClock();
  const server = await start(clock);
  const stt = createSttService(settingsOf(server.url), serviceMeans(clock));
  const rig = new RecognizerRig(clock, stt, OPEN_SPEECH);
  opened.push(server, rig.recognizer, stt);
  // Some services are asked for the address first, which takes real time.
  await vi.waitFor(() => expect(server.sessions).toHaveLength(1));
  await settle();
  await rig.says('w1 w2');
  const packetsMs = () => server.sessions[0]?.packetsMs ?? [];
  return { rig, server, packetsMs };
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((all, ms) => all + ms, 0);
}

/** The words and a pause after each. */
const VOICE_MS = 520;

it.each(SERVICES)('%s gets the rest of a packet when the voice ends', async (_name, ...how) => {
  const { rig, server, packetsMs } = await speak(...how);
  await vi.waitFor(() => expect(sum(packetsMs())).toBe(VOICE_MS));
  const full = packetsMs().slice(0, -1);
  expect(full.length).toBeGreaterThan(3);
  expect(full.every((ms) => ms >= 60 && ms <= 100)).toBe(true);
  await rig.silence(400);
  const later = packetsMs().slice(full.length + 1);
  expect(later.every((ms) => ms >= 60 && ms <= 100)).toBe(true);
  expect(server.violations).toEqual([]);
});

it('AssemblyAI, which takes no packet below 50 ms, gets the rest as soon as it is so long', async () => {
  const { rig, server, packetsMs } = await speak(
    (clock) => startAssemblyAiServer({ clock, key: KEY }),
    (url) => {
      const settings = ofModel('universal-streaming-english', url);
      return sttServices.assemblyai.parse({ provider: 'assemblyai', ...settings });
    },
  );
  await vi.waitFor(() => expect(packetsMs()).toEqual([100, 100, 100, 100, 100]));
  await rig.silence(240);
  await vi.waitFor(() => expect(packetsMs().slice(5)).toEqual([60, 100, 100]));
  expect(server.violations).toEqual([]);
});
