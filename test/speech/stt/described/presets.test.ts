// Every preset of a recogniser against its service's own messages, which the fake has from the vendor's reference.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import {
  type SttPreset,
  sttPresetServices,
} from '../../../../src/model/speech-services/schemas/described-stt.ts';
import { sttServices } from '../../../../src/model/speech-services/schemas/stt.ts';
import { CircuitBreaker } from '../../../../src/speech/service/circuit-breaker.ts';
import { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { VendorSocket } from '../../../../src/speech/service/vendor-socket.ts';
import { sttPresets } from '../../../../src/speech/stt/described/stt-presets.ts';
import { createSttService } from '../../../../src/speech/stt/registry.ts';
import { createSttFallback } from '../../../../src/speech/stt/stt-fallback.ts';
import { wordOf } from '../../../fakes/call/spoken-words.ts';
import { sttProtocols } from '../../../fakes/described/stt-servers.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { RecognizingService } from '../../../fakes/services/recognizing-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { type SttFaults, startSttServer } from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

const KEY = 'key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(
  provider: SttPreset,
  given: { faults?: SttFaults; settings?: object; withFallback?: boolean } = {},
) {
  const clock = new FakeClock();
  const { faults } = given;
  const server = await startSttServer(
    { clock, key: KEY, faults: faults === undefined ? [] : [faults, faults, faults] },
    sttProtocols[provider](KEY),
  );
  const settings = sttPresetServices[provider].parse({
    provider,
    api_key: KEY,
    base_url: server.url,
    ...given.settings,
  });
  const stt = createSttService(settings, serviceMeans(clock));
  const next = new RecognizingService({ clock, name: 'next' });
  const entry = (service: typeof stt) => ({
    service,
    circuit: new CircuitBreaker({ clock, service: service.name }),
  });
  const services = [entry(stt), entry(next)];
  const used =
    given.withFallback === true ? createSttFallback({ services, clock, log: quietLog().log }) : stt;
  const rig = new RecognizerRig(clock, used, { ...OPEN_SPEECH, boost: ['Ada'] });
  opened.push(server, rig.recognizer, stt);
  await settle();
  if (sttPresets[provider].session !== undefined) {
    // The request takes real time, of which the clock knows nothing.
    const isOver = () =>
      server.sessions.length > 0 ||
      rig.errors.length > 0 ||
      next.sessions.length > 0 ||
      // The clock stands still.
      (faults?.connectDelayMs !== undefined && server.posts.length > 0);
    await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000, interval: 2 });
  }
  return { rig, server, stt, next, clock };
}

const presets = Object.keys(sttPresetServices) as SttPreset[];
const bySilence = new Set<SttPreset>(['gladia', 'xai', 'vapi_transcriber', 'jambonz_stt']);
const wordless = new Set<SttPreset>(['sarvam', 'vapi_transcriber', 'jambonz_stt']);

