// The clients of real protocols behind one another: what one has not confirmed is understood by the next.

import { afterEach, expect, it } from 'vitest';
import { sttServices } from '../../../src/model/speech-services/schemas/stt.ts';
import { CircuitBreaker } from '../../../src/speech/service/circuit-breaker.ts';
import { createSttService } from '../../../src/speech/stt/registry.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { wordOf } from '../../fakes/call/spoken-words.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { startAssemblyAiServer } from '../../fakes/services/assemblyai-server.ts';
import { startDeepgramServer } from '../../fakes/services/deepgram-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import type { SttFaults, SttServer } from '../../fakes/services/stt-server.ts';
import { startVoskServer } from '../../fakes/services/vosk-server.ts';
import { RecognizerRig } from './recognizer-rig.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const KEY = 'key-0123456789';
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, nth) => wordOf(from + nth)).join(' ');

const UNIVERSAL = 'universal-streaming-english';

/** The service of `model` first, behind it one of another vendor. */
async function call(model: string, faults: SttFaults, ofSecond: SttFaults = {}) {
  const clock = new FakeClock();
  const isUniversal = model === UNIVERSAL;
  const ofFirst = [faults, faults, faults];
  const options = { clock, key: KEY };
  const deepgram = await startDeepgramServer({
    ...options,
    faults: isUniversal ? [ofSecond] : ofFirst,
  });
  const assemblyai = await startAssemblyAiServer({
    ...options,
    faults: isUniversal ? ofFirst : [ofSecond],
  });
  const vosk = await startVoskServer({ clock, faults: ofFirst });
  opened.push(deepgram, assemblyai, vosk);
  const means = serviceMeans(clock);
  const universal = sttServices.assemblyai.parse({
    provider: 'assemblyai',
    api_key: KEY,
    base_url: assemblyai.url,
    model: UNIVERSAL,
  });
  const listening = sttServices.deepgram.parse({
    provider: 'deepgram',
    api_key: KEY,
    base_url: deepgram.url,
    model: isUniversal ? 'nova-3' : model,
  });
  const own = sttServices.vosk.parse({ provider: 'vosk', base_url: vosk.url });
  const [first, second] = isUniversal
    ? [universal, listening]
    : [model === 'vosk' ? own : listening, universal];
  const entry = (service: SpeechToText) => ({
    service,
    circuit: new CircuitBreaker({ clock, service: service.name }),
  });
  const services = [entry(createSttService(first, means)), entry(createSttService(second, means))];
  const rig = new RecognizerRig(clock, createSttFallback({ services, clock, log: quietLog().log }));
  opened.push(rig.recognizer);
  return { rig, deepgram, assemblyai, vosk };
}

function isClean(...servers: SttServer[]): boolean {
  return servers.every(({ violations }) => violations.length === 0);
}

const CASES: [string, string, SttFaults][] = [
  ['closes in a word', 'nova-3', { close: { atMs: 1_300, code: 1011 } }],
  ['refuses the key', 'nova-3', { refuse: { status: 401, body: '{}' } }],
  ['closes in place of the final words', 'nova-3', { closeOnFinalize: 1012 }],
  ['stops in the middle of words', 'nova-3', { stallAtMs: 1_500 }],
  ['says nothing at all', 'nova-3', { stallAtMs: 0 }],
  ['sends what is no message', 'nova-3', { send: { atMs: 900, data: '{' } }],
  ['takes interim words back', 'nova-3', { partials: 'shrink' }],
  ['changes interim words', 'nova-3', { partials: 'revise' }],
  ['sends a message of 15 MB', 'nova-3', { send: { atMs: 900, data: 'x'.repeat(15_000_000) } }],
  ['breaks its connections', 'nova-3', { isReset: true }],
  ['answers the connection late', 'nova-3', { connectDelayMs: 5_000 }],
  ['ends its sessions', 'nova-3', { sessionMsMax: 1_500 }],
  ['takes interim words back', 'flux-general-en', { partials: 'shrink' }],
  ['changes interim words', 'flux-general-en', { partials: 'revise' }],
  ['ends its sessions', 'flux-general-en', { sessionMsMax: 1_500 }],
  ['closes in a turn', 'flux-general-en', { close: { atMs: 1_300, code: 1011 } }],
  ['stops in a turn', 'flux-general-en', { stallAtMs: 1_500 }],
  ['is never ready', 'flux-general-en', { ready: 'never' }],
  ['closes in place of the end of a turn', 'flux-general-en', { closeOnFinalize: 1011 }],
  ...[UNIVERSAL, 'vosk'].flatMap((model): [string, string, SttFaults][] => [
    ['closes in a word', model, { close: { atMs: 1_300, code: 1011 } }],
    ['says nothing at all', model, { stallAtMs: 0 }],
    ['says nothing, not even pongs', model, { muteAtMs: 0 }],
    ['stops in the middle of words', model, { stallAtMs: 1_500 }],
    ['closes in place of the final words', model, { closeOnFinalize: 1011 }],
    ['takes interim words back', model, { partials: 'shrink' }],
    ['changes interim words', model, { partials: 'revise' }],
    ['sends a message of 15 MB', model, { send: { atMs: 900, data: 'x'.repeat(15_000_000) } }],
    ['breaks its connections', model, { isReset: true }],
    ['answers the connection late', model, { connectDelayMs: 5_000 }],
    ['ends its sessions', model, { sessionMsMax: 1_500 }],
  ]),
  ['is never ready', UNIVERSAL, { ready: 'never' }],
  ['is ready late', UNIVERSAL, { ready: 'late' }],
];

it.each(CASES)(
  'no word is lost or doubled when the first service %s (%s)',
  async (_w, model, faults) => {
    const { rig, deepgram, assemblyai, vosk } = await call(model, faults);
    await rig.turn(many(9));
    await rig.silence(8_000);
    await rig.turn(many(3, 20));
    await rig.silence(8_000);
    expect(rig.text).toBe(`${many(9)} ${many(3, 20)}`);
    expect(rig.errors).toEqual([]);
    expect(isClean(deepgram, assemblyai, vosk)).toBe(true);
    expect(rig.usage.every(({ amount }) => amount > 0)).toBe(true);
  },
);

it('a replay that waits for its connection is no faster than any other, and loses no word', async () => {
  const closes = { close: { atMs: 3_000, code: 1011 } };
  const { rig, deepgram, assemblyai } = await call('nova-3', closes, { connectDelayMs: 2_300 });
  await rig.turn(many(20));
  await rig.silence(8_000);
  expect(rig.text).toBe(many(20));
  // AssemblyAI ends sessions whose audio comes too fast.
  expect(isClean(deepgram, assemblyai)).toBe(true);
  expect(assemblyai.sessions).toHaveLength(1);
});
