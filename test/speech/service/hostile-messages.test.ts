// Messages of a server that its owner means to harm others with. Anybody may name a server of their own as a service, and
// a value that is neither text nor number (`{"toString": 1, "valueOf": 1}`) where a client makes a text of it was an error
// in the event of a socket: it ended the process with the calls of all organizations.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { sttServices, ttsServices } from '../../../src/model/speech-services/services.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { createTtsService } from '../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { startSocketService } from '../../fakes/services/service-socket.ts';
import { RecognizerRig } from '../stt/recognizer-rig.ts';
import { HeardUtterance } from '../tts/heard-utterance.ts';

const NO_TEXT = { toString: 1, valueOf: 1 };
const UNREADABLE = ['protocol', 'a message that cannot be read'];
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** It sends `message` after each message that it gets, and as soon as it is open. */
async function server(message: object) {
  const service = await startSocketService({
    onConnection({ socket }) {
      socket.on('message', () => socket.send(JSON.stringify(message)));
      socket.send(JSON.stringify(message));
    },
  });
  opened.push(service);
  return service;
}

describe('a message that a client cannot read', () => {
  it.each([
    ['deepgram', 'nova-3-general', { type: 'Error', description: NO_TEXT }],
    ['deepgram', 'flux-general-en', { type: 'Error', code: NO_TEXT }],
    ['assemblyai', undefined, { type: 'Error', error_code: NO_TEXT }],
  ] as const)('is a fault of the recogniser %s (%s)', async (provider, model, message) => {
    const { url } = await server(message);
    const row = { provider, api_key: 'key-1234', base_url: url, model };
    const clock = new FakeClock();
    const rig = new RecognizerRig(
      clock,
      createSttService(sttServices[provider].parse(row), serviceMeans(clock)),
    );
    opened.push(rig.recognizer);
    await vi.waitFor(() => expect(rig.errors).toHaveLength(1));
    expect([rig.fault.kind, rig.fault.detail]).toEqual(UNREADABLE);
  });

  it.each([
    [
      'cartesia',
      { context_id: 'u1', type: 'timestamps' },
      { word_timestamps: { words: ['a'], start: [NO_TEXT], end: [1] } },
    ],
    [
      'elevenlabs',
      { contextId: 'u1' },
      { alignment: { chars: ['a'], charStartTimesMs: [NO_TEXT], charDurationsMs: [1] } },
    ],
  ] as const)('is a fault of the voice %s', async (provider, head, rest) => {
    const { url } = await server({ ...head, ...rest });
    const row = { provider, api_key: 'key-1234', base_url: url.replace('ws', 'http') };
    const settings = ttsServices[provider].parse(row);
    const tts = createTtsService(settings, serviceMeans(new FakeClock()));
    opened.push(tts);
    const heard = new HeardUtterance();
    const stream = tts.stream?.(undefined, heard);
    stream?.push('Hello there.');
    await heard.over.promise;
    const { end } = heard;
    expect(end instanceof ServiceFault && [end.kind, end.detail]).toEqual(UNREADABLE);
  });
});

describe('a count of a service', () => {
  it('that no call can have is not taken', async () => {
    const { url } = await server({ type: 'Metadata', duration: 1e307 });
    const row = { provider: 'deepgram', api_key: 'key-1234', base_url: url };
    const clock = new FakeClock();
    const stt = createSttService(sttServices.deepgram.parse(row), serviceMeans(clock));
    const rig = new RecognizerRig(clock, stt);
    opened.push(rig.recognizer);
    await vi.waitFor(() => expect(rig.recognizer.isReady).toBe(true));
    await rig.silence(1_000);
    await rig.recognizer.finish?.();
    expect(rig.usage).toMatchObject([{ amount: 1, source: 'counted' }]);
  });
});
