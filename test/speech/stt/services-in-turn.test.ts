// The clients of real protocols behind one another: what one has not confirmed is understood by the next.

import { afterEach, expect, it } from 'vitest';
import { sttServices } from '../../../src/model/speech-services/services.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { wordOf } from '../../fakes/call/spoken-words.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { startAssemblyAiServer } from '../../fakes/services/assemblyai-server.ts';
import { startDeepgramServer } from '../../fakes/services/deepgram-server.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import type { SttFaults, SttServer } from '../../fakes/services/stt-server.ts';
import { startVoskServer } from '../../fakes/services/vosk-server.ts';
import { RecognizerRig } from './recognizer-rig.ts';
import { followedServiceContract } from './streaming/service-contract.ts';

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
    circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
  });
  const services = [entry(createSttService(first, means)), entry(createSttService(second, means))];
  const rig = new RecognizerRig(clock, createSttFallback({ services, clock, log: quietLog().log }));
  opened.push(rig.recognizer);
  return { rig, deepgram, assemblyai, vosk };
}

function isClean(...servers: SttServer[]): boolean {
  return servers.every(({ violations }) => violations.length === 0);
}

// What each of them does with its other faults: streaming/service-contract.ts.
followedServiceContract({
  name: 'Vosk',
  start: startVoskServer,
  create({ url }, means) {
    return createSttService(sttServices.vosk.parse({ provider: 'vosk', base_url: url }), means);
  },
});

const FAULTS: [string, SttFaults][] = [
  ['closes in a word', { close: { atMs: 1_300, code: 1011 } }],
  ['says nothing at all', { stallAtMs: 0 }],
  ['ends its sessions', { sessionMsMax: 1_500 }],
];
const CASES = ['nova-3', 'flux-general-en', UNIVERSAL, 'vosk'].flatMap((model) =>
  FAULTS.map(([what, faults]) => [what, model, faults] as const),
);

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
