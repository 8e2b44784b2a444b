// Every preset of a recogniser against its service's own messages, which the fake has from the vendor's reference.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import type { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { VendorSocket } from '../../../../src/speech/service/vendor-socket.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { type SttPreset, sttPresets } from '../../../fakes/described/presets.ts';
import { sttProtocols } from '../../../fakes/described/stt-servers.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { type SttFaults, startSttServer } from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';
import { serviceContract } from '../streaming/service-contract.ts';

const KEY = 'key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(provider: SttPreset, given: { faults?: SttFaults; settings?: object } = {}) {
  const clock = new FakeClock();
  const { faults } = given;
  const server = await startSttServer(
    { clock, key: KEY, faults: faults === undefined ? [] : [faults] },
    sttProtocols[provider](KEY),
  );
  const settings = sttServices[provider].parse({
    provider,
    api_key: KEY,
    base_url: server.url,
    ...given.settings,
  });
  const stt = createSttService(settings, serviceMeans(clock));
  const rig = new RecognizerRig(clock, stt, { ...OPEN_SPEECH, boost: ['Ada'] });
  opened.push(server, rig.recognizer, stt);
  await settle();
  if (sttPresets[provider].session !== undefined) {
    // The request takes real time, of which the clock knows nothing.
    const isOver = () => server.sessions.length > 0 || rig.errors.length > 0;
    await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000, interval: 2 });
  }
  return { rig, server, stt };
}

const presets = Object.keys(sttPresets) as SttPreset[];
const isBySilence = (preset: SttPreset) => sttPresets[preset].finalize === undefined;
const hasTimes = (preset: SttPreset) => {
  const { tokens, results } = sttPresets[preset];
  return tokens !== undefined || results.some(({ words }) => words !== undefined);
};

for (const provider of presets) {
  serviceContract({
    name: `the preset ${provider}`,
    service: provider,
    start: (options) => startSttServer(options, sttProtocols[provider](options.key)),
    create({ url, key }, means) {
      const settings = { provider, api_key: key, base_url: url };
      return createSttService(sttServices[provider].parse(settings), means);
    },
    pausesMs: [isBySilence(provider) ? 700 : 200],
    wordsMost: 1,
    finals:
      provider === 'speechmatics'
        ? { never: 'given', late: 'given', twice: 'given', empty: 'missing' }
        : { never: 'timeout', late: 'timeout', twice: 'given', empty: 'missing' },
    isOrdering: false,
    // `sarvam` has none.
    hasInterimWords: provider !== 'sarvam',
    hasTimes: hasTimes(provider),
    refusal: (words) => JSON.stringify({ error: words }),
    closes: [[1011, 'network']],
    broken: ['{'],
    unknown: '{"type":"Novelty","message_type":"x"}',
    isAwaited: sttPresets[provider].ready !== undefined,
  });
}

it.each(presets)('%s ends utterances as its service does', async (provider) => {
  const { stt } = await connect(provider);
  const finalize = isBySilence(provider) ? 'by-silence' : 'answered';
  expect(stt.capabilities).toMatchObject({ finalize, interimWords: provider !== 'sarvam' });
});

describe('a service that repeats what it has fixed', () => {
  it('gives no interim words of it', async () => {
    const { rig } = await connect('elevenlabs');
    await rig.turn('w1 w2');
    await rig.silence(3_000);
    expect([rig.text, rig.partials]).toEqual(['w1 w2', ['w1', 'w1 w2']]);
  });
});

describe('Scribe', () => {
  it('gets no more and no longer terms than it takes', async () => {
    const many = Array.from({ length: 60 }, (_, nth) => `Name ${nth}`);
    const keyterms = ['I would like to book an appointment', ...many];
    const { rig, server } = await connect('elevenlabs', { settings: { keyterms } });
    await rig.turn('w1');
    expect([rig.text, rig.errors]).toEqual(['w1', []]);
    const terms = server.sessions[0]?.url.searchParams.getAll('keyterms');
    expect(terms).toEqual(many.slice(0, 50));
  });

  it('has no words where it has too little audio for a commit, and goes on', async () => {
    const { rig, server } = await connect('elevenlabs');
    await rig.turn('w1 w2');
    rig.recognizer.finalize();
    await rig.silence(1_000);
    await rig.turn('w3');
    await rig.silence(500);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1 w2', '', 'w3']);
    expect([rig.errors, server.sessions.length]).toEqual([[], 1]);
  });
});

