import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/schemas/stt.ts';
import { CircuitBreaker } from '../../../../src/speech/service/circuit-breaker.ts';
import { readFrame } from '../../../../src/speech/stt/azure/usp.ts';
import { createSttService } from '../../../../src/speech/stt/registry.ts';
import { createSttFallback } from '../../../../src/speech/stt/stt-fallback.ts';
import { wordOf } from '../../../fakes/call/spoken-words.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { startAzureStt } from '../../../fakes/services/azure-stt-server.ts';
import { RecognizingService } from '../../../fakes/services/recognizing-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import type { SttFaults, SttSession } from '../../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { RecognizerRig } from '../recognizer-rig.ts';
import { AZURE_HEADERS, contextsIn } from './sdk-context.ts';

const KEY = 'azure-key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(
  given: { faults?: SttFaults; status?: string; settings?: object; withFallback?: boolean } = {},
) {
  const clock = new FakeClock();
  const { faults, status } = given;
  const server = await startAzureStt({
    clock,
    key: KEY,
    faults: faults === undefined ? [] : [faults, faults, faults],
    ...(status !== undefined && { status }),
  });
  const settings = sttServices.azure_speech.parse({
    provider: 'azure_speech',
    api_key: KEY,
    base_url: server.url,
    ...given.settings,
  });
  const stt = createSttService(settings, serviceMeans(clock));
  const services = [stt, new RecognizingService({ clock, name: 'next' })].map((service) => ({
    service,
    circuit: new CircuitBreaker({ clock, service: service.name }),
  }));
  const used =
    given.withFallback === true ? createSttFallback({ services, clock, log: quietLog().log }) : stt;
  const rig = new RecognizerRig(clock, used, { ...OPEN_SPEECH, boost: ['Ada'] });
  opened.push(server, rig.recognizer);
  await settle();
  return { rig, server };
}

