import { afterEach, describe, expect, it, vi } from 'vitest';
import { readWav } from '../../../../src/audio/wav.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import {
  type SttServiceSettings,
  sttServices,
} from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { type HttpAsked, startHttpService } from '../../../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { heardBy, pushMs } from '../heard.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Provider =
  | 'openai'
  | 'groq'
  | 'speaches'
  | 'huggingface'
  | 'whisper_cpp'
  | 'openai_compatible';

async function call(
  answer: (asked: HttpAsked) => void,
  settings: { provider: Provider; [field: string]: unknown } = { provider: 'speaches' },
) {
  const server = await startHttpService(answer);
  opened.push(server);
  const clock = new FakeClock();
  const row = sttServices[settings.provider];
  const parsed = row.parse({ base_url: server.url, api_key: 'key-1234', ...settings });
  const stt = createSttService(parsed as SttServiceSettings<'openai'>, serviceMeans(clock));
  opened.push(stt);
  const heard = heardBy();
  const recognizer = stt.open(OPEN_SPEECH, heard);
  opened.push(recognizer);
  return Object.assign(heard, { server, clock, recognizer, stt });
}

type Call = Awaited<ReturnType<typeof call>>;

const says =
  (answer: unknown) =>
  ({ response }: HttpAsked): void =>
    void response.end(JSON.stringify(answer));

/** Speech of `ms`, with the 500 ms before it. */
function speak({ recognizer }: Call, ms: number): void {
  pushMs(recognizer, 600, 1);
  recognizer.speechStarted();
  pushMs(recognizer, ms, 2);
}

function utter(held: Call, ms: number): void {
  speak(held, ms);
  held.recognizer.finalize();
}

const VERBOSE = {
  text: ' Two tickets, please.',
  language: 'en',
  words: [
    { word: 'Two', start: 0.5, end: 0.7 },
    { word: ' tickets', start: 0.7, end: 1.1 },
  ],
  segments: [{ text: ' Two tickets, please.', avg_logprob: -0.1, no_speech_prob: 0.01 }],
};

