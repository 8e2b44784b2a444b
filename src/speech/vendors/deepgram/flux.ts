// Recogniser of one call on Deepgram's second interface (v2/listen). The service detects the start and end of a turn
// (endpointing), and the gateway may force the end.
// Source: Deepgram API reference, "Turn-based audio", messages TurnInfo, Configure, ForceEndTurn and CloseStream.

import { z } from 'zod';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { RecognizerSocket } from '../../stt/streaming/recognizer-socket.ts';
import { ServiceTurns } from '../../stt/streaming/service-turns.ts';
import type { RecognizedWords, Recognizer, RecognizerListener } from '../../stt/stt.ts';

const PACKET_MS = 80;
/** Longest wait for a message within a turn: the service sends one every 250 ms. */
const TURN_INFO_MS_MAX = 2_500;
/** Wait for words in flight when the end is forced without an open turn. */
const IN_FLIGHT_MS_MAX = 400;
/** Audio gap after which silence is sent: without audio, an open turn never ends. */
const GAP_MS = 500;
const CLOSE_STREAM = '{"type":"CloseStream"}';

const word = z.object({ word: z.string(), start: z.number().nullish(), end: z.number().nullish() });
const turnInfo = z.object({
  event: z.string(),
  turn_index: z.number(),
  audio_window_end: z.number().nullish(),
  transcript: z.string().nullish(),
  words: z.array(word.extend({ confidence: z.number().nullish() })).nullish(),
  languages: z.array(z.string()).nullish(),
});
type TurnInfo = z.infer<typeof turnInfo>;

interface FluxOptions {
  means: ServiceMeans;
  model: string;
  key: string;
  url: string;
  listener: RecognizerListener;
  expectation: ExpectedInput;
  /** Parameters of the service for an expected input. */
  wanted(next: ExpectedInput): { keyterms: readonly string[]; thresholds: FluxThresholds };
  /** Undefined: the model accepts no language hints. */
  language: string | undefined;
}

export class FluxRecognizer implements Recognizer {
  readonly #options: FluxOptions;
  readonly #socket: RecognizerSocket;
  readonly #turns: ServiceTurns;
  readonly #configuration: FluxConfiguration;
  /** Position of the last `finalize` in the stream, in milliseconds. */
  #askedMs = 0;
  #gap: Timer | undefined;
  #hadAudio = false;
  readonly #time = new StreamTime();

  constructor(options: FluxOptions) {
    this.#options = options;
    const { means, model, key, url, listener } = options;
    this.#turns = new ServiceTurns({
      clock: means.clock,
      listener,
      inFlightMsMax: IN_FLIGHT_MS_MAX,
      isReady: () => this.#socket.isReady,
      force: () => this.#socket.send({ type: 'ForceEndTurn' }),
      fail: () => this.#socket.fail('timeout', 'no answer to ForceEndTurn'),
    });
    this.#socket = new RecognizerSocket({
      means,
      model,
      url,
      listener,
      service: 'deepgram',
      headers: { authorization: `Token ${key}` },
      secrets: [key],
      format: 'ulaw8',
      packetMs: PACKET_MS,
      billing: 'audio',
      isReadyMessage: (text) => isConnected(parseJson(text)),
      onMessage: (message) => this.#message(message),
      onEnd: () => this.#stop(),
    });
    this.#configuration = new FluxConfiguration({
      clock: means.clock,
      known: {
        ...options.wanted(options.expectation),
        ...(options.language !== undefined && { language_hints: hintsOf(options.language) }),
      },
      send: (configure) => this.#socket.send(configure),
    });
  }

  get isReady(): boolean {
    return this.#socket.isReady;
  }

  push(frame: Int16Array): void {
    this.#hadAudio = true;
    this.#socket.push(frame);
    if (this.#turns.isOpen) this.#socket.expectAnswer(TURN_INFO_MS_MAX);
  }

  speechStarted(): void {
    // The service detects speech itself.
  }

  speechStopped(): void {
    this.#socket.flush();
  }

  finalize(): void {
    if (this.#socket.hasEnded) return;
    this.#askedMs = this.#socket.pushedMs;
    this.#socket.flush();
    this.#turns.finalize();
  }

  expect(expectation: ExpectedInput): void {
    if (!this.#socket.hasEnded) this.#configuration.want(this.#options.wanted(expectation));
  }

  setLanguage(language: string): void {
    if (this.#socket.hasEnded || this.#options.language === undefined) return;
    this.#configuration.want({ language_hints: hintsOf(language) });
  }

  /** Sends the end of the audio. The service decodes the rest, sends its words in an Update of the still open turn, and
   *  closes the connection. */
  async finish(): Promise<void> {
    if (this.#socket.hasEnded) return;
    this.#turns.finishing();
    this.#awaitNothing();
    this.#socket.flush();
    await this.#socket.finish({ last: () => CLOSE_STREAM, isOver: () => false });
    this.#turns.finished();
    this.close();
  }

  close(): void {
    this.#stop();
    this.#socket.close(CLOSE_STREAM);
  }

  #message(message: Record<string, unknown>): void {
    this.#turns.alive();
    switch (message['type']) {
      case 'TurnInfo': {
        const parsed = turnInfo.safeParse(message);
        if (parsed.success) this.#turnInfo(parsed.data);
        else this.#socket.fail('protocol', 'TurnInfo of another form');
        break;
      }
      case 'ConfigureSuccess':
      case 'ConfigureFailure':
        this.#configuration.answered();
        break;
      case 'Error':
        this.#socket.fail(
          'protocol',
          String(message['description'] ?? ''),
          String(message['code'] ?? 'unknown'),
        );
        break;
      default: // Connected, Warning, and whatever is added.
    }
  }

  #turnInfo(info: TurnInfo): void {
    const words = wordsOf(info, this.#time);
    const wasOpen = this.#turns.isOpen;
    if (info.event === 'EndOfTurn') this.#turns.end(info.turn_index, words);
    else this.#turns.update(info.turn_index, words);
    if (info.event === 'EagerEndOfTurn') this.#turns.hint('eager-end', words);
    else if (info.event === 'TurnResumed') this.#turns.hint('resumed', words);
    if (!wasOpen && this.#turns.isOpen) {
      this.#hadAudio = true;
      this.#awaitAudio();
    }
    if ((info.audio_window_end ?? 0) * 1_000 >= this.#askedMs) this.#turns.nothingSaid();
  }

  #awaitAudio(): void {
    this.#gap?.cancel();
    this.#gap = this.#options.means.clock.after(GAP_MS, () => {
      if (!this.#turns.isOpen) return;
      if (!this.#hadAudio) {
        this.#time.inserted(this.#socket.pushedMs, GAP_MS);
        this.#socket.push(new Int16Array(GAP_MS * 8));
      }
      this.#hadAudio = false;
      this.#awaitAudio();
    });
  }

  #stop(): void {
    this.#turns.close();
    this.#awaitNothing();
  }

  #awaitNothing(): void {
    this.#configuration.close();
    this.#gap?.cancel();
    this.#gap = undefined;
  }
}

