import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../src/egress/egress-rule.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { sttServices } from '../../../src/model/speech-services/services.ts';
import type { Recognizer } from '../../../src/speech/stt/stt.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import {
  type FakeVosk,
  type FakeVoskOptions,
  startFakeVosk,
} from '../../fakes/services/fake-vosk.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { type Heard, heardBy, pushMs } from '../stt/heard.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

interface Call extends Heard {
  vosk: FakeVosk;
  clock: FakeClock;
  recognizer: Recognizer;
}

async function call(
  options: FakeVoskOptions = {},
  how: {
    settings?: object;
    expectation?: ExpectedInput;
    egress?: ReturnType<typeof createEgress>;
  } = {},
): Promise<Call> {
  const vosk = await startFakeVosk(options);
  opened.push(vosk);
  const clock = new FakeClock();
  const settings = { provider: 'vosk', base_url: vosk.url, ...how.settings };
  const means = serviceMeans(clock, how.egress);
  const stt = createSttService(sttServices.vosk.parse(settings), means);
  const heard = heardBy();
  const recognizer = stt.open(how.expectation ?? OPEN_SPEECH, heard);
  opened.push(recognizer);
  return Object.assign(heard, { vosk, clock, recognizer });
}

async function connected({ vosk, clock }: Call, count = 1): Promise<void> {
  await vi.waitFor(() => expect(vosk.configs).toHaveLength(count));
  expect(clock.timers).toBeGreaterThan(0);
}

const MENU: ExpectedInput = { ...OPEN_SPEECH, closed: true, phrases: ['sales', 'support'] };

/** Speech of `ms` that follows 200 ms without; the VAD notices it 100 ms late. */
function utter(recognizer: Recognizer, ms: number): void {
  pushMs(recognizer, 300);
  recognizer.speechStarted();
  pushMs(recognizer, ms - 100);
  recognizer.finalize();
}

