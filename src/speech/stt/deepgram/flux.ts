// A call's recogniser on Deepgram's second interface (v2/listen): the service decides when a turn starts and ends, and
// the gateway may force the end.
// Source: Deepgram API reference, "Turn-based audio", messages TurnInfo, Configure, ForceEndTurn and CloseStream.

import { z } from 'zod';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { NO_WORDS } from '../joined-words.ts';
import { OwedFinals } from '../owed-finals.ts';
import { RecognizerSocket } from '../recognizer-socket.ts';
import { StreamTime } from '../stream-time.ts';
import type { RecognizedWords, Recognizer, RecognizerListener } from '../stt.ts';
import { FluxConfiguration, type FluxThresholds } from './flux-configuration.ts';

const PACKET_MS = 80;
/** Within a turn the service sends a message every 250 ms. */
const TURN_INFO_MS_MAX = 2_500;
/** After ForceEndTurn. */
const FINAL_MS_MAX = 1_000;
/** Words that are in flight when the end is forced without an open turn. */
const IN_FLIGHT_MS_MAX = 400;
/** Without audio in a turn, its end never comes: silence is sent instead. */
const GAP_MS = 500;

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

export interface FluxOptions {
  means: ServiceMeans;
  model: string;
  key: string;
  url: string;
  listener: RecognizerListener;
  expectation: ExpectedInput;
  /** What the service should know for an expected input. */
  wanted(next: ExpectedInput): { keyterms: readonly string[]; thresholds: FluxThresholds };
  /** Whether the model takes hints of the language. */
  takesLanguage: boolean;
}

export class FluxRecognizer implements Recognizer {
  readonly #options: FluxOptions;
  readonly #socket: RecognizerSocket;
  readonly #owed: OwedFinals;
  readonly #configuration: FluxConfiguration;
  /** The open turn. */
  #turn: { index: number; words: RecognizedWords } | undefined;
  /** The last turn that has ended; a repeated end counts once. */
  #endedIndex = -1;
  #mustForce = false;
  /** Milliseconds of the stream up to the last `finalize`, and up to the last message. */
  #askedMs = 0;
  #coveredMs = 0;
  #inFlight: Timer | undefined;
  #gap: Timer | undefined;
  #hadAudio = false;
  readonly #time = new StreamTime();

  constructor(options: FluxOptions) {
    this.#options = options;
    const { means, model, key, url, listener } = options;
    this.#owed = new OwedFinals({
      clock: means.clock,
      afterMs: FINAL_MS_MAX,
      onOverdue: () => this.#overdue(),
    });
    this.#socket = new RecognizerSocket({
      ...{ means, model, url, listener },
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
      known: options.wanted(options.expectation),
      send: (configure) => this.#socket.send(configure),
    });
  }

  push(frame: Int16Array): void {
    this.#hadAudio = true;
    this.#socket.push(frame);
    if (this.#turn !== undefined) this.#socket.expectAnswer(TURN_INFO_MS_MAX);
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
    this.#owed.ask();
    this.#socket.flush();
    if (this.#turn !== undefined) {
      this.#force();
      return;
    }
    this.#mustForce = true;
    const { clock } = this.#options.means;
    this.#inFlight ??= clock.after(IN_FLIGHT_MS_MAX, () => this.#nothingSaid());
  }

  expect(expectation: ExpectedInput): void {
    if (!this.#socket.hasEnded) this.#configuration.want(this.#options.wanted(expectation));
  }

  setLanguage(language: string): void {
    if (this.#socket.hasEnded || !this.#options.takesLanguage) return;
    this.#configuration.want({ language_hints: [language] });
  }

  close(): void {
    this.#stop();
    this.#socket.close({ type: 'CloseStream' });
  }

  #message(message: Record<string, unknown>): void {
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
    if (info.turn_index <= this.#endedIndex) return;
    const words = wordsOf(info, this.#time);
    this.#coveredMs = (info.audio_window_end ?? 0) * 1_000;
    // The end of the open turn was lost.
    if (this.#turn !== undefined && info.turn_index > this.#turn.index) {
      this.#ended(this.#turn.index, this.#turn.words);
    }
    if (info.event === 'EndOfTurn') this.#ended(info.turn_index, words);
    else this.#progress(info, words);
  }

  #progress(info: TurnInfo, words: RecognizedWords): void {
    if (info.event === 'StartOfTurn' || (info.event === 'Update' && words.text !== '')) {
      this.#started(info.turn_index, words);
    } else if (this.#turn === undefined && this.#coveredMs >= this.#askedMs) {
      this.#nothingSaid();
    }
    if (this.#turn !== undefined && words.text !== this.#turn.words.text) {
      this.#turn.words = words;
      if (words.text !== '') this.#options.listener.onPartial(words);
    }
    const turn = info.event === 'EagerEndOfTurn' ? 'eager-end' : 'resumed';
    if (turn === 'eager-end' || info.event === 'TurnResumed') {
      this.#options.listener.onTurn?.(turn, words);
    }
  }

  #started(index: number, words: RecognizedWords): void {
    if (this.#turn !== undefined) return;
    this.#turn = { index, words: NO_WORDS };
    this.#hadAudio = true;
    this.#awaitAudio();
    this.#options.listener.onTurn?.('started', words);
    if (this.#mustForce) this.#force();
  }

  #ended(index: number, words: RecognizedWords): void {
    this.#turn = undefined;
    this.#endedIndex = index;
    this.#owed.answer();
    this.#options.listener.onFinal(words);
    this.#options.listener.onTurn?.('ended', words);
    // Answers to further demands are contained in this one.
    while (this.#owed.answer()) this.#options.listener.onFinal(NO_WORDS);
    this.#cancelForce();
  }

  /** Only in an open turn: without one, the service ignores it. */
  #force(): void {
    this.#cancelForce();
    this.#socket.send({ type: 'ForceEndTurn' });
  }

  /** The service has processed the audio, and no turn has started. */
  #nothingSaid(): void {
    this.#cancelForce();
    while (this.#owed.answer()) this.#options.listener.onFinal(NO_WORDS);
  }

  #cancelForce(): void {
    this.#mustForce = false;
    this.#inFlight?.cancel();
    this.#inFlight = undefined;
  }

  #overdue(): void {
    if (this.#turn === undefined) this.#nothingSaid();
    else this.#socket.fail('timeout', 'no answer to ForceEndTurn');
  }

  #awaitAudio(): void {
    this.#gap?.cancel();
    this.#gap = this.#options.means.clock.after(GAP_MS, () => {
      if (this.#turn === undefined) return;
      if (!this.#hadAudio) {
        this.#time.inserted(this.#socket.pushedMs, GAP_MS);
        this.#socket.push(new Int16Array(GAP_MS * 8));
      }
      this.#hadAudio = false;
      this.#awaitAudio();
    });
  }

  #stop(): void {
    this.#owed.close();
    this.#cancelForce();
    this.#configuration.close();
    this.#gap?.cancel();
    this.#gap = undefined;
    this.#turn = undefined;
  }
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