describe('the recogniser behind OpenAI’s interface', () => {
  it('uploads an utterance as a WAV file and places its words on the call', async () => {
    const held = await call(says(VERBOSE), { provider: 'groq', language: 'en-US', prompt: 'Ada.' });
    held.recognizer.expect({ ...OPEN_SPEECH, boost: ['Lovelace'] });
    utter(held, 900);
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    const [asked] = held.server.asked as [HttpAsked];
    expect(asked.path).toBe('/audio/transcriptions');
    expect(asked.headers['authorization']).toBe('Bearer key-1234');
    expect(asked.fields).toEqual([
      ['model', 'whisper-large-v3-turbo'],
      ['response_format', 'verbose_json'],
      ['temperature', '0'],
      ['language', 'en'],
      ['prompt', 'Ada. Lovelace'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]);
    const { rateHz, samples } = readWav(asked.file);
    expect([rateHz, samples.length]).toEqual([8_000, 1_400 * 8]);
    expect([samples[0], samples[3_999], samples[4_000]]).toEqual([1, 1, 2]);
    expect(held.finals[0]).toEqual({
      text: 'Two tickets, please.',
      confidence: Math.exp(-0.1),
      words: [
        { word: 'Two', startMs: 600, endMs: 800 },
        { word: 'tickets', startMs: 800, endMs: 1_200 },
      ],
      language: 'en',
    });
    expect(held.usage).toMatchObject([{ service: 'groq', unit: 'seconds', amount: 1.4 }]);
    expect(held.clock.timers).toBe(0);
  });

  it.each([
    [
      { provider: 'openai', model: 'gpt-4o-transcribe' },
      '/audio/transcriptions',
      [
        ['model', 'gpt-4o-transcribe'],
        ['response_format', 'json'],
        ['temperature', '0'],
      ],
      8_000,
    ],
    [
      { provider: 'openai', language: 'de', prompt: 'A booking.' },
      '/audio/transcriptions',
      [
        ['model', 'gpt-transcribe'],
        ['response_format', 'json'],
        ['languages[]', 'de'],
        ['prompt', 'A booking.'],
      ],
      8_000,
    ],
    [
      { provider: 'whisper_cpp', language: 'auto' },
      '/inference',
      [
        ['response_format', 'verbose_json'],
        ['temperature', '0'],
      ],
      16_000,
    ],
    [
      { provider: 'openai_compatible', model: 'm', path: '/x', sample_rate: 16_000 },
      '/x',
      [
        ['model', 'm'],
        ['response_format', 'json'],
        ['temperature', '0'],
      ],
      16_000,
    ],
  ] as const)('asks %j as the service wants it', async (settings, path, fields, rateHz) => {
    const held = await call(says({ text: 'yes' }), settings);
    utter(held, 500);
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['yes']));
    const [asked] = held.server.asked as [HttpAsked];
    expect([asked.path, asked.fields]).toEqual([path, fields]);
    expect(readWav(asked.file)).toMatchObject({ rateHz, channels: 1 });
  });

  it('sends Hugging Face the audio alone', async () => {
    const held = await call(says({ text: 'yes' }), { provider: 'huggingface', bill_to: 'acme' });
    utter(held, 500);
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    const [asked] = held.server.asked as [HttpAsked];
    expect(asked.path).toBe('/models/openai/whisper-large-v3-turbo');
    expect(asked.headers).toMatchObject({ 'content-type': 'audio/wav', 'x-hf-bill-to': 'acme' });
    expect(readWav(asked.body).rateHz).toBe(16_000);
  });

  it('asks nothing about silence', async () => {
    const held = await call(says({ text: 'x' }));
    pushMs(held.recognizer, 5_000);
    held.recognizer.finalize();
    expect(held.finals).toEqual([]);
    held.clock.advance(1);
    expect(held.finals).toEqual([{ text: '', confidence: null }]);
    expect(held.server.asked).toEqual([]);
  });

  it('counts the seconds that the service bills, where it says so', async () => {
    const seconds = async (usage: unknown) => {
      const held = await call(says({ text: 'yes', usage }));
      utter(held, 900);
      await vi.waitFor(() => expect(held.finals).toHaveLength(1));
      const sum = held.usage.reduce((all, { amount }) => all + amount, 0);
      return [Math.round(sum * 1_000) / 1_000, held.usage.at(-1)?.source];
    };
    expect(await seconds({ type: 'duration', seconds: 2 })).toEqual([2, 'vendor']);
    expect(await seconds({ type: 'duration', seconds: 1 })).toEqual([1, 'vendor']);
    expect(await seconds({ type: 'duration', seconds: -1 })).toEqual([1.4, 'counted']);
    expect(await seconds({ type: 'tokens', input_tokens: 14 })).toEqual([1.4, 'counted']);
  });

  it('uploads after 200 ms of silence, and answers with that where nothing more was said', async () => {
    const held = await call(says({ text: 'yes' }));
    speak(held, 500);
    held.recognizer.speechStopped?.();
    pushMs(held.recognizer, 200);
    held.clock.advance(199);
    expect(held.server.asked).toEqual([]);
    held.clock.advance(1);
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(1));
    await vi.waitFor(() => expect(held.clock.timers).toBe(0));
    pushMs(held.recognizer, 400);
    expect(held.finals).toEqual([]);
    held.recognizer.finalize();
    held.clock.advance(1);
    expect(held.finals.map(({ text }) => text)).toEqual(['yes']);
    expect(held.server.asked).toHaveLength(1);
  });

  it('cancels that upload when the voice goes on, and uploads all of it at the end', async () => {
    const held = await call(({ response, file }) => {
      if (readWav(file).samples.length > 1_200 * 8) response.end('{"text":"yes please"}');
    });
    speak(held, 500);
    held.recognizer.speechStopped?.();
    pushMs(held.recognizer, 200);
    held.clock.advance(200);
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(1));
    held.recognizer.speechResumed?.();
    await vi.waitFor(() => expect(held.server.asked[0]?.isCancelled).toBe(true));
    pushMs(held.recognizer, 500);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['yes please']));
    expect([held.server.asked.length, held.faults.length, held.clock.timers]).toEqual([2, 0, 0]);
  });

  it('ends a call with the words of an upload that is under way, and uploads nothing twice', async () => {
    const held = await call(says({ text: 'yes' }));
    speak(held, 500);
    held.recognizer.speechStopped?.();
    pushMs(held.recognizer, 200);
    held.clock.advance(200);
    const ended = held.recognizer.finish?.();
    held.recognizer.finalize();
    await ended;
    expect(held.finals.map(({ text }) => text)).toEqual(['yes']);
    expect([held.server.asked.length, held.faults.length, held.clock.timers]).toEqual([1, 0, 0]);
  });

  it('ends a call with the words of its other turn where its last upload fails', async () => {
    const held = await call(({ response, file }) => {
      if (readWav(file).samples.length > 1_200 * 8) response.end('{"text":"yes please"}');
      else response.writeHead(500).end('{}');
    });
    utter(held, 1_000);
    speak(held, 300);
    await held.recognizer.finish?.();
    expect(held.finals.map(({ text }) => text)).toEqual(['yes please']);
    expect([held.server.asked.length, held.faults.length, held.clock.timers]).toEqual([2, 1, 0]);
  });

  it('ends a call without words where the last upload has none', async () => {
    const held = await call(says({ text: '' }));
    speak(held, 500);
    await held.recognizer.finish?.();
    expect([held.finals, held.server.asked.length, held.clock.timers]).toEqual([[], 1, 0]);
  });

  it('uploads again at another pause, also without a report that the voice continued', async () => {
    const held = await call(({ response, file }) => {
      if (readWav(file).samples.length > 1_200 * 8) response.end('{"text":"yes please"}');
    });
    speak(held, 500);
    for (let pause = 0; pause < 2; pause++) {
      held.recognizer.speechStopped?.();
      pushMs(held.recognizer, 200);
      held.clock.advance(200);
      await vi.waitFor(() => expect(held.server.asked).toHaveLength(pause + 1));
      if (pause === 0) pushMs(held.recognizer, 500);
    }
    await vi.waitFor(() => expect(held.server.asked[0]?.isCancelled).toBe(true));
    held.recognizer.finalize();
    held.clock.advance(1);
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['yes please']));
    expect([held.server.asked.length, held.faults.length, held.clock.timers]).toEqual([2, 0, 0]);
  });

  it.each<[string, unknown, number]>([
    [
      'a segment without speech',
      { text: ' Bye.', segments: [{ text: ' Bye.', no_speech_prob: 0.9, avg_logprob: -1.4 }] },
      2_000,
    ],
    ['what films end with, for a short voice', { text: 'Thank you for watching!' }, 400],
    ['a credit of subtitles', { text: 'Untertitel der Amara.org-Community' }, 700],
    ['the word that models write for a click', { text: 'You' }, 300],
    ['no letters', { text: ' … ' }, 500],
    ['null', { text: null }, 500],
  ])('takes %s for no words', async (_, answer, ms) => {
    const held = await call(says(answer));
    utter(held, ms);
    await vi.waitFor(() => expect(held.finals).toEqual([{ text: '', confidence: null }]));
  });

  it('keeps the words beside a segment without speech, and such words of a longer voice', async () => {
    const answers = [
      {
        ...VERBOSE,
        segments: [...VERBOSE.segments, { text: ' Bye.', no_speech_prob: 0.9, avg_logprob: -1.4 }],
      },
      { text: 'You' },
    ];
    const held = await call((asked) => says(answers.shift())(asked));
    utter(held, 900);
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    expect(held.finals[0]).toMatchObject({ text: 'Two tickets, please.' });
    utter(held, 1_200);
    await vi.waitFor(() => expect(held.finals[1]?.text).toBe('You'));
  });

  it('does not take its own prompt for words', async () => {
    const held = await call(says({ text: 'Ada Lovelace, Byron.' }), {
      provider: 'groq',
      prompt: 'Ada Lovelace, Byron',
    });
    utter(held, 2_000);
    await vi.waitFor(() => expect(held.finals[0]?.text).toBe(''));
  });

  it.each<[string, number, unknown, string, string]>([
    [
      'a refused key',
      401,
      { error: { message: 'key-1234 is wrong' } },
      'auth',
      '[redacted] is wrong',
    ],
    ['an unknown model', 404, { detail: 'no such model' }, 'request', 'no such model'],
    ['a model that loads', 503, { error: 'loading', estimated_time: 20 }, 'overload', 'loading'],
    [
      'an error with the status of success',
      200,
      { error: 'failed to read WAV' },
      'protocol',
      'failed to read WAV',
    ],
    ['an answer that is no JSON', 200, 'hello', 'protocol', 'hello'],
  ])('reports %s', async (_, status, answer, kind, detail) => {
    const held = await call(({ response }) => {
      response.writeHead(status);
      response.end(JSON.stringify(answer));
    });
    utter(held, 500);
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    expect(held.faults[0]).toMatchObject({ kind, detail, job: 'stt', code: 'STT_FAILED' });
    utter(held, 500);
    expect([held.finals, held.faults.length, held.clock.timers]).toEqual([[], 1, 0]);
  });

  it('bills what the service has taken: not a refused upload, but one that is not awaited', async () => {
    const held = await call(({ response }) => void response.writeHead(429).end('{}'));
    utter(held, 500);
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    expect(held.usage).toEqual([]);
    const late = await call(() => undefined);
    utter(late, 500);
    await vi.waitFor(() => expect(late.server.asked).toHaveLength(1));
    late.recognizer.close();
    expect(late.usage).toMatchObject([{ unit: 'seconds', amount: 1 }]);
  });

  it('reports words that do not come within 10 s, also in the middle of the answer', async () => {
    const held = await call(({ response }) => void response.write('{"text":'));
    utter(held, 500);
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(1));
    held.clock.advance(10_000);
    await vi.waitFor(() => expect(held.faults.map(({ kind }) => kind)).toEqual(['timeout']));
  });

  it('asks whisper.cpp one question at a time, and refuses a queue of more than two', async () => {
    const held = await call(() => undefined, { provider: 'whisper_cpp' });
    const others = [0, 1, 2].map(() => {
      const heard = heardBy();
      const recognizer = held.stt.open(OPEN_SPEECH, heard);
      opened.push(recognizer);
      return Object.assign(heard, { recognizer });
    });
    for (const each of [held, ...others]) utter(each as Call, 500);
    await vi.waitFor(() => expect(others[2]?.faults.map(({ kind }) => kind)).toEqual(['overload']));
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(1));
    others[0]?.recognizer.close();
    held.server.asked[0]?.response.end('{"text":"first"}');
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(2));
    held.server.asked[1]?.response.end('{"text":"third"}');
    await vi.waitFor(() => expect(others[1]?.finals.map(({ text }) => text)).toEqual(['third']));
    // The one that was refused, and the one that was closed before its turn, sent nothing.
    const billed = [held, ...others].map(({ usage }) => usage.map(({ amount }) => amount));
    expect(billed).toEqual([[1], [], [1], []]);
  });

  it('says nothing after it was closed, and cancels what it asked', async () => {
    const held = await call(() => undefined);
    utter(held, 500);
    await vi.waitFor(() => expect(held.server.asked).toHaveLength(1));
    held.recognizer.close();
    await vi.waitFor(() => expect(held.server.asked[0]?.isCancelled).toBe(true));
    expect([held.finals, held.faults, held.clock.timers]).toEqual([[], [], 0]);
  });

  it('gives the words of two utterances in their order, whichever answer comes first', async () => {
    const answers: ((text: string) => void)[] = [];
    const held = await call(({ response }) => {
      answers.push((text) => void response.end(JSON.stringify({ text })));
    });
    for (const nth of [1, 2]) {
      utter(held, 400);
      await vi.waitFor(() => expect(answers).toHaveLength(nth));
    }
    answers[1]?.('the second');
    await settle();
    expect(held.finals).toEqual([]);
    answers[0]?.('the first');
    await vi.waitFor(() => expect(held.finals).toHaveLength(2));
    expect(held.finals.map(({ text }) => text)).toEqual(['the first', 'the second']);
  });

  it('recognises 200 turns over few connections', async () => {
    let turn = 0;
    const ports = new Set<number | undefined>();
    const held = await call(({ response }) => {
      ports.add(response.socket?.remotePort);
      response.end(JSON.stringify({ text: `turn ${turn++}` }));
    });
    for (let i = 1; i <= 200; i++) {
      utter(held, 200);
      await vi.waitFor(() => expect(held.finals).toHaveLength(i), { interval: 1 });
    }
    expect(held.finals.at(-1)?.text).toBe('turn 199');
    expect(ports.size).toBeLessThan(5);
  });
});
