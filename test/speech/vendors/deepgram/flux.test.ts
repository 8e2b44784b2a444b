import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { framesOf, wordOf } from '../../../fakes/call/spoken-words.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { startDeepgramServer } from '../../../fakes/services/deepgram-server.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import type { SttFaults, SttServer, SttSession } from '../../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { RecognizerRig } from '../../stt/recognizer-rig.ts';
import { serviceContract } from '../../stt/streaming/service-contract.ts';

const KEY = 'dg-key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(
  given: { faults?: SttFaults; settings?: object; expectation?: typeof OPEN_SPEECH } = {},
): Promise<{ rig: RecognizerRig; server: SttServer; clock: FakeClock }> {
  const clock = new FakeClock();
  const faults = given.faults === undefined ? [] : [given.faults];
  const server = await startDeepgramServer({ clock, key: KEY, faults });
  opened.push(server);
  const settings = sttServices.deepgram.parse({
    provider: 'deepgram',
    api_key: KEY,
    model: 'flux-general-en',
    base_url: server.url,
    ...given.settings,
  });
  const stt = createSttService(settings, serviceMeans(clock));
  const rig = new RecognizerRig(clock, stt, given.expectation);
  opened.push(rig.recognizer);
  for (let i = 0; i < 20 && server.sessions.length + server.refusals.length === 0; i++) {
    await settle();
  }
  return { rig, server, clock };
}

serviceContract({
  name: 'Deepgram flux',
  service: 'deepgram',
  model: 'flux-general-en',
  start: startDeepgramServer,
  create({ url, key }, means) {
    const model = 'flux-general-en';
    const settings = { provider: 'deepgram', api_key: key, base_url: url, model };
    return createSttService(sttServices.deepgram.parse(settings), means);
  },
  endMs: 800,
  // An end without words takes them back.
  finals: { never: 'given', late: 'given', twice: 'given', empty: 'missing' },
  interims: {
    shrink: ['w1', 'w1 w2', 'w1', 'w1 w2 w3'],
    revise: ['w1', 'w1 w2', 'w1 revised', 'w1 w2 w3'],
  },
  refusedKey: 'Invalid credentials.',
  refusal: (words) => JSON.stringify({ err_code: 'X', err_msg: words }),
  closes: [
    [1001, 'network'],
    [1008, 'request'],
    [1011, 'network'],
  ],
  broken: ['{"type":'],
  unknown: '{"type":"Tomorrow","transcript":null}',
  isAwaited: true,
});

const configures = (server: SttServer) =>
  (server.sessions[0]?.received ?? []).filter(({ type }) => type === 'Configure');

