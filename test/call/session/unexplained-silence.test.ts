// Many calls at once with a recogniser, a model, a tool and a voice that are late, break off, flood, answer nothing, or
// write what is no speech. After each turn of the caller, the time without any sound until the agent has said its last word.

import { describe, expect, it, vi } from 'vitest';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import type { LlmRequest } from '../../../src/speech/llm/llm.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { faultyModel, type Script } from '../../fakes/call/faulty-model.ts';
import { FakeStt, FakeTts } from '../../fakes/speech-services.ts';
import { rounds } from '../../rounds.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import type { Stream } from '../stream.ts';
import { withToolsAnd } from './tools-harness.ts';

const held = withCallHarness();

const CALLS = rounds(50, 400);
const WATCHED_MS = 26_000;
const SILENCE_MS_MAX = 2_500;

const words = (text: string): string[] => text.split(/(?<=\s)/);
const ANSWER = words('Your next appointment is on Friday at ten. Would you like to change it?');
const FLOOD = 'and then there is one more thing that i would like to tell you '.repeat(60);

interface Way {
  name: string;
  model: Script;
  /** Script of the second model; default: it answers. */
  second?: Script;
  /** What becomes of the caller's words. Default: they are final 40 ms after the turn. */
  words?: 'late' | 'never final' | 'empty' | 'twice' | 'recogniser dies';
}

/** Without words the model is not asked. */
const UNHEARD: readonly Way['words'][] = ['empty', 'recogniser dies'];

const GOOD: Script = { tokens: ANSWER };
const broken = (fails: NonNullable<Script['fails']>): Script => ({
  tokens: ANSWER.slice(0, 5),
  fails,
});

const WAYS: readonly Way[] = [
  { name: 'prompt', model: GOOD },
  { name: 'first token after 3 s', model: { ...GOOD, firstMs: 3_000 } },
  { name: 'first token after 9 s', model: { ...GOOD, firstMs: 9_000 } },
  { name: 'breaks off within a sentence', model: broken('LLM_FAILED') },
  {
    name: 'breaks off within a word, the next one is slow',
    model: { tokens: ['Your next appoi'], fails: 'LLM_FAILED' },
    second: { ...GOOD, firstMs: 4_000 },
  },
  {
    name: 'stalls within a sentence for 6 s',
    model: { tokens: [...ANSWER.slice(0, 5), 6_000, ...ANSWER.slice(5)] },
  },
  {
    name: 'stalls within a sentence and is given up',
    model: { tokens: [...ANSWER.slice(0, 5), 5_000], fails: 'LLM_TIMEOUT' },
  },
  {
    name: 'breaks off, and so does the next one',
    model: broken('LLM_FAILED'),
    second: { tokens: ['on '], fails: 'LLM_FAILED' },
  },
  { name: 'fails at once', model: { fails: 'LLM_FAILED' }, second: { fails: 'LLM_FAILED' } },
  { name: 'answers nothing', model: { fails: 'LLM_EMPTY' }, second: { fails: 'LLM_EMPTY' } },
  { name: 'floods', model: { tokens: [FLOOD.slice(0, 900)] } },
  {
    name: 'writes slowly and without punctuation',
    model: { tokens: words(FLOOD.slice(0, 120)), tokenMs: 300 },
  },
  { name: 'a tool of 4 s', model: { call: 'look_up_4' } },
  {
    name: 'a tool of 12 s, with words before it',
    model: { tokens: words('Let me look that up. '), call: 'look_up_12' },
  },
  {
    name: 'another language, slowly',
    model: { tokens: words('Ваш приём в пятницу в десять. Хотите изменить?'), firstMs: 2_500 },
  },
  { name: 'an emoji alone', model: { tokens: ['👍'] } },
  {
    name: 'SSML',
    model: { tokens: ['<speak>Your <break time="3s"/> table ', 'is ready.</speak>'] },
  },
  { name: 'a key that is refused', model: { fails: 'LLM_AUTH' } },
  {
    name: 'all keys are refused',
    model: { fails: 'LLM_AUTH' },
    second: { fails: 'LLM_AUTH' },
  },
  { name: 'a voice that breaks off', model: { tokens: words('This answer breaks off, it does.') } },
  { name: 'final words after 2 s', model: GOOD, words: 'late' },
  { name: 'words that never become final', model: GOOD, words: 'never final' },
  { name: 'a voice without words', model: GOOD, words: 'empty' },
  { name: 'the same final words twice', model: GOOD, words: 'twice' },
  { name: 'a recogniser that dies', model: GOOD, words: 'recogniser dies' },
  { name: 'a voice of 6 s', model: { tokens: words('This is spoken slowly, for a reason.') } },
];

/** Its audio for what is spoken slowly comes late. */
class LateVoice extends FakeTts {
  override synthesize(...args: Parameters<FakeTts['synthesize']>): Promise<void> {
    this.firstAudioMs = args[0].text.includes('slowly') ? 4_500 : 50;
    return super.synthesize(...args);
  }
}