/** Language hints. `multi`: none, so that every language of the model is recognised. */
function hintsOf(language: string): string[] {
  return language === 'multi' ? [] : [language];
}

function isConnected(message: unknown): boolean {
  return isObject(message) && message['type'] === 'Connected';
}

function wordsOf({ transcript, words, languages }: TurnInfo, time: StreamTime): RecognizedWords {
  const timed = (words ?? []).flatMap(({ word: text, start, end }) =>
    typeof start === 'number' && typeof end === 'number'
      ? [
          {
            word: text,
            startMs: Math.round(time.inCall(start * 1_000)),
            endMs: Math.round(time.inCall(end * 1_000)),
          },
        ]
      : [],
  );
  const sure = (words ?? []).flatMap(({ confidence }) =>
    typeof confidence === 'number' ? [confidence] : [],
  );
  return {
    text: transcript?.trim() ?? '',
    confidence: sure.length === 0 ? null : Math.min(...sure),
    words: timed.length === (words ?? []).length && timed.length > 0 ? timed : undefined,
    language: languages?.[0],
  };
}

/** The service answers every Configure. After this time the next one is sent without the answer. */
const ANSWER_MS_MAX = 5_000;

export interface FluxThresholds {
  eot_threshold: number;
  eot_timeout_ms: number;
}

type Values = Record<string, unknown>;

/** Sends Configure messages one at a time, with the values that changed since the last one. */
class FluxConfiguration {
  readonly #clock: Clock;
  readonly #send: (configure: Values) => void;
  /** JSON of each value that the service has. */
  readonly #known = new Map<string, string>();
  #wanted: Values = {};
  #answer: Timer | undefined;

  constructor(options: { clock: Clock; known: Values; send: (configure: Values) => void }) {
    this.#clock = options.clock;
    this.#send = options.send;
    this.#keep(options.known);
  }

  want(values: Values): void {
    this.#wanted = { ...this.#wanted, ...values };
    if (this.#answer === undefined) this.#next();
  }

  answered(): void {
    this.close();
    this.#next();
  }

  close(): void {
    this.#answer?.cancel();
    this.#answer = undefined;
  }

  #next(): void {
    const changed = Object.entries(this.#wanted).filter(
      ([name, value]) => this.#known.get(name) !== JSON.stringify(value),
    );
    this.#wanted = {};
    if (changed.length === 0) return;
    const values = Object.fromEntries(changed);
    this.#keep(values);
    this.#answer = this.#clock.after(ANSWER_MS_MAX, () => this.answered());
    this.#send({ type: 'Configure', ...values });
  }

  #keep(values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      this.#known.set(name, JSON.stringify(value));
    }
  }
}

/** Gaps that are stored. Older ones precede any word that can still arrive. */
const GAPS_MAX = 50;

/** Converts times in the service's stream to the call's audio: the stream also contains silence that was sent during
 *  gaps in the call's audio. */
class StreamTime {
  #gaps: { atMs: number; ms: number }[] = [];
  #beforeMs = 0;

  /** Records `ms` of silence that was inserted at `atMs` of the stream. */
  inserted(atMs: number, ms: number): void {
    this.#gaps.push({ atMs, ms });
    if (this.#gaps.length > GAPS_MAX) this.#beforeMs += this.#gaps.shift()?.ms ?? 0;
  }

  /** Converts to milliseconds of the call's audio. */
  inCall(streamMs: number): number {
    let ms = streamMs - this.#beforeMs;
    for (const gap of this.#gaps) ms -= Math.min(gap.ms, Math.max(0, streamMs - gap.atMs));
    return ms;
  }
}