describe('Deepgram flux', () => {
  it('connects with the parameters of the turn-based interface alone', async () => {
    const { server } = await connect({
      settings: { model: 'flux-general-multi', language: 'de', eager_eot_threshold: 0.5 },
      expectation: { ...OPEN_SPEECH, boost: ['Gnocchi'], slots: ['digits'] },
    });
    expect(server.refusals).toEqual([]);
    const { url } = server.sessions[0] ?? { url: new URL('ws://none') };
    expect(`${url.pathname}${url.search}`).toBe(
      '/v2/listen?model=flux-general-multi&encoding=mulaw&sample_rate=8000&eot_threshold=0.85' +
        '&eot_timeout_ms=5000&eager_eot_threshold=0.5&language_hint=de&keyterm=Gnocchi',
    );
  });

  it.each([
    ['vendor', 'flux-general-en', 'eager', undefined],
    ['ours', 'flux-general-en', 'none', undefined],
    ['both', 'flux-general-multi', 'eager', true],
    ['both', 'nova-3-general', undefined, undefined],
  ] as const)('leaves turns to %s, with %s, as it is set', (turns, model, own, silence) => {
    const settings = sttServices.deepgram.parse({
      provider: 'deepgram',
      api_key: KEY,
      model,
      turns,
    });
    const { capabilities } = createSttService(settings, serviceMeans(new FakeClock()));
    expect([capabilities.ownTurns, capabilities.silenceEnds]).toEqual([own, silence]);
  });

  it("reports the service's turns, the words before their end", async () => {
    const { rig } = await connect({ settings: { eager_eot_threshold: 0.5 } });
    await rig.says('w1 w2');
    await rig.silence(260);
    await rig.says('w3');
    await rig.silence(700);
    expect(rig.partials).toEqual(['w1', 'w1 w2', 'w1 w2 w3']);
    expect(rig.turns).toEqual([
      ['started', 'w1'],
      ['eager-end', 'w1 w2'],
      ['resumed', 'w1 w2 w3'],
      ['eager-end', 'w1 w2 w3'],
      ['ended', 'w1 w2 w3'],
    ]);
    expect(rig.order.slice(-2)).toEqual(['final', 'ended']);
    expect(rig.finals).toHaveLength(1);
  });

  it('forces the end of an open turn, behind the audio', async () => {
    const { rig, server } = await connect();
    await rig.turn('w1 w2', 20);
    expect(rig.text).toBe('w1 w2');
    const { received, audioMs } = server.sessions[0] ?? { received: [], audioMs: 0 };
    expect(received).toEqual([{ type: 'ForceEndTurn' }]);
    expect(audioMs).toBe(540);
  });

  it('answers with no words where no turn is open, and does not force', async () => {
    const { rig, server } = await connect();
    await rig.silence(600);
    rig.recognizer.finalize();
    await rig.silence(500);
    expect(rig.finals.map(({ text }) => text)).toEqual(['']);
    rig.recognizer.finalize();
    await rig.pause(500);
    expect(rig.finals).toHaveLength(2);
    expect([server.sessions[0]?.received, rig.errors]).toEqual([[], []]);
  });

  it('forces the end of a turn that starts after it was asked for', async () => {
    const { rig } = await connect();
    const word = framesOf('w1');
    await rig.hear(word.slice(0, 8));
    rig.recognizer.finalize();
    await rig.hear(word.slice(8));
    await settle();
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1']);
  });

  it('configures what has changed, one message at a time', async () => {
    const { rig, server } = await connect({ settings: { model: 'flux-general-multi' } });
    const { recognizer } = rig;
    recognizer.expect({ ...OPEN_SPEECH, boost: ['Ada'] });
    recognizer.expect({ ...OPEN_SPEECH, boost: ['Bo'], slots: ['digits'] });
    recognizer.setLanguage?.('fr');
    await rig.silence(200);
    recognizer.expect({ ...OPEN_SPEECH, boost: ['Bo'], slots: ['digits'] });
    await rig.silence(200);
    expect(configures(server)).toEqual([
      { type: 'Configure', keyterms: ['Ada'] },
      {
        type: 'Configure',
        keyterms: ['Bo'],
        thresholds: { eot_threshold: 0.85, eot_timeout_ms: 5_000 },
        language_hints: ['fr'],
      },
    ]);
    expect(server.violations).toEqual([]);
  });

  it('goes on without an answer to Configure', async () => {
    const { rig, server } = await connect({ faults: { stallAtMs: 0 } });
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Ada'] });
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Bo'] });
    await rig.pause(2_000);
    expect(configures(server)).toHaveLength(0);
  });

  it('reports a service that is silent in a turn, though it pongs', async () => {
    const { rig } = await connect({ faults: { stallAtMs: 900 } });
    await rig.says('w1 w2');
    for (let i = 0; i < 20; i++) await rig.says(wordOf(i));
    expect(rig.fault.kind).toBe('timeout');
    expect(rig.clock.monotonicMs()).toBeLessThan(5_800);
  });

  it('sends silence in a turn while the call has no audio, and keeps the time of the call', async () => {
    const { rig } = await connect();
    await rig.says('w1');
    await rig.pause(2_100);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1']);
    await rig.says('w2');
    await rig.silence(600);
    expect(rig.finals[1]?.words).toEqual([{ word: 'w2', startMs: 260, endMs: 460 }]);
    expect(rig.errors).toEqual([]);
  });

  it('ignores a warning, and reports an error in the words of the service', async () => {
    const warning = '{"type":"Warning","code":"FORCE_END_TURN_NO_ACTIVE_TURN","sequence_id":9}';
    const { rig } = await connect({ faults: { send: { atMs: 60, data: warning } } });
    await rig.turn('w1');
    expect([rig.text, rig.errors]).toEqual(['w1', []]);
    const data = '{"type":"Error","code":"INVALID_CONTROL","description":"No."}';
    const other = await connect({ faults: { send: { atMs: 60, data } } });
    await other.rig.silence(200);
    expect(other.rig.fault).toMatchObject({ kind: 'protocol', detail: 'No.' });
    expect(other.rig.fault.facts).toMatchObject({ vendorCode: 'INVALID_CONTROL' });
  });

  it('sends what the vendor’s own SDK sends', async () => {
    const { rig, server } = await connect({
      settings: { model: 'flux-general-multi', language: 'de', eager_eot_threshold: 0.5 },
      expectation: { ...OPEN_SPEECH, boost: ['Gnocchi', 'Penne'] },
    });
    await rig.says('w1 w2');
    await rig.silence(600);
    rig.recognizer.expect({ ...OPEN_SPEECH, boost: ['Penne'], slots: ['digits'] });
    await rig.turn('w3');
    rig.recognizer.close();
    const [session] = server.sessions as [SttSession];
    await vi.waitFor(() => expect(session.isOpen).toBe(false));
    const { received: messages } = session;
    expect(capturedRequest(session, { key: KEY, headers: ['authorization'], messages })).toEqual(
      sdkRequest('deepgram/listen-v2'),
    );
  });
});