/** What the recogniser makes of the caller's words. */
function understand({ stt, way }: Call): void {
  const text = `way ${WAYS.indexOf(way)} please`;
  if (way.words === 'late') stt.finalMs = 2_000;
  if (way.words === 'never final') stt.finalMs = Number.NaN;
  if (way.words === 'recogniser dies') stt.die();
  if (UNHEARD.includes(way.words)) return;
  stt.understand(text);
  if (way.words !== 'twice') return;
  stt.final();
  stt.understand(text);
}

/** How often the models were asked in each way: a fault that no call met proves nothing. */
const asked = new Map<string, number>();

function scriptOf(request: LlmRequest, isSecond: boolean): Script {
  const text = request.messages.map(({ content }) => content).join(' ');
  const way = WAYS[Number(/way (\d+)/.exec(text)?.[1])];
  if (way === undefined) throw new Error(`no way in: ${text}`);
  asked.set(way.name, (asked.get(way.name) ?? 0) + 1);
  if (request.messages.at(-1)?.role === 'tool') return GOOD;
  const model = isSecond ? (way.second ?? GOOD) : way.model;
  // The rest of an answer.
  if (isSecond && /cut off by a fault/.test(text) && model === GOOD) {
    return { tokens: ANSWER.slice(5) };
  }
  return model;
}

/** Silences from `fromMs` until the last sound, in milliseconds; without any sound it has no end. A tone's notes are sound,
 *  its pauses are none. */
function longestSilence({ stream: { farEnd }, askedMs: fromMs }: Call): number {
  const found: number[] = [];
  let since = fromMs;
  for (const { atMs, untilMs, pcm } of farEnd.frames) {
    if (untilMs <= fromMs || !pcm.some((sample) => Math.abs(sample) > 150)) continue;
    found.push(Math.max(0, atMs - since));
    since = Math.max(since, untilMs);
  }
  return found.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...found);
}

interface Call {
  way: Way;
  stream: Stream;
  run: { id: string };
  stt: FakeStt;
  /** When the caller fell silent. */
  askedMs: number;
}

/** A recogniser for each call. */
class SeparateStt implements Pick<SpeechToText, 'open'> {
  readonly all: FakeStt[] = [];
  readonly #clock: CallHarness['clock'];

  constructor(clock: CallHarness['clock']) {
    this.#clock = clock;
  }

