// Presets of recognisers against what the vendors' own SDKs send (test/oracles, fixtures/wire).

import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import type { SttPreset } from '../../../fakes/described/presets.ts';
import { sttProtocols } from '../../../fakes/described/stt-servers.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { type SttServer, startSttServer } from '../../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

const KEY = 'key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function open(provider: SttPreset, given: object = {}) {
  const clock = new FakeClock();
  const server = await startSttServer({ clock, key: KEY }, sttProtocols[provider](KEY));
  const settings = { provider, api_key: KEY, base_url: server.url, language: 'de', ...given };
  const stt = createSttService(
    sttServices[provider].parse({ ...settings, keyterms: ['Penne'] }),
    serviceMeans(clock),
  );
  const rig = new RecognizerRig(clock, stt, { ...OPEN_SPEECH, boost: ['Ada'] });
  opened.push(server, rig.recognizer);
  await vi.waitFor(() => expect(server.sessions).toHaveLength(1), { timeout: 20_000 });
  return { rig, server };
}

function sent({ sessions }: SttServer) {
  const [session] = sessions;
  if (session === undefined) throw new Error('no session');
  const { received: messages } = session;
  return { ...capturedRequest(session, { key: KEY, headers: [], messages }) };
}

describe('what the vendor’s own SDK sends', () => {
  it('is what the preset soniox sends', async () => {
    const { rig, server } = await open('soniox');
    await rig.pause(5_100);
    await rig.turn('w1');
    expect(sent(server)).toEqual(sdkRequest('soniox/transcribe-websocket'));
    expect(server.sessions[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('is what the preset speechmatics sends, which has its key in a header', async () => {
    const { rig, server } = await open('speechmatics');
    await rig.turn('w1');
    await rig.silence(200);
    expect(sent(server)).toEqual({ ...sdkRequest('speechmatics/real-time'), query: {} });
    expect(server.sessions[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('is what the preset sarvam sends, whatever its audio', async () => {
    const { rig, server } = await open('sarvam', { language: 'hi-IN', model: 'saaras:v3' });
    await rig.turn('w1 w2');
    const [session] = server.sessions as [SttServer['sessions'][0]];
    const silent = session.received.map((message) =>
      message['audio'] ? { audio: { ...message['audio'], data: '' } } : message,
    );
    const messages = [...new Set(silent.map((message) => JSON.stringify(message)))];
    const options = { key: KEY, headers: ['api-subscription-key'] };
    expect(
      capturedRequest(session, { ...options, messages: messages.map((each) => JSON.parse(each)) }),
    ).toEqual(sdkRequest('sarvam/speech-to-text'));
  });

  it('is what the preset gladia sends, but for acknowledgments', async () => {
    const { server } = await open('gladia', { region: 'eu-west' });
    const [post] = server.posts as [SttServer['posts'][0]];
    const options = { key: KEY, headers: ['x-gladia-key'], messages: [post.body] };
    const sdk = sdkRequest('gladia/live');
    const [body] = sdk.messages as [{ messages_config: object }];
    const config = { ...body.messages_config, receive_acknowledgments: false };
    const messages = [{ ...body, messages_config: config }];
    expect(capturedRequest(post, options)).toEqual({ ...sdk, messages });
  });
});