describe('a recogniser that its user describes', () => {
  it('works as a preset with the same description', async () => {
    const clock = new FakeClock();
    const server = await startSttServer({ clock, key: KEY }, sttProtocols.soniox(KEY));
    const settings = sttServices.websocket_stt.parse({
      provider: 'websocket_stt',
      api_key: KEY,
      base_url: server.url,
      language: 'en',

      model: 'stt-rt-v5',
      description: sttPresets.soniox,
    });
    const rig = new RecognizerRig(clock, createSttService(settings, serviceMeans(clock)));
    opened.push(server, rig.recognizer);
    await settle();
    await rig.turn('w1 w2 w3');
    await rig.silence(500);
    expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2 w3', [], []]);
  });

  it('is not asked at an address that the egress rule forbids', async () => {
    const clock = new FakeClock();
    const baseUrl = 'ws://127.0.0.1:9';
    const settings = sttServices.websocket_stt.parse({
      provider: 'websocket_stt',
      base_url: baseUrl,
      description: sttPresets.soniox,
    });
    const egress = createEgress({ isSignUpOpen: true, allowed: [] });
    const rig = new RecognizerRig(clock, createSttService(settings, serviceMeans(clock, egress)));
    await rig.silence(100);
    expect(rig.fault).toMatchObject({ kind: 'request', service: 'websocket_stt' });
  });
});

describe('what presets send first', () => {
  it.each([
    [
      'soniox',
      { language: 'de', keyterms: ['Byron'] },
      {
        api_key: KEY,
        model: 'stt-rt-v5',
        audio_format: 'mulaw',
        sample_rate: 8_000,

        num_channels: 1,
        language_hints: ['de'],
        enable_endpoint_detection: false,
        context: { terms: ['Byron', 'Ada'] },
      },
    ],
    [
      'speechmatics',
      {},
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'mulaw', sample_rate: 8_000 },
        transcription_config: {
          language: 'en',
          model: 'enhanced',
          max_delay: 1,

          max_delay_mode: 'flexible',
          enable_partials: true,
          additional_vocab: ['Ada'],
        },
      },
    ],
  ] as const)('%s: %j', async (provider, settings, message) => {
    const { server } = await connect(provider, { settings });
    expect(server.sessions[0]?.received[0]).toEqual(message);
  });
});

describe('a request before the connection', () => {
  it('opens a session with the settings, and its token is in no fault', async () => {
    const settings = { language: 'de', region: 'us-west', keyterms: ['Byron'] };
    const faults = { close: { atMs: 200, code: 4_401, reason: 'token-0123456789-1 has expired' } };
    const { rig, server } = await connect('gladia', { settings, faults });
    expect([server.sessions.length, server.violations]).toEqual([1, []]);
    expect(server.sessions[0]?.headers['x-gladia-key']).toBeUndefined();
    await rig.silence(500);
    expect(rig.fault).toMatchObject({ kind: 'auth', detail: '[redacted] has expired' });
  });

  it('is a fault where it is refused, with the words of the service', async () => {
    const { rig } = await connect('gladia', { settings: { model: 'unknown-model' } });
    expect(rig.fault).toMatchObject({
      kind: 'request',
      isPermanent: true,
      detail: 'Unprocessable',
    });
    expect(rig.fault.facts['status']).toBe(422);
  });

  const described = (baseUrl: string, more: object = {}) => {
    const clock = new FakeClock();
    const settings = sttServices.websocket_stt.parse({
      provider: 'websocket_stt',
      api_key: KEY,
      base_url: baseUrl,
      model: 'solaria-1',
      description: { ...sttPresets.gladia, ...more },
    });
    const stt = createSttService(settings, serviceMeans(clock));
    const rig = new RecognizerRig(clock, stt);
    opened.push(rig.recognizer, stt);
    return { rig, clock };
  };

  it.each([
    ['names no address', '{"id":"s"}', 'the answer has no websocket address'],
    ['is no JSON', 'hello', 'the answer has no websocket address'],
    ['names a page', '{"url":"https://a.example/x"}', 'the address of the websocket is invalid'],
    ['names no URL', '{"url":"nothing"}', 'the address of the websocket is invalid'],
  ])('is a fault where the answer %s', async (_what, body, detail) => {
    const post = () => ({ status: 201, body });
    const server = await startSttServer(
      { clock: new FakeClock(), key: KEY },
      { ...sttProtocols.gladia(KEY), post },
    );
    opened.push(server);
    const { rig } = described(server.url);
    await vi.waitFor(() => expect(rig.errors).toHaveLength(1), { timeout: 20_000 });
    expect(rig.fault).toMatchObject({ kind: 'protocol', detail: expect.stringContaining(detail) });
  });

  it('ends with the recogniser', async () => {
    const { rig, clock } = described('ws://127.0.0.1:9');
    rig.recognizer.close();
    await settle();
    expect([rig.errors, clock.timers]).toEqual([[], 0]);
  });

  it('keeps the websocket behind TLS where its own address is', () => {
    const locate = () => Promise.resolve('ws://a.example/x?token=1');
    const clock = new FakeClock();
    const faults: ServiceFault[] = [];
    const { egress } = serviceMeans(clock);
    const socket = new VendorSocket({
      job: 'stt',
      service: 's',
      url: 'wss://a.example',
      secrets: [],
      clock,
      egress,
      locate,
      listener: { onText: () => undefined, onFault: (fault) => faults.push(fault) },
    });
    return settle().then(() => {
      expect(faults.map(({ kind }) => kind)).toEqual(['protocol']);
      socket.close();
    });
  });
});