describe.each(presets)('the preset %s', (provider) => {
  it('recognises two turns, each word once, and bills them', async () => {
    const { rig, server } = await connect(provider);
    await rig.silence(400);
    await rig.turn('w1 w2 w3 w4');
    await rig.silence(1_500);
    await rig.turn('w5 w6');
    await rig.silence(1_500);
    expect([rig.errors, server.violations]).toEqual([[], []]);
    expect(rig.text).toBe('w1 w2 w3 w4 w5 w6');
    if (provider !== 'sarvam') expect(rig.partials[0]).toBe('w1');
    const times = rig.finals.flatMap(({ words }) => words ?? []);
    if (!wordless.has(provider)) {
      expect(times.map(({ startMs }) => startMs)).toEqual([400, 660, 920, 1_180, 3_140, 3_400]);
    }
    rig.recognizer.close();
    await settle();
    expect(rig.usage).toMatchObject([{ service: provider, unit: 'seconds' }]);
    expect(rig.usage[0]?.amount).toBeGreaterThan(5);
    expect(server.violations).toEqual([]);
  });

  it('understands 200 turns, each word once', async () => {
    const { rig, server } = await connect(provider);
    const turns = Array.from({ length: 200 }, (_, nth) => wordOf(nth));
    for (const turn of turns) {
      await rig.turn(turn, bySilence.has(provider) ? 700 : 200);
      // The demand for final words is behind the audio.
      await rig.silence(100);
    }
    await rig.silence(1_500);
    expect([rig.errors, server.violations]).toEqual([[], []]);
    expect(rig.text).toBe(turns.join(' '));
  });

  it('answers finalize in silence once, with no words', async () => {
    const { rig } = await connect(provider);
    await rig.silence(500);
    rig.recognizer.finalize();
    await rig.silence(2_600);
    expect(rig.finals.map(({ text }) => text)).toEqual(['']);
    expect(rig.errors).toEqual([]);
  });

  it('never gives words twice, and reports final words that do not come', async () => {
    for (const finals of ['never', 'late', 'twice', 'empty'] as const) {
      const { rig } = await connect(provider, { faults: { finals } });
      await rig.turn('w1 w2');
      await rig.silence(5_000);
      const kinds = rig.errors.map((error) => error instanceof ServiceFault && error.kind);
      const isLost = rig.text === '' && (finals === 'empty' || kinds[0] === 'timeout');
      const isWhole = rig.text === 'w1 w2' && kinds.length === 0;
      const isSilent = provider === 'sarvam' && rig.text === '';
      expect([finals, rig.text, kinds, isWhole || isLost || isSilent]).toEqual([
        ...[finals, rig.text, kinds],
        true,
      ]);
      if (finals === 'twice') expect(isWhole).toBe(true);
    }
  });

  it('gives every word once where final words come before those in front of them', async () => {
    const { rig, server } = await connect(provider, { faults: { finals: 'swapped' } });
    for (const turn of ['w1', 'w2', 'w3', 'w4']) {
      await rig.turn(turn, 400);
      // The demand for final words is behind the audio.
      await rig.silence(100);
    }
    await rig.silence(4_000);
    expect([rig.errors, server.violations]).toEqual([[], []]);
    expect(rig.text.split(' ').sort()).toEqual(['w1', 'w2', 'w3', 'w4']);
  });

  // `sarvam` has no interim words.
  it.skipIf(provider === 'sarvam').each([
    ['shrink', ['w1', 'w1 w2 w3']],
    ['revise', ['w1', 'w1 revised', 'w1 w2 w3']],
  ] as const)('has the words that are fixed where interim words %s', async (partials, seen) => {
    const { rig, server } = await connect(provider, { faults: { partials } });
    await rig.turn('w1 w2 w3 w4');
    await rig.silence(1_500);
    expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2 w3 w4', [], []]);
    expect(rig.partials.slice(0, seen.length)).toEqual(seen);
  });

  it('reports a refused key without the key', async () => {
    const { rig } = await connect(provider, { settings: { api_key: 'wrong-key-98765' } });
    await rig.silence(100);
    expect(rig.fault).toMatchObject({ kind: 'auth', isPermanent: true, service: provider });
    expect(JSON.stringify([rig.fault.facts, rig.fault.detail])).not.toContain('wrong-key');
  });

  it('reports a connection that closes, a message that is none, and a full service', async () => {
    const closed = await connect(provider, { faults: { close: { atMs: 300, code: 1011 } } });
    await closed.rig.turn('w1 w2');
    expect(closed.rig.fault.kind).toBe('network');
    const broken = await connect(provider, { faults: { send: { atMs: 300, data: '{' } } });
    await broken.rig.turn('w1 w2');
    expect(broken.rig.fault.kind).toBe('protocol');
    const refuse = { status: 429, body: '{"error":"slow down"}' };
    const full = await connect(provider, { faults: { refuse } });
    await full.rig.silence(100);
    expect(full.rig.fault).toMatchObject({ kind: 'rate', detail: 'slow down' });
  });

  it.each<[string, SttFaults]>([
    ['closes in a word', { close: { atMs: 1_300, code: 1011 } }],
    ['says nothing at all', { stallAtMs: 0 }],
    ['closes in place of the final words', { closeOnFinalize: 1011 }],
    ['says nothing, not even pongs', { muteAtMs: 0 }],
    ['sends a message of 15 MB', { send: { atMs: 900, data: 'x'.repeat(15_000_000) } }],
    ['breaks its connections', { isReset: true }],
    ['answers the connection late', { connectDelayMs: 5_000 }],
    ['ends its sessions', { sessionMsMax: 1_500 }],
  ])('loses and doubles no word when it %s and another service goes on', async (_, faults) => {
    const { rig, next } = await connect(provider, { faults, withFallback: true });
    await rig.turn('w1 w2 w3 w4 w5 w6 w7 w8 w9');
    await rig.silence(9_000);
    await rig.turn('w20 w21');
    await rig.silence(6_000);
    expect(rig.text).toBe('w1 w2 w3 w4 w5 w6 w7 w8 w9 w20 w21');
    expect(rig.errors).toEqual([]);
    expect(next.sessions.length).toBeGreaterThan(0);
  });

  it('goes on after messages that it does not know, and after binary ones', async () => {
    for (const data of ['{"type":"Novelty","message_type":"x"}', new Uint8Array(400)]) {
      const { rig } = await connect(provider, { faults: { send: { atMs: 300, data } } });
      await rig.turn('w1 w2 w3 w4');
      await rig.silence(1_500);
      expect([rig.text, rig.errors]).toEqual(['w1 w2 w3 w4', []]);
    }
  });

  it.skipIf(sttPresets[provider].ready === undefined)(
    'waits for the message that it is ready, and reports one that does not come',
    async () => {
      const late = await connect(provider, { faults: { ready: 'late' } });
      await late.rig.turn('w1 w2 w3 w4 w5 w6');
      await late.rig.silence(2_000);
      expect([late.rig.text, late.rig.errors]).toEqual(['w1 w2 w3 w4 w5 w6', []]);
      expect(late.server.violations).toEqual([]);
      const never = await connect(provider, { faults: { ready: 'never' } });
      await never.rig.turn('w1 w2');
      await never.rig.silence(3_000);
      expect(never.rig.fault.kind).toBe('timeout');
    },
  );

  it('ends utterances as its service does', async () => {
    const { stt } = await connect(provider);
    const finalize = bySilence.has(provider) ? 'by-silence' : 'answered';
    expect(stt.capabilities).toMatchObject({ finalize, interimWords: provider !== 'sarvam' });
  });
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
