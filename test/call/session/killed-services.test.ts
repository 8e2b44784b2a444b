// Twelve conversations whose primary services fail: the recogniser, the voice, the language model, all at once; each of
// them gone, silent, or with a key that is refused. Time is a fake, the services are in this process.
// The far larger measurement with services in a process of their own is `npm run load -- --kill` (docs/load.md).

import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/model/run.ts';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import type { LlmRequest } from '../../../src/speech/llm/llm.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { SpeechPlan } from '../../../src/speech/speech-plan.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { faultyModel, type Script } from '../../fakes/call/faulty-model.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import type { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  RecognizingService,
  type SessionFaults,
} from '../../fakes/services/recognizing-service.ts';
import { faultOf, StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import type { Stream } from '../stream.ts';

const JOBS = ['stt', 'tts', 'llm', 'all'] as const;
const WAYS = ['gone', 'silent', 'refused'] as const;

interface Kill {
  job: (typeof JOBS)[number];
  way: (typeof WAYS)[number];
}

const TURNS = 3;
/** In the second turn of the caller, and in the agent's answer to it. */
const KILL_AT_MS = 9_000;
const WORDS_OF_TURN = 4;
const QUIET_MS = 700;
/** A longer silence is taken for a dead line. */
const SOUND_MS_MAX = 2_500;
const ANSWER_MS_MAX = 6_000;
/** Three deadlines one after the other: of the final words, the first token, the first audio. */
const ALL_SILENT_MS_MAX = 7_500;

const talk = definition(
  [start('talk', { name: 'Talk', greeting: 'Hello, what may I write down?' }), end('bye')],
  [edge('talk', 'bye', { label: 'Finish' })],
);

const held = withCallHarness();

/** What became of one call. */
class Conversation {
  readonly kill: Kill;
  readonly stream: Stream;
  readonly run: Run;
  /** From the end of the caller's words, by turn. */
  readonly soundMs: number[] = [];
  readonly answerMs: number[] = [];
  readonly #harness: CallHarness;
  readonly #times: AnswerTimes;
  #turn = 0;
  #quietMs = 0;
  #spokenAt: number | undefined;
  #hasSound = false;

  constructor(options: {
    kill: Kill;
    stream: Stream;
    run: Run;
    harness: CallHarness;
    times: AnswerTimes;
  }) {
    this.kill = options.kill;
    this.stream = options.stream;
    this.run = options.run;
    this.#harness = options.harness;
    this.#times = options.times;
  }

  get isOver(): boolean {
    return this.#turn === TURNS && this.#spokenAt === undefined && this.#quietMs >= QUIET_MS;
  }

  /** Each 20 ms. */
  tick(): void {
    const { stream } = this;
    if (stream.sound.length >= 160) {
      this.#spokenAt = this.#harness.clock.monotonicMs();
      return;
    }
    const isSilent = this.#harness.isSilent(stream);
    this.#quietMs = isSilent ? this.#quietMs + 20 : 0;
    if (this.#spokenAt !== undefined) this.#await(isSilent, this.#spokenAt);
    else if (stream.frames > 0 && this.#quietMs >= QUIET_MS && this.#turn < TURNS) this.#speak();
  }

  #speak(): void {
    this.stream.sound = Int16Array.from(
      framesOf(wordsOfTurn(this.#turn)).flatMap((each) => [...each]),
    );
    this.#turn += 1;
    this.#hasSound = false;
    this.#quietMs = 0;
  }

  #await(isSilent: boolean, spokenAt: number): void {
    const now = this.#harness.clock.monotonicMs();
    if (!isSilent && !this.#hasSound) {
      this.#hasSound = true;
      this.soundMs.push(now - spokenAt);
    }
    const answeredAt = this.#times.get(wordsOfTurn(this.#turn - 1));
    if (answeredAt === undefined || this.#quietMs < QUIET_MS) return;
    this.answerMs.push(answeredAt - spokenAt);
    this.#spokenAt = undefined;
  }
}

/** When the first audio of an answer came, by the words that it answers. */
type AnswerTimes = Map<string, number>;

function wordsOfTurn(turn: number): string {
  const words = Array.from({ length: WORDS_OF_TURN }, (_, nth) => turn * WORDS_OF_TURN + nth);
  return words.map((nth) => `w${nth}`).join(' ');
}

const answerTo = (words: string): string => `You said ${words}. What else?`;

/** The last words of the caller, repeated. */
function repeats({ messages }: LlmRequest): Script {
  const content = String(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const words = (content.match(/\bw\d+\b/g) ?? []).join(' ');
  return { tokens: answerTo(words).split(/(?<= )/) };
}

/** The services of one call: primary ones that fail, and fallbacks. */
function speechOf(kill: Kill, clock: FakeClock, times: AnswerTimes): SpeechPlan {
  const { log } = quietLog();
  const killAt = kill.way === 'refused' ? 0 : clock.monotonicMs() + KILL_AT_MS;
  const killed = (job: Kill['job']): boolean => kill.job === job || kill.job === 'all';
  const entry = <Service extends { name: string }>(service: Service) => ({
    service,
    circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
  });
  const faults = (nth: number): SessionFaults => {
    if (!killed('stt')) return {};
    const atMs = nth === 0 && kill.way !== 'refused' ? KILL_AT_MS : 20;
    if (kill.way === 'silent') return { silentAtMs: atMs };
    return { failAtMs: atMs, kind: kill.way === 'refused' ? 'auth' : 'network' };
  };
  const stt = createSttFallback({
    services: [
      entry(new RecognizingService({ clock, name: 'first', faults })),
      entry(new RecognizingService({ clock, name: 'second' })),
    ],

    clock,
    log,
  });
  const speed = 5;
  const voice = new StreamedTts({
    clock,
    name: 'first',
    speed,
    firstAudioMs: 150,
    failure() {
      if (!killed('tts')) return undefined;
      const kind = kill.way === 'refused' ? 'auth' : 'network';
      const fault = kill.way === 'silent' ? 'silent' : faultOf(kind, 'first');
      return { afterMs: Math.max(0, killAt - clock.monotonicMs()) * speed, fault };
    },
  });
  const second = new StreamedTts({ clock, name: 'second', speed, firstAudioMs: 150 });
  const tts = createTtsFallback({ services: [entry(voice), entry(second)], clock, log });
  const fails = { gone: 'LLM_FAILED', silent: 'LLM_TIMEOUT', refused: 'LLM_AUTH' } as const;
  const first = faultyModel({
    clock,
    name: 'first',
    scriptOf(request) {
      if (!killed('llm') || clock.monotonicMs() < killAt) return repeats(request);
      // The first token's deadline is the client's own.
      return { firstMs: kill.way === 'silent' ? 3_500 : 20, fails: fails[kill.way] };
    },
  });
  const models = [first, faultyModel({ clock, name: 'second', scriptOf: repeats })];
  const llm = new FallbackModel({
    services: models.map((model) => ({ model, circuit: entry(model).circuit })),

    clock,
    log,
  });
  return { stt, tts: timed(tts, clock, times), voice: undefined, llm };
}

/** Notes when the audio of answers comes. */
function timed(tts: SpeechPlan['tts'], clock: FakeClock, times: AnswerTimes): SpeechPlan['tts'] {
  return {
    ...tts,
    stream(voice, listener) {
      let answered: string | undefined;
      const onAudio = (samples: Int16Array): void => {
        const isFirst = answered !== undefined && !times.has(answered);
        if (isFirst && answered !== undefined) times.set(answered, clock.monotonicMs());
        listener.onAudio(samples);
      };
      const inner = tts.stream?.(voice, Object.assign(Object.create(listener), { onAudio }));
      if (inner === undefined) throw new Error('a voice without utterances');
      return {
        push(text) {
          answered ??= /You said (w[\dw ]+)/.exec(text)?.[1];
          inner.push(text);
        },
        flush: () => inner.flush(),
        end: () => inner.end(),
        cancel: () => inner.cancel(),
      };
    },
  };
}

describe('calls whose services fail', () => {
  it.each(WAYS)(
    'go on when services are %s: no word is lost or said twice, no caller waits long',
    async (way) => {
      const { harness } = held;
      await harness.prepare(talk);
      const conversations: Conversation[] = [];
      for (const [nth, job] of JOBS.entries()) {
        const kill = { job, way };
        const times: AnswerTimes = new Map();
        const plan = speechOf(kill, harness.clock, times);
        harness.deps.services.speech.planOf = () => Promise.resolve({ plan, faults: [] });
        const callId = `CA${String(nth + 1).padStart(32, '0')}`;
        const { stream, run } = await harness.inboundCall({ callId });
        conversations.push(new Conversation({ kill, stream, run, harness, times }));
      }
      await harness.passUntil(() => {
        for (const each of conversations) if (!each.isOver) each.tick();
        return conversations.every(({ isOver }) => isOver);
      }, 120_000);
      for (const { kill, stream, run, soundMs, answerMs } of conversations) {
        expect([kill, stream.closed]).toEqual([kill, undefined]);
        stream.hangUp();
        const done = await harness.completed(run);
        const lines = await harness.transcript(done);
        expect([kill, done.disposition, withoutFillers(lines)]).toEqual([
          kill,
          'user_hangup',
          WHOLE,
        ]);
        expect([kill, soundMs.length, answerMs.length]).toEqual([kill, TURNS, TURNS]);
        const isWorst = kill.job === 'all' && kill.way === 'silent';
        const answerMsMax = isWorst ? ALL_SILENT_MS_MAX : ANSWER_MS_MAX;
        const late = [
          ...soundMs.filter((ms) => ms > SOUND_MS_MAX),
          ...answerMs.filter((ms) => ms > answerMsMax),
        ];
        expect([kill, late]).toEqual([kill, []]);
      }
    },
    60_000,
  );
});

const turns = Array.from({ length: TURNS }, (_, turn) => wordsOfTurn(turn));
const WHOLE = [
  'assistant: Hello, what may I write down?',
  ...turns.flatMap((words) => [`user: ${words}`, `assistant: ${answerTo(words)}`]),
];

/** At most one filler stands before an answer. */
function withoutFillers(lines: readonly string[]): string[] {
  const isFiller = (line: string): boolean =>
    /^assistant: (Just a moment|Let me see)\.$/.test(line);
  return lines.filter((line, at) => !isFiller(line) || isFiller(lines[at - 1] ?? ''));
}
