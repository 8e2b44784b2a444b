// One utterance that may change its service (failover). Pushed text is kept until its audio arrives, two deadlines
// detect a silent service, and the next service continues from the first clause that was not delivered.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import {
  CLOSING_MARKS,
  FREE_MARKS,
  SPACED_CLAUSE_MARKS,
  SPACED_SENTENCE_MARKS,
} from '../../std/text/punctuation.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { type ServiceLine, silenceOf, type TtsFallbackService } from './service-line.ts';
import { isSpeakable } from './speakable.ts';
import { spokenLength } from './spoken-length.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener, WordTiming } from './tts.ts';

/** Deadline from the text to the first audio. The last voice may have a longer one of its own. */
const FIRST_AUDIO_MS_MAX = 2_000;
/** Deadline of the last voice without its own, including its retry. */
const LAST_AUDIO_MS = 5_000;
/** Longest time without audio after the received audio was played. */
const STALL_MS_MAX = 2_500;

/** Milliseconds per letter at twice the usual speaking rate. */
const MS_PER_LETTER_MIN = 30;

/** One service's part of the utterance. */
interface Part {
  entry: TtsFallbackService;
  stream: SpeechStream;
  /** Start of its text in the text of the utterance. */
  from: number;
  audioMs: number;
  firstAudioAt: number | undefined;
  words: WordTiming[];
  /** Whether audio arrived since the last piece was pushed. */
  hasAnswered: boolean;
  isRetry: boolean;
}

export class FallbackUtterance implements SpeechStream {
  readonly #line: ServiceLine;
  readonly #clock: Clock;
  readonly #voice: string | undefined;
  readonly #listener: UtteranceListener;
  /** All pieces, joined by one space, and the start of each. */
  #text = '';
  readonly #starts: number[] = [];
  /** Services that failed to speak it. */
  readonly #tried = new Set<TtsFallbackService>();
  #isFlushed = false;
  #isEnded = false;
  #isOver = false;
  #part: Part | undefined;
  /** Deadline for audio, which each chunk extends. */
  readonly #deadline: SlidingDeadline;

  constructor(options: {
    line: ServiceLine;
    clock: Clock;
    voice: string | undefined;
    listener: UtteranceListener;
  }) {
    this.#line = options.line;
    this.#clock = options.clock;
    this.#voice = options.voice;
    this.#listener = options.listener;
    this.#deadline = new SlidingDeadline(options.clock, () => this.#silent());
  }