describe('Azure Speech as a recogniser', () => {
  it('recognises two turns with the times of their words', async () => {
    const { rig, server } = await connect({ settings: { keyterms: ['Byron'] } });
    await rig.silence(400);
    await rig.turn('w1 w2');
    await rig.silence(1_500);
    await rig.turn('w3');
    await rig.silence(1_500);
    expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2 w3', [], []]);
    expect(rig.partials).toEqual(['w1', 'w1 w2', 'w3']);
    expect(rig.finals[0]).toMatchObject({ text: 'w1 w2', confidence: 0.9 });
    const words = rig.finals.flatMap((final) => final.words ?? []);
    expect(words.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [400, 600],
      [660, 860],
      [2_620, 2_820],
    ]);
    const [session] = server.sessions;
    expect(Object.fromEntries(session?.url.searchParams ?? [])).toEqual({
      language: 'en-US',
      format: 'detailed',
      wordLevelTimestamps: 'true',

      profanity: 'raw',
      segmentationSilenceTimeoutMs: '300',
    });
    expect(server.bodies.map(([path]) => path)).toEqual(['speech.config', 'speech.context']);
    expect(server.bodies[0]?.[1]).toMatchObject({
      context: { audio: { source: { bitspersample: 8, samplerate: 8_000, channelcount: 1 } } },
    });
    expect(server.bodies[1]?.[1]).toMatchObject({
      dgi: { groups: [{ type: 'Generic', items: [{ text: 'Byron' }, { text: 'Ada' }] }] },
    });
    rig.recognizer.close();
    expect(rig.usage).toMatchObject([{ service: 'azure_speech', unit: 'seconds' }]);
  });

  it('understands 200 turns, each word once', async () => {
    const { rig, server } = await connect();
    const turns = Array.from({ length: 200 }, (_, nth) => wordOf(nth));
    for (const turn of turns) await rig.turn(turn, 500);
    await rig.silence(1_000);
    expect([rig.errors, server.violations]).toEqual([[], []]);
    expect(rig.text).toBe(turns.join(' '));
  });

  it('ends its audio with the call, for which the service ends the phrase', async () => {
    const { rig, server } = await connect();
    await rig.says('w1 w2');
    await rig.recognizer.finish?.();
    expect([rig.finals.length, rig.errors, server.violations]).toEqual([1, [], []]);
    expect(rig.finals[0]).toMatchObject({ text: 'w1 w2', confidence: 0.9 });
    expect(rig.finals[0]?.words?.map(({ word }) => word)).toEqual(['w1', 'w2']);
    expect(server.sessions[0]?.packetsMs.at(-1)).toBe(0);
  });

  it('sends what the vendor’s own SDK sends', async () => {
    const { server } = await connect({ settings: { language: 'de-DE', keyterms: ['Penne'] } });
    const [session] = server.sessions as [SttSession];
    const messages = contextsIn(server);
    const sent = capturedRequest(session, { key: KEY, headers: AZURE_HEADERS, messages });
    expect(sent).toEqual(sdkRequest('azure/speech-recognition'));
  });

  it('answers finalize in silence once, and a repeated phrase counts once', async () => {
    const { rig } = await connect({ faults: { finals: 'twice' } });
    await rig.turn('w1 w2');
    await rig.silence(1_000);
    rig.recognizer.finalize();
    await rig.silence(3_000);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1 w2', '']);
  });

  it('gives every word once where a phrase comes before the one in front of it', async () => {
    const { rig } = await connect({ faults: { finals: 'swapped' } });
    await rig.turn('w1 w2', 400);
    await rig.turn('w3', 400);
    await rig.silence(1_000);
    expect(rig.text.split(' ').sort()).toEqual(['w1', 'w2', 'w3']);
    expect(rig.errors).toEqual([]);
  });

  it.each([
    ['TooManyRequests', 'rate'],
    ['BadRequest', 'request'],
    ['Forbidden', 'quota'],
    ['Error', 'overload'],
  ])('reports a phrase with %s as %s', async (status, kind) => {
    const { rig } = await connect({ status });
    await rig.turn('w1 w2');
    await rig.silence(500);
    expect(rig.fault).toMatchObject({ kind, detail: status, service: 'azure_speech' });
  });

  it.each<[SttFaults, string]>([
    [{ refuse: { status: 401, body: '' } }, 'auth'],
    [{ refuse: { status: 403, body: '' } }, 'forbidden'],
    [{ refuse: { status: 429, body: '' } }, 'rate'],
    [{ close: { atMs: 300, code: 1007 } }, 'request'],
    [{ close: { atMs: 300, code: 1007, reason: 'Quota exceeded. Cid: ' } }, 'quota'],
    [{ close: { atMs: 300, code: 1011 } }, 'network'],
    [{ send: { atMs: 300, data: 'nonsense' } }, 'protocol'],
    [{ finals: 'never' }, 'timeout'],
  ])('reports %j as %s', async (faults, kind) => {
    const { rig } = await connect({ faults });
    await rig.turn('w1 w2');
    await rig.silence(4_000);
    expect(rig.fault.kind).toBe(kind);
  });

  it.each<[string, SttFaults]>([
    ['closes in a word', { close: { atMs: 1_300, code: 1011 } }],
    ['says nothing at all', { stallAtMs: 0 }],
    ['closes in place of the final words', { closeOnFinalize: 1011 }],
    ['takes interim words back', { partials: 'shrink' }],
    ['changes interim words', { partials: 'revise' }],
    ['ends its sessions', { sessionMsMax: 1_500 }],
  ])('loses and doubles no word when it %s and another service goes on', async (_, faults) => {
    const { rig } = await connect({ faults, withFallback: true });
    await rig.turn('w1 w2 w3 w4 w5 w6 w7 w8 w9');
    await rig.silence(9_000);
    await rig.turn('w20 w21');
    await rig.silence(6_000);
    expect([rig.text, rig.errors]).toEqual(['w1 w2 w3 w4 w5 w6 w7 w8 w9 w20 w21', []]);
  });

  it('reads any text as a frame or as none', () => {
    expect(readFrame('X-RequestId:1\r\nPath:turn.start\r\n\r\n{"a":1}')).toEqual({
      a: 1,
      path: 'turn.start',
    });
    expect(readFrame('Path: turn.end\r\n\r\n')).toEqual({ path: 'turn.end' });
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readFrame(text)));
  });
});