describe('the Vosk client', () => {
  it('sends its config, then speech with what came before it, and returns the final words', async () => {
    const held = await call({ utterances: ['two tickets please'] });
    await connected(held);
    expect(held.vosk.configs).toEqual([{ sample_rate: 8_000, words: true }]);
    pushMs(held.recognizer, 2_300);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 400);
    await vi.waitFor(() => expect(held.partials).toContain('two tickets please'));
    pushMs(held.recognizer, 300);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    const [{ text, confidence, words }] = held.finals as [Call['finals'][0]];
    expect([text, confidence]).toEqual(['two tickets please', 0.9]);
    // The silence before stays here: 500 ms of it, and 700 ms after the voice was noticed.
    expect(held.vosk.audioBytes).toBe(1_200 * 16);
    expect(words?.[0]).toEqual({ word: 'two', startMs: 1_800, endMs: 2_000 });
    expect(held.usage).toMatchObject([{ service: 'vosk', unit: 'seconds', amount: 1.2 }]);
    expect(held.faults).toEqual([]);
  });

  it('counts no audio that waited for a connection which was never made', async () => {
    const held = await call({}, { settings: { base_url: 'ws://127.0.0.1:1' } });
    utter(held.recognizer, 900);
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    held.recognizer.close();
    expect(held.usage).toEqual([]);
  });

  it('counts the audio of an utterance in which the connection breaks, once', async () => {
    const held = await call({ utterances: ['two tickets please'] });
    await connected(held);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 400);
    await vi.waitFor(() => expect(held.partials).toContain('two tickets'));
    await held.vosk.close();
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    held.recognizer.close();
    expect(held.usage.map(({ amount }) => amount)).toEqual([0.4]);
  });

  it.each([true, false])(
    'places words on the call, whether times go on over a reset: %s',
    async (goesOn) => {
      const held = await call({ utterances: ['one', 'two', 'three'], goesOn });
      await connected(held);
      for (const count of [1, 2, 3]) {
        pushMs(held.recognizer, 4_000 - 300 - 900);
        utter(held.recognizer, 1_000);
        await vi.waitFor(() => expect(held.finals).toHaveLength(count));
      }
      // The word starts with the pre-roll, 500 ms before the voice was noticed.
      expect(held.finals.map(({ words }) => words?.[0]?.startMs)).toEqual([2_600, 6_600, 10_600]);
    },
  );

  it('sends the rest of its 100 ms when the voice ends', async () => {
    const held = await call({ utterances: ['one'] });
    await connected(held);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 340);
    held.recognizer.speechStopped?.();
    await vi.waitFor(() => expect(held.vosk.audioBytes).toBe(340 * 16));
  });

  it('answers a finalize without speech with empty words', async () => {
    const held = await call();
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals).toEqual([{ text: '', confidence: null }]));
  });

  it('passes on the words of an end that the server found by itself, and the rest at the finalize', async () => {
    const held = await call({
      utterances: ['one two three four'],
      endpoint: { utterance: 0, words: 2 },
    });
    await connected(held);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 600);
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['one two']));
    pushMs(held.recognizer, 600);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals).toHaveLength(2));
    expect(held.finals[1]?.text).toBe('three four');
  });

  it('answers a finalize once, with the words of an end that crossed it', async () => {
    const held = await call({
      utterances: ['one two three four'],
      endpoint: { utterance: 0, words: 2 },
    });
    await connected(held);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 1_000);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    expect(held.finals[0]?.text).toBe('one two three four');
    expect(held.finals[0]?.words).toHaveLength(4);
  });

  it('opens a connection with the phrase list of a closed question, in a pause', async () => {
    const held = await call({ utterances: ['hello', '[unk] sales', 'bye'] });
    await connected(held);
    utter(held.recognizer, 400);
    held.recognizer.expect(MENU);
    held.recognizer.expect({ ...MENU, boost: ['x'] });
    await connected(held, 2);
    await vi.waitFor(() => expect(held.vosk.eofs).toBe(1));
    expect(held.vosk.configs[1]?.phrase_list).toEqual(['sales', 'support', '[unk]']);
    pushMs(held.recognizer, 200);
    held.recognizer.speechStarted();
    held.recognizer.expect(OPEN_SPEECH);
    pushMs(held.recognizer, 300);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals).toHaveLength(2));
    expect(held.vosk.configs).toHaveLength(2);
    utter(held.recognizer, 300);
    await vi.waitFor(() => expect(held.finals).toHaveLength(3));
    expect(held.finals.map(({ text }) => text)).toEqual(['hello', 'sales', 'bye']);
    expect(held.vosk.configs[2]?.phrase_list).toBeUndefined();
    expect(held.faults).toEqual([]);
  });

  it('keeps a question with slots, or whose phrases are switched off, as open speech', async () => {
    const slots = await call({}, { expectation: { ...MENU, slots: ['date'] } });
    const off = await call({}, { expectation: MENU, settings: { phrases: false } });
    for (const held of [slots, off]) {
      await connected(held);
      expect(held.vosk.configs[0]?.phrase_list).toBeUndefined();
    }
  });

  it('sends its key as a bearer token, and repeats it nowhere', async () => {
    const seen: unknown[] = [];
    const held = await call(
      {
        headers: ({ authorization }) => seen.push(authorization),
        odd: { message: 1, reply: 'secret-1' },
      },
      { settings: { api_key: 'secret-1' } },
    );
    await connected(held);
    utter(held.recognizer, 400);
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    expect(seen).toEqual(['Bearer secret-1']);
    expect(held.faults[0]?.kind).toBe('protocol');
    expect(JSON.stringify([held.faults[0]?.facts, held.faults[0]?.detail])).not.toContain(
      'secret-1',
    );
  });

  it('reports a server that lags 25 messages behind as overloaded', async () => {
    const held = await call();
    await connected(held);
    held.vosk.stall();
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 2_500);
    expect(held.faults).toEqual([]);
    pushMs(held.recognizer, 100);
    expect(held.faults.map(({ kind, code }) => [kind, code])).toEqual([['overload', 'STT_FAILED']]);
  });

  it('reports a server that stops replying within 2.5 s of speech', async () => {
    const held = await call();
    await connected(held);
    held.vosk.stall();
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 200);
    held.clock.advance(2_500);
    expect(held.faults.map(({ kind }) => kind)).toEqual(['timeout']);
    held.recognizer.finalize();
    pushMs(held.recognizer, 200);
    expect([held.faults.length, held.finals.length, held.clock.timers]).toEqual([1, 0, 0]);
  });

  it('reports a server that ends in the middle of the speech, once', async () => {
    const held = await call();
    await connected(held);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 200);
    held.recognizer.finalize();
    held.vosk.service.connections[0]?.socket.close(1011, 'out of memory');
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    expect(held.faults[0]).toMatchObject({ kind: 'network', detail: 'out of memory' });
    held.recognizer.close();
    expect(held.clock.timers).toBe(0);
  });

  it('does not connect where the egress rule forbids', async () => {
    const egress = createEgress({ isSignUpOpen: true, allowed: [] });
    const held = await call({}, { egress });
    held.clock.advance(1);
    expect(held.faults.map(({ kind }) => kind)).toEqual(['request']);
    expect(held.vosk.service.accepted()).toBe(0);
  });

  it('says nothing after it was closed, and ends with the eof of the protocol', async () => {
    const held = await call({ utterances: ['one'] });
    await connected(held);
    utter(held.recognizer, 400);
    held.recognizer.close();
    held.recognizer.close();
    await vi.waitFor(() => expect(held.vosk.eofs).toBe(1));
    expect([held.finals, held.faults]).toEqual([[], []]);
  });

  it('recognises 200 turns on one connection and leaves no timer', async () => {
    const texts = Array.from({ length: 200 }, (_, i) => `turn ${i}`);
    const held = await call({ utterances: texts });
    await connected(held);
    for (const [i] of texts.entries()) {
      utter(held.recognizer, 500);
      await vi.waitFor(() => expect(held.finals).toHaveLength(i + 1), { interval: 1 });
    }
    expect(held.finals.map(({ text }) => text)).toEqual(texts);
    expect([held.vosk.service.accepted(), held.faults]).toEqual([1, []]);
    held.recognizer.close();
    await vi.waitFor(() => expect(held.clock.timers).toBe(0));
  });
});
