import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { readFrame } from '../../../../src/speech/vendors/azure/azure-stt.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { startAzureStt } from '../../../fakes/services/azure-stt-server.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import type { SttFaults, SttSession } from '../../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { RecognizerRig } from '../../stt/recognizer-rig.ts';
import { serviceContract } from '../../stt/streaming/service-contract.ts';
import { AZURE_HEADERS, contextsIn } from './sdk-context.ts';

const KEY = 'azure-key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(given: { faults?: SttFaults; status?: string; settings?: object } = {}) {
  const clock = new FakeClock();
  const { faults, status } = given;
  const server = await startAzureStt({
    clock,
    key: KEY,
    faults: faults === undefined ? [] : [faults],
    ...(status !== undefined && { status }),
  });
  const settings = sttServices.azure_speech.parse({
    provider: 'azure_speech',
    api_key: KEY,
    base_url: server.url,
    ...given.settings,
  });
  const stt = createSttService(settings, serviceMeans(clock));
  const rig = new RecognizerRig(clock, stt, { ...OPEN_SPEECH, boost: ['Ada'] });
  opened.push(server, rig.recognizer);
  await settle();
  return { rig, server };
}

serviceContract({
  name: 'Azure Speech',
  service: 'azure_speech',
  start: startAzureStt,
  create({ url, key }, means) {
    const settings = { provider: 'azure_speech', api_key: key, base_url: url };
    return createSttService(sttServices.azure_speech.parse(settings), means);
  },
  pausesMs: [500],
  wordsMost: 1,
  finals: { never: 'timeout', twice: 'given' },
  isOrdering: false,
  closes: [
    [1007, 'request'],
    [1011, 'network'],
  ],
  broken: ['nonsense'],
  unknown: 'X-RequestId:1\r\nPath:novelty\r\n\r\n{"a":1}',
});

describe('Azure Speech as a recogniser', () => {
  it('connects with its settings, and sends the format of a line and its vocabulary', async () => {
    const { server } = await connect({ settings: { keyterms: ['Byron'] } });
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
  });

  it('says how sure it is of a phrase', async () => {
    const { rig } = await connect();
    await rig.turn('w1 w2');
    await rig.silence(1_500);
    expect(rig.finals).toMatchObject([{ text: 'w1 w2', confidence: 0.9 }]);
    expect(rig.partials).toEqual(['w1', 'w1 w2']);
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

  it('reports a used-up account by the words of the close', async () => {
    const close = { atMs: 300, code: 1007, reason: 'Quota exceeded. Cid: ' };
    const { rig } = await connect({ faults: { close } });
    await rig.turn('w1 w2');
    expect(rig.fault.kind).toBe('quota');
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
