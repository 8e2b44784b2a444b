import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { wordOf } from '../../../fakes/call/spoken-words.ts';
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

const said = (count: number, from = 0) =>
  Array.from({ length: count }, (_, nth) => wordOf(from + nth)).join(' ');

serviceContract({
  name: 'Deepgram nova',
  service: 'deepgram',
  model: 'nova-3-general',
  start: startDeepgramServer,
  create({ url, key }, means) {
    const settings = { provider: 'deepgram', api_key: key, base_url: url };
    return createSttService(sttServices.deepgram.parse(settings), means);
  },
  finals: { never: 'given', late: 'given', twice: 'given', empty: 'missing' },
  // A word taken back is given again.
  interims: { shrink: ['w1', 'w1', 'w1 w2 w3'], revise: ['w1', 'w1 revised', 'w1 w2 w3'] },
  refusedKey: 'Invalid credentials.',
  refusal: (words) => JSON.stringify({ err_code: 'X', err_msg: words }),
  closes: [
    [1001, 'network'],
    [1008, 'request'],
    [1011, 'network'],
  ],
  broken: ['{"type":', '{"type":"Results","start":"?"}'],
  unknown: '{"type":"Tomorrow","transcript":null}',
});

describe('Deepgram nova', () => {
  it('connects with the parameters of a telephone line, the key in a header', async () => {
    const { server } = await connect({
      settings: {
        language: 'en-US',
        keyterms: ['Ada'],
        tag: 'org-1',
        extra_query: { redact: 'pci' },
      },
      expectation: { ...OPEN_SPEECH, boost: ['Gnocchi'], phrases: ['sales'] },
    });
    expect(server.refusals).toEqual([]);
    const { url } = server.sessions[0] ?? { url: new URL('ws://none') };
    expect(`${url.pathname}${url.search}`).toBe(
      '/v1/listen?model=nova-3-general&encoding=mulaw&sample_rate=8000&channels=1' +
        '&interim_results=true&punctuate=true&smart_format=false&numerals=true&endpointing=300' +
        '&vad_events=false&mip_opt_out=false&profanity_filter=false&language=en-US' +
        '&keyterm=Ada&keyterm=sales&keyterm=Gnocchi&tag=org-1&redact=pci',
    );
  });

  it('gives partials, and joins what was fixed before with the answer to Finalize', async () => {
    const { rig, server } = await connect();
    await rig.turn(said(6));
    expect(rig.partials).toContain('w0 w1');
    expect(rig.finals.map(({ text }) => text)).toEqual(['w0 w1 w2 w3', 'w4 w5']);
    expect(rig.finals[1]).toEqual({
      text: 'w4 w5',
      confidence: 0.98,
      language: 'en',
      words: [
        { word: 'w4', startMs: 1_040, endMs: 1_240 },
        { word: 'w5', startMs: 1_300, endMs: 1_500 },
      ],
    });
    expect(server.violations).toEqual([]);
  });

  it('takes an empty answer to Finalize as the answer', async () => {
    const { rig } = await connect();
    await rig.says(said(2));
    await rig.silence(600);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w0 w1']);
    rig.recognizer.finalize();
    await settle();
    expect(rig.finals.map(({ text }) => text)).toEqual(['w0 w1', '']);
  });

  it('answers by itself where the service had no audio to finalize', async () => {
    const { rig } = await connect();
    await rig.turn(said(1));
    rig.recognizer.finalize();
    await rig.pause(900);
    expect(rig.finals).toHaveLength(1);
    await rig.pause(200);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w0', '']);
    expect(rig.errors).toEqual([]);
  });

  it('gives words without detected speech once the service has seen a pause', async () => {
    const { rig } = await connect();
    const { recognizer } = rig;
    recognizer.finalize();
    await rig.pause(1_100);
    rig.finals.length = 0;
    recognizer.speechStarted = () => undefined;
    await rig.says(said(5));
    expect(rig.finals).toEqual([]);
    await rig.silence(400);
    expect(rig.finals.map(({ text }) => text)).toEqual([said(5)]);
  });

  it('stays connected for a minute without audio', async () => {
    const { rig, server } = await connect();
    await rig.silence(100);
    await rig.pause(60_000);
    expect(rig.errors).toEqual([]);
    expect(server.sessions[0]?.received.filter(({ type }) => type === 'KeepAlive').length).toBe(15);
  });

  // Late answers to Finalize were taken for answers to the next one, and cleared its words.
  it('takes a late answer to Finalize for none of the next turn', async () => {
    const { rig } = await connect({ faults: { finals: 'late' } });
    for (const turn of ['w0 w1', 'w2', 'w3 w4']) {
      await rig.turn(turn);
      await rig.silence(1_900);
    }
    await rig.silence(4_000);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w0 w1', 'w2', 'w3 w4']);
    expect(rig.errors).toEqual([]);
  });

  it.each([0, 100])('reports a service that stopped %d ms before the first words', async (ms) => {
    const { rig } = await connect({ faults: { muteAtMs: 1_000 + ms } });
    await rig.silence(1_000);
    await rig.turn(said(4));
    await rig.pause(1_100);
    expect([rig.fault.kind, rig.finals]).toEqual(['timeout', []]);
  });

  it('reports a service that stopped after it had fixed all words but the last', async () => {
    const { rig } = await connect({ faults: { muteAtMs: 1_050 } });
    await rig.turn(said(5), 80);
    await rig.pause(1_100);
    expect([rig.text, rig.fault.kind]).toEqual(['w0 w1 w2 w3', 'timeout']);
  });

  // A recogniser that was given replayed audio in large packets fixed four words when it had half of the fifth, and the
  // client left the fifth out as one that was fixed before.
  it('keeps a word that begins before the end of what the service has fixed', async () => {
    const { rig, server } = await connect();
    await rig.silence(1_500);
    const [session] = server.sessions as [SttSession];
    const results = (of: { start: number; duration: number }, word: object) => ({
      type: 'Results',
      ...of,
      is_final: true,
      channel: { alternatives: [{ transcript: Object.values(word)[0], words: [word] }] },
    });
    rig.recognizer.speechStarted();
    const one = results({ start: 0, duration: 1 }, { word: 'one', start: 0.2, end: 0.6 });
    const two = results({ start: 1, duration: 0.5 }, { word: 'two', start: 0.7, end: 1.2 });
    for (const message of [one, two, two, one]) session.send(message);
    await vi.waitFor(() => expect(rig.text).toBe('one two'));
    await settle();
    expect([rig.text, rig.errors]).toEqual(['one two', []]);
  });

  it('keeps interim words that begin where a final before them ends, however that is rounded', async () => {
    const { rig, server } = await connect();
    await rig.silence(1_500);
    const [session] = server.sessions as [SttSession];
    const results = (start: number, duration: number, transcript: string, isFinal: boolean) => ({
      type: 'Results',
      start,
      duration,
      is_final: isFinal,
      channel: { alternatives: [{ transcript, words: [] }] },
    });
    rig.recognizer.speechStarted();
    session.send(results(2.3, 0.5, 'two', false));
    // 2.1 + 0.2 is more than 2.3.
    session.send(results(2.1, 0.2, 'one', true));
    session.send(results(3, 0.5, '', false));
    await vi.waitFor(() => expect(rig.text).toBe('one'));
    rig.recognizer.finalize();
    await vi.waitFor(() => expect(rig.text).toBe('one two'));
    expect(rig.errors).toEqual([]);
  });

  it('is null-safe', async () => {
    const alternatives = [{ transcript: null, confidence: null, words: null, languages: null }];
    const results = { type: 'Results', start: 0, duration: 1, is_final: null };
    const data = JSON.stringify({ ...results, channel: { alternatives } });
    const { rig } = await connect({ faults: { send: { atMs: 60, data } } });
    await rig.turn(said(1));
    expect([rig.text, rig.errors]).toEqual(['w0', []]);
  });

  it('sends what the vendor’s own SDK sends', async () => {
    const { rig, server } = await connect({
      settings: { model: 'nova-3', language: 'en', keyterms: ['Gnocchi', 'Penne'] },
    });
    await rig.pause(4_100);
    await rig.turn('w1 w2');
    rig.recognizer.close();
    const [session] = server.sessions as [SttSession];
    await vi.waitFor(() => expect(session.isOpen).toBe(false));
    const { received: messages } = session;
    expect(capturedRequest(session, { key: KEY, headers: ['authorization'], messages })).toEqual(
      sdkRequest('deepgram/listen-v1'),
    );
  });
});
