import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/schemas/stt.ts';
import { createSttService } from '../../../../src/speech/stt/registry.ts';
import { wordOf } from '../../../fakes/call/spoken-words.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { startDeepgramServer } from '../../../fakes/services/deepgram-server.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import type { SttFaults, SttServer, SttSession } from '../../../fakes/services/stt-server.ts';
import { capturedRequest, sdkRequest } from '../../captured-request.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

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

describe('Deepgram nova', () => {
  it('gives its last words at the end of the call, and bills what the service counts', async () => {
    const { rig, server } = await connect();
    await rig.says(said(4));
    await rig.recognizer.finish?.();
    const audioMs = server.sessions[0]?.audioMs ?? 0;
    expect([rig.text, rig.errors, server.violations]).toEqual([said(4), [], []]);
    expect(server.sessions[0]?.received.at(-1)).toEqual({ type: 'CloseStream' });
    expect(rig.usage).toMatchObject([{ amount: audioMs / 1_000, source: 'vendor' }]);
    expect(server.sessions.map(({ isOpen }) => isOpen)).toEqual([false]);
  });

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

  it('answers what was asked for before it was connected', async () => {
    const { rig } = await connect({ faults: { connectDelayMs: 2_000 } });
    await rig.turn('w1 w2');
    await rig.silence(1_000);
    expect(rig.finals).toEqual([]);
    await rig.silence(1_500);
    expect([rig.finals.map((each) => each.text), rig.errors]).toEqual([['w1 w2'], []]);
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

  it('ends with CloseStream and the seconds of audio', async () => {
    const { rig, server } = await connect();
    await rig.turn(said(2));
    rig.recognizer.close();
    await settle();
    expect(server.sessions[0]?.received.at(-1)).toEqual({ type: 'CloseStream' });
    expect(rig.usage).toEqual([
      {
        job: 'stt',
        service: 'deepgram',
        model: 'nova-3-general',

        unit: 'seconds',
        amount: 0.72,
        source: 'counted',
      },
    ]);
    rig.recognizer.close();
    expect(rig.usage).toHaveLength(1);
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

  it('has every word once, in their order, where a final comes behind the next one', async () => {
    const { rig } = await connect({ faults: { finals: 'swapped' } });
    for (const turn of ['w1', 'w2', 'w3', 'w4']) await rig.turn(turn);
    await rig.silence(4_000);
    expect([rig.text, rig.errors]).toEqual(['w1 w2 w3 w4', []]);
  });

  it.each([
    ['twice', 'w0 w1'],
    ['late', 'w0 w1'],
    ['never', 'w0 w1'],
  ] as const)('has the words once when finals come %s', async (finals, text) => {
    const { rig } = await connect({ faults: { finals } });
    await rig.turn(text);
    await rig.silence(4_000);
    expect(rig.text).toBe('w0 w1');
    await rig.turn('w7');
    await rig.silence(4_000);
    expect(rig.text).toBe('w0 w1 w7');
    expect(rig.errors).toEqual([]);
  });

  it.each([
    [400, 'request'],
    [401, 'auth'],
    [402, 'quota'],
    [403, 'forbidden'],
    [429, 'rate'],
    [503, 'overload'],
  ] as const)(
    'reports a refusal with %d as %s, in the words of the service',
    async (status, kind) => {
      const body = JSON.stringify({ err_code: 'X', err_msg: `no ${KEY}` });
      const { rig } = await connect({ faults: { refuse: { status, body } } });
      await settle();
      expect(rig.fault).toMatchObject({ kind, service: 'deepgram', detail: 'no [redacted]' });
      rig.recognizer.push(new Int16Array(160));
      rig.recognizer.finalize();
      await rig.pause(5_000);
      expect([rig.errors.length, rig.finals]).toEqual([1, []]);
    },
  );

  it('is refused with a wrong key', async () => {
    const { rig } = await connect({ settings: { api_key: 'another-key' } });
    await settle();
    expect(rig.fault).toMatchObject({ kind: 'auth', detail: 'Invalid credentials.' });
  });

  it.each([
    [1006, 'network'],
    [1008, 'request'],
    [1011, 'network'],
  ] as const)('reports a close with %d in a word as %s', async (code, kind) => {
    const close = { atMs: 300, code: code === 1006 ? 1001 : code };
    const { rig } = await connect({ faults: { close } });
    await rig.turn(said(3));
    await settle();
    expect(rig.fault.kind).toBe(kind);
    expect(rig.usage).toHaveLength(1);
  });

  it('reports a close in place of the answer to Finalize', async () => {
    const { rig } = await connect({ faults: { closeOnFinalize: 1011 } });
    await rig.turn(said(1));
    await settle();
    expect(rig.fault.kind).toBe('network');
    expect(rig.finals).toEqual([]);
  });

  it('reports a service that stops in the middle of words, though it pongs', async () => {
    const { rig } = await connect({ faults: { stallAtMs: 500 } });
    await rig.turn(said(4));
    await rig.pause(1_100);
    expect(rig.fault.kind).toBe('timeout');
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

  it('reports a connection without traffic', async () => {
    const { rig } = await connect({ faults: { muteAtMs: 100 } });
    await rig.silence(19_000);
    expect(rig.fault).toMatchObject({ kind: 'network', isRepeatable: true });
  });

  it('reports what is no message, and ignores unknown messages', async () => {
    const broken = await connect({ faults: { send: { atMs: 100, data: '{"type":' } } });
    await broken.rig.silence(300);
    expect(broken.rig.fault.kind).toBe('protocol');
    const data = '{"type":"Tomorrow","transcript":null}';
    const { rig } = await connect({ faults: { send: { atMs: 100, data } } });
    await rig.turn(said(1));
    expect([rig.text, rig.errors]).toEqual(['w0', []]);
    const odd = '{"type":"Results","start":"?"}';
    const other = await connect({ faults: { send: { atMs: 100, data: odd } } });
    await other.rig.silence(300);
    expect(other.rig.fault.kind).toBe('protocol');
  });

  it('ignores binary messages', async () => {
    const { rig } = await connect({ faults: { send: { atMs: 100, data: Uint8Array.of(1, 2) } } });
    await rig.turn(said(1));
    expect([rig.text, rig.errors]).toEqual(['w0', []]);
  });

  it('is refused beyond the sessions of the key', async () => {
    const clock = new FakeClock();
    const server = await startDeepgramServer({ clock, key: KEY, sessionsMax: 1 });
    opened.push(server);
    const settings = { provider: 'deepgram', api_key: KEY, base_url: server.url };
    const stt = createSttService(sttServices.deepgram.parse(settings), serviceMeans(clock));
    const first = new RecognizerRig(clock, stt);
    await first.silence(100);
    const second = new RecognizerRig(clock, stt);
    opened.push(first.recognizer, second.recognizer);
    await second.silence(100);
    expect(second.fault).toMatchObject({ kind: 'rate', retryAfterMs: 5_000 });
    expect(first.errors).toEqual([]);
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

  it('understands 200 turns, each word once', async () => {
    const { rig, server } = await connect();
    const turns = Array.from({ length: 200 }, (_, nth) => said(1 + (nth % 6), nth));
    for (const turn of turns) await rig.turn(turn, 100 + (turn.length % 7) * 60);
    expect(rig.text).toBe(turns.join(' '));
    expect([rig.errors, server.violations]).toEqual([[], []]);
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