  push(piece: string): void {
    if (this.#isOver || this.#isEnded || !isSpeakable(piece)) return;
    const start = this.#text === '' ? 0 : this.#text.length + 1;
    this.#starts.push(start);
    this.#text += this.#text === '' ? piece : ` ${piece}`;
    const part = this.#part;
    if (part === undefined) {
      this.#begin(0, false);
      return;
    }
    part.hasAnswered = false;
    part.stream.push(piece);
    if (this.#part === part && !this.#deadline.isSet) this.#await(part);
  }

  flush(): void {
    this.#isFlushed = true;
    this.#part?.stream.flush();
  }

  end(): void {
    if (this.#isOver || this.#isEnded) return;
    this.#isEnded = true;
    const part = this.#part;
    if (part === undefined) {
      // Deferred until the caller's own call has returned, like every other end.
      this.#clock.after(0, () => this.#finish(() => this.#listener.onDone()));
      return;
    }
    part.stream.end();
    if (this.#part === part) this.#await(part);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.clear();
    const part = this.#part;
    part?.stream.cancel();
    if (part !== undefined && part.audioMs > 0) part.entry.circuit.succeeded();
  }

  /** Sends the text from `from` on to the current service. */
  #begin(from: number, isRetry: boolean): boolean {
    const entry = this.#line.current();
    if (entry === undefined || this.#tried.has(entry)) return false;
    const listener: UtteranceListener = {
      onAudio: (samples) => this.#audio(part, samples),
      onWords: (words) => this.#words(part, words),
      onUsage: (usage) => this.#listener.onUsage?.(usage),
      onUnspoken: (error) => this.#listener.onUnspoken?.(error),
      onDone: () => this.#done(part),
      onError: (error) => this.#failed(part, error),
    };
    const part: Part = {
      entry,
      stream: this.#line.open(entry, this.#voice, listener, { isRetry }),
      from,
      audioMs: 0,
      firstAudioAt: undefined,
      words: [],
      hasAnswered: false,
      isRetry,
    };
    this.#part = part;
    this.#await(part);
    this.#give(part);
    return true;
  }

  #give(part: Part): void {
    for (const [at, start] of this.#starts.entries()) {
      const end = (this.#starts[at + 1] ?? this.#text.length + 1) - 1;
      if (end <= part.from || this.#part !== part) continue;
      part.stream.push(this.#text.slice(Math.max(start, part.from), end));
    }
    if (this.#part !== part) return;
    if (this.#isFlushed) part.stream.flush();
    if (this.#isEnded) part.stream.end();
  }

  #audio(part: Part, samples: Int16Array): void {
    if (this.#part !== part || this.#isOver || samples.length === 0) return;
    part.firstAudioAt ??= this.#clock.monotonicMs();
    part.audioMs += samples.length / 8;
    part.hasAnswered = true;
    this.#line.spoke(part.entry);
    this.#await(part);
    this.#listener.onAudio(samples);
  }

  #words(part: Part, words: readonly WordTiming[]): void {
    if (this.#part !== part || this.#isOver) return;
    part.words.push(...words);
    this.#listener.onWords(words);
  }

  #done(part: Part): void {
    if (this.#part !== part || this.#isOver) return;
    if (part.audioMs === 0 && isSpeakable(this.#text.slice(part.from))) {
      this.#failed(part, silenceOf(part.entry, 'overload'));
    } else if (this.#isEnded) {
      part.entry.circuit.succeeded();
      this.#finish(() => this.#listener.onDone());
    } else {
      this.#failed(part, silenceOf(part.entry, 'overload'));
    }
  }

  #failed(part: Part, error: GatewayError): void {
    if (this.#part !== part || this.#isOver) return;
    this.#part = undefined;
    const delivered = this.#delivered(part);
    const isRepeated = !part.isRetry && isWorthRepeating(error, part.audioMs);
    this.#line.failed(part.entry, error, !isRepeated);
    if (!isRepeated) this.#tried.add(part.entry);
    const isComplete = this.#isEnded && delivered >= this.#text.length;
    if (isComplete) {
      this.#finish(() => this.#listener.onDone());
      return;
    }
    if (part.audioMs > 0 || part.words.length > 0) this.#listener.onContinued?.(delivered);
    if (!this.#begin(delivered, isRepeated)) this.#finish(() => this.#listener.onError(error));
  }

  /** Index of the first character for the next service. After all text: start of the next piece. */
  #delivered(part: Part): number {
    const text = this.#text.slice(part.from);
    const characters = deliveredCharacters(text, part.words, part.audioMs);
    return part.from + characters + (characters > 0 && characters >= text.length ? 1 : 0);
  }

  /** Awaits audio if text or the end of the utterance is due. */
  #await(part: Part): void {
    if (this.#text.length <= part.from) {
      this.#deadline.clear();
    } else if (part.firstAudioAt === undefined) {
      this.#deadline.set(firstAudioMs(part.entry.service, this.#line.isLast(part.entry)));
    } else {
      const aheadMs = part.firstAudioAt + part.audioMs - this.#clock.monotonicMs();
      this.#deadline.set(Math.max(0, aheadMs) + STALL_MS_MAX);
    }
  }

  #silent(): void {
    const part = this.#part;
    if (part === undefined || this.#isOver) return;
    // After some audio and without word times, a silent service and a silent model look alike, unless the audio is too
    // short for the text.
    const isTooShort = part.audioMs < spokenLength(this.#text.slice(part.from)) * MS_PER_LETTER_MIN;
    const isKnown = part.words.length > 0 || !part.hasAnswered || isTooShort;
    const isAllSaid = this.#delivered(part) >= this.#text.length;
    if (!this.#isEnded && (isAllSaid || !isKnown)) return;
    part.stream.cancel();
    this.#failed(part, silenceOf(part.entry, 'timeout'));
  }

  #finish(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.clear();
    report();
  }
}

/** Milliseconds from the text to the first audio of the last voice, if all others stay silent. */
export function audioWaitMsOfAll(services: readonly TtsFallbackService[]): number {
  const lastMs = services.at(-1)?.service.audioWaitMs ?? LAST_AUDIO_MS;
  return (services.length - 1) * FIRST_AUDIO_MS_MAX + lastMs;
}

function firstAudioMs({ audioWaitMs = 0 }: TextToSpeech, isLast: boolean): number {
  return isLast ? Math.max(FIRST_AUDIO_MS_MAX, audioWaitMs) : FIRST_AUDIO_MS_MAX;
}

/** Whether the same service is worth a retry at once, on a new connection: while nothing was heard, or if only its
 *  longest session is over. */
function isWorthRepeating(error: GatewayError, audioMs: number): boolean {
  if (!(error instanceof ServiceFault)) return false;
  return error.kind === 'session' || (error.isRepeatable && audioMs === 0);
}

/** Slow speaking rate. Few voices are slower. */
const MS_PER_LETTER = 90;
/** Pause after a clause. */
const PAUSE_MS = 400;
/** Tolerance for a word whose last milliseconds are missing. */
const TOLERANCE_MS = 20;
const SPACED_END = `[${SPACED_SENTENCE_MARKS}${SPACED_CLAUSE_MARKS}][${CLOSING_MARKS}]*(?=\\s|$)`;
const FREE_END = `(?:[${FREE_MARKS}](?!\\p{Nd})|(?<!\\p{Nd})[${FREE_MARKS}])[${CLOSING_MARKS}]*`;
/** End of a phrase in scripts that do not mark clauses. */
const PHRASE_END = String.raw`(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])(?=\s)`;
const CLAUSE = new RegExp(String.raw`\S.*?(?:${SPACED_END}|${FREE_END}|${PHRASE_END}|$)`, 'gsu');

/** Index of the first clause that was not delivered completely; the text's length if all were. Uses word times, and
 *  after them a slow speaking rate: a repeated clause is better than a lost one. */
export function deliveredCharacters(
  text: string,
  words: readonly WordTiming[],
  audioMs: number,
): number {
  const said = words.filter(({ endMs }) => endMs <= audioMs + TOLERANCE_MS);
  const known = positionAfter(text, said);
  // Times of words that are not the text's are ignored.
  const position = known ?? 0;
  let leftMs = audioMs - (known === undefined ? 0 : (said.at(-1)?.endMs ?? 0));
  for (const { start, end } of clausesOf(text)) {
    const rest = text.slice(Math.max(start, position), Math.max(position, end));
    if (!/[\p{L}\p{N}]/u.test(rest)) continue;
    const needMs = spokenLength(rest) * MS_PER_LETTER + PAUSE_MS;
    if (leftMs < needMs) return start;
    leftMs -= needMs;
  }
  return text.length;
}

/** Position after the words in the text. Undefined if they are not its beginning. */
function positionAfter(text: string, words: readonly WordTiming[]): number | undefined {
  const spoken = words.map(({ word }) => word.replace(/\s+/g, '')).join('');
  let at = 0;
  for (const character of spoken) {
    while (/\s/.test(text[at] ?? '')) at++;
    if (!text.startsWith(character, at)) return undefined;
    at += character.length;
  }
  return at;
}

function* clausesOf(text: string): Generator<{ start: number; end: number }> {
  for (const clause of text.matchAll(CLAUSE)) {
    yield { start: clause.index, end: clause.index + clause[0].length };
  }
}