  open(...args: Parameters<FakeStt['open']>): ReturnType<FakeStt['open']> {
    const stt = new FakeStt(this.#clock);
    this.all.push(stt);
    return stt.open(...args);
  }
}

/** The agent may look things up, which takes 4 or 12 s. */
async function prepare(harness: CallHarness, settings = {}): Promise<SeparateStt> {
  const { clock } = harness;
  const { log } = harness.deps;
  const models = [false, true].map((isSecond) =>
    faultyModel({
      clock,
      name: isSecond ? 'second' : 'first',
      scriptOf: (request) => scriptOf(request, isSecond),
    }),
  );
  // One line for each call: a model that failed in one is not left in the others.
  harness.speech.llm = {
    name: 'line',
    model: 'faulty',
    prepare: () => undefined,
    close: () => Promise.resolve(),
    respond(...args) {
      const services = lineOf(args[0], models).map((model) => {
        return { model, circuit: new CircuitBreaker({ clock, job: 'llm', service: model.name }) };
      });
      return new FallbackModel({ services, clock, log }).respond(...args);
    },
  };
  const voice = new LateVoice(clock);
  voice.msPerCharacter = 40;
  voice.fails = { text: 'breaks off', afterMs: 600 };
  harness.speech.tts = voice;
  const stt = new SeparateStt(clock);
  harness.speech.stt = Object.assign(new FakeStt(clock), { open: stt.open.bind(stt) });
  harness.deps.http.outside = {
    ...harness.deps.http.outside,
    send: async ({ url }) => {
      const ms = Number(new URL(url).searchParams.get('ms'));
      await new Promise<void>((resolve) => void clock.after(ms, resolve));
      return { status: 200, text: '{"free":"Friday"}' };
    },
  };
  const tool = (seconds: number) => ({
    name: `Look up ${seconds}`,
    definition: {
      type: 'http_api',
      config: {
        method: 'GET',
        url: `https://example.com/look?ms=${seconds * 1_000}`,
        timeout_ms: 15_000,
      },
    },
  });
  await withToolsAnd(harness, settings, tool(4), tool(12));
  return stt;
}

/** The rest of an answer is asked of the second model. */
function lineOf<T>({ messages }: LlmRequest, models: readonly T[]): readonly T[] {
  const isRest = messages.at(-1)?.content.includes('cut off by a fault') === true;
  return isRest ? models.slice(1) : models;
}

async function callAll(harness: CallHarness, stt: SeparateStt, ways: readonly Way[]) {
  const calls: Call[] = [];
  for (const [nth, way] of ways.entries()) {
    const callId = `CA${String(nth).padStart(32, '0')}`;
    const { stream, run } = await harness.inboundCall({ callId });
    const recognizer = stt.all.at(-1);
    if (recognizer === undefined) throw new Error('no recogniser');
    calls.push({ way, stream, run, stt: recognizer, askedMs: Number.NaN });
  }
  await harness.pass(1_500);
  for (const { stream } of calls) stream.line = 'voice';
  await harness.pass(300);
  for (const call of calls) understand(call);
  await harness.pass(300);
  for (const call of calls) {
    call.stream.line = 'silence';
    call.askedMs = harness.clock.monotonicMs();
  }
  await harness.pass(WATCHED_MS);
  return calls;
}

/** Closing so many calls takes a while on a busy machine. */
async function hangUpAll(harness: CallHarness, calls: readonly Call[]): Promise<void> {
  for (const { stream } of calls) stream.hangUp();
  await harness.pass(500);
  await vi.waitFor(() => expect(harness.callControl.activeCalls).toBe(0), { timeout: 60_000 });
}

const BINS_S = [0.5, 1, 1.5, 2, 2.5, 5, Number.POSITIVE_INFINITY];

/** How many calls have their longest silence in each bin. */
function countsOf(calls: readonly Call[]): number[] {
  const bins = calls.map((call) => {
    const seconds = longestSilence(call) / 1_000;
    return BINS_S.findIndex((upTo) => seconds <= upTo);
  });
  return BINS_S.map((_upTo, nth) => bins.filter((bin) => bin === nth).length);
}

function histogram(counts: readonly number[]): string {
  return counts
    .map((count, nth) => {
      const range = `${(BINS_S[nth - 1] ?? 0).toFixed(1)}-${BINS_S[nth]?.toFixed(1)} s`;
      return `${range.padStart(14)} ${String(count).padStart(4)} ${'#'.repeat(Math.ceil(count / 4))}`;
    })
    .join('\n');
}

/** What the agent said after the caller's words: each line to wait once, and an answer at the end, after which the caller may be
 *  silent too. One that floods is still speaking. */
async function expectAnswer(
  harness: CallHarness,
  { way: { name, words }, run }: Call,
): Promise<void> {
  const said = (await harness.bodies(run, 'agent.said')).slice(1);
  const lines = said.filter(({ kind }) => kind === 'notice').map(({ text }) => text);
  expect({ name, count: new Set(lines).size }).toEqual({ name, count: lines.length });
  const last = said.at(-1);
  // That only the keys are left is all that there is to say.
  const mayBeNotice = words === 'recogniser dies';
  const isAnswered = last === undefined ? name === 'floods' : mayBeNotice || last.kind !== 'notice';
  expect({ name, isAnswered, last }).toMatchObject({ isAnswered: true });
}

describe('a voice without words', () => {
  it('is answered by a reprompt within a second of its end', async () => {
    const { harness } = held;
    await harness.prepare();
    const { stream } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.line = 'voice';
    await harness.pass(800);
    stream.line = 'silence';
    const before = stream.frames;
    await harness.passUntil(() => stream.frames > before, 1_000);
    expect(harness.tts.asked.at(-1)).toBe('Please say tea or coffee.');
  });
});

describe('two hundred calls with faults of every kind', () => {
  it('have no silence of more than 2.5 s that nothing explains', { timeout: 240_000 }, async () => {
    const { harness } = held;
    await harness.at.sql('update organizations set concurrent_call_limit = 1000');
    const stt = await prepare(harness, { max_user_idle_timeout: 600 });
    asked.clear();
    const ways = Array.from({ length: CALLS }, (_, nth) => WAYS[nth % WAYS.length] as Way);
    const calls = await callAll(harness, stt, ways);
    const counts = countsOf(calls);
    process.stdout.write(`longest silence of ${calls.length} calls\n${histogram(counts)}\n`);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(CALLS);
    for (const call of calls) {
      const { name } = call.way;
      const longest = longestSilence(call);
      expect({ name, isShort: longest <= SILENCE_MS_MAX, longest }).toMatchObject({
        isShort: true,
      });
    }
    for (const { name, words } of WAYS) {
      if (UNHEARD.includes(words)) continue;
      const count = ways.filter((way) => way.name === name).length;
      expect({ name, asked: asked.get(name) ?? 0 }).toSatisfy(
        (each: { asked: number }) => count > 0 && each.asked >= count,
      );
    }
    for (const call of calls) await expectAnswer(harness, call);
    await hangUpAll(harness, calls);
  });

  it('are silent for seconds without the watchdog', { timeout: 120_000 }, async () => {
    const { harness } = held;
    await harness.at.sql('update organizations set concurrent_call_limit = 1000');
    const off = { filler_delay_seconds: 0, waiting_tone_enabled: false };
    const stt = await prepare(harness, { max_user_idle_timeout: 600, ...off });
    const ways = WAYS.filter(({ name }) => /^first token|^a tool|6 s$/.test(name));
    const calls = await callAll(harness, stt, ways);
    expect(ways).toHaveLength(6);
    for (const call of calls) expect(longestSilence(call)).toBeGreaterThan(SILENCE_MS_MAX);
    await hangUpAll(harness, calls);
  });
});
