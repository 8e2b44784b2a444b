// Recogniser of one call on Deepgram's first interface (v1/listen). The gateway detects the end of a turn and sends
// Finalize. Words that the service finalizes earlier are reported at once, which confirms the audio before them.
// Source: Deepgram API reference, "Live audio", messages Results, Finalize, KeepAlive and CloseStream.

import { z } from 'zod';
import { joinSingleWords } from '../../../std/text/unspaced-text.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { joinWords } from '../../stt/joined-words.ts';
import { OwedFinals } from '../../stt/streaming/owed-finals.ts';
import { RecognizerSocket } from '../../stt/streaming/recognizer-socket.ts';
import type { RecognizedWords, Recognizer, RecognizerListener } from '../../stt/stt.ts';

/** The service closes after 10 s without audio and without this message. */
const KEEPALIVE_MS = 4_000;
const CLOSE_STREAM = '{"type":"CloseStream"}';
const PACKET_MS = 100;
/** Wait for the answer to Finalize, whose 99th percentile is 350 ms. Without buffered audio the service may not
 *  answer. */
const FINAL_MS_MAX = 1_000;
/** Audio after the last final words that the service may not have received when it finalized them. An answer that ends
 *  further before the requested position belongs to an earlier Finalize. */
const OPEN_MS = 500;
/** Speech after the last final words that is long enough for a word. */
const WORD_MS = 200;
/** Tolerance of stream positions, which are sums. */
const ROUNDING_S = 0.01;

const word = z.object({
  word: z.string(),
  punctuated_word: z.string().nullish(),
  start: z.number(),
  end: z.number(),
});
const results = z.object({
  start: z.number(),
  duration: z.number(),
  is_final: z.boolean().nullish(),
  speech_final: z.boolean().nullish(),
  from_finalize: z.boolean().nullish(),
  channel: z.object({
    alternatives: z.array(
      z.object({
        transcript: z.string().nullish(),
        confidence: z.number().nullish(),
        words: z.array(word).nullish(),
        languages: z.array(z.string()).nullish(),
      }),
    ),
  }),
});
type Results = z.infer<typeof results>;

export interface NovaOptions {
  means: ServiceMeans;
  model: string;
  key: string;
  url: string;
  listener: RecognizerListener;
}

export class NovaRecognizer implements Recognizer {
  readonly #listener: RecognizerListener;
  readonly #socket: RecognizerSocket;
  readonly #owed: OwedFinals;
  /** Final words that were not reported yet. */
  #pieces: RecognizedWords[] = [];
  #interim: RecognizedWords | undefined;
  #interimStartS = 0;
  #interimEndS = 0;
  /** Position up to which the service has finalized words, in seconds of the stream. */
  #fixedS = 0;
  /** End of the last of these words. The next one may begin before `#fixedS`. */
  #lastWordS = 0;
  /** True from the start of speech to `finalize`. */
  #isInTurn = false;
  /** Whether a message arrived after the last `finalize`. */
  #isAlive = false;
  /** Milliseconds of the stream up to the last `finalize`, and to the end of the speech before it. */
  #askedMs = 0;
  #spokenMs = 0;

  constructor({ means, model, key, url, listener }: NovaOptions) {
    this.#listener = listener;
    this.#owed = new OwedFinals({
      clock: means.clock,
      afterMs: FINAL_MS_MAX,
      isReady: () => this.#socket.isReady,
      onOverdue: () => this.#overdue(),
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
      keepalive: { afterMs: KEEPALIVE_MS, message: '{"type":"KeepAlive"}' },
      onMessage: (message) => this.#message(message),
      onEnd: () => this.#owed.close(),
    });
  }

  get isReady(): boolean {
    return this.#socket.isReady;
  }

  push(frame: Int16Array): void {
    this.#socket.push(frame);
  }

  speechStarted(): void {
    this.#isInTurn = true;
    this.#spokenMs = Number.POSITIVE_INFINITY;
  }

  speechResumed(): void {
    this.#spokenMs = Number.POSITIVE_INFINITY;
  }

  speechStopped(): void {
    this.#spokenMs = this.#socket.pushedMs;
    this.#socket.flush();
  }

  finalize(): void {
    if (this.#socket.hasEnded) return;
    this.#isInTurn = false;
    this.#isAlive = false;
    this.#askedMs = this.#socket.pushedMs;
    this.#spokenMs = Math.min(this.#spokenMs, this.#askedMs);
    this.#owed.ask();
    this.#socket.flush();
    this.#socket.send({ type: 'Finalize' });
  }

  /** No effect: the vocabulary is a part of the address. */
  expect(): void {
    // This interface has no message to change it.
  }

  async finish(): Promise<void> {
    if (this.#socket.hasEnded) return;
    this.#socket.flush();
    await this.#socket.finish({
      last: () => CLOSE_STREAM,
      isOver: ({ type }) => type === 'Metadata',
    });
    this.#fixInterim();
    if (this.#pieces.length > 0) this.#listener.onFinal(this.#take());
    this.close();
  }

  close(): void {
    this.#owed.close();
    this.#socket.close(CLOSE_STREAM);
  }

  #message(message: Record<string, unknown>): void {
    this.#isAlive = true;
    if (message['type'] === 'Error') {
      this.#socket.fail('protocol', String(message['description'] ?? message['message'] ?? ''));
      return;
    }
    const { type, duration } = message;
    if (type === 'Metadata' && typeof duration === 'number') this.#socket.counted(duration);
    // UtteranceEnd, SpeechStarted, and later additions.
    if (type !== 'Results') return;
    const parsed = results.safeParse(message);
    if (parsed.success) this.#results(parsed.data);
    else this.#socket.fail('protocol', 'Results of another form');
  }

  #results(given: Results): void {
    if (given.start >= this.#interimEndS) this.#fixInterim();
    const isOver = given.start + given.duration <= this.#fixedS;
    const words = isOver ? NO_WORDS : wordsAfter(given, this.#lastWordS);
    if (given.is_final !== true) {
      this.#interim = words.text === '' ? undefined : words;
      this.#interimStartS = given.start;
      this.#interimEndS = given.start + given.duration;
      if (words.text !== '') this.#listener.onPartial(joinWords([...this.#pieces, words]));
      return;
    }
    const endS = given.start + given.duration;
    // A late final does not affect later words.
    if (endS > this.#interimStartS + ROUNDING_S) this.#interim = undefined;
    this.#fixedS = Math.max(this.#fixedS, endS);
    this.#fix(words);
    const isAnswer = given.from_finalize === true && endS * 1_000 > this.#askedMs - OPEN_MS;
    if (isAnswer && this.#owed.isDue) this.#answer();
    else if (!this.#owed.isDue) this.#unasked(given.speech_final === true);
  }

  /** In a turn, final words are reported at once. Outside detected speech they are a quiet voice or noise, and are
   *  reported only after the service has detected a pause. */
  #unasked(hasPaused: boolean): void {
    if (this.#pieces.length === 0 || (!this.#isInTurn && !hasPaused)) return;
    this.#listener.onFinal(this.#take());
  }

  /** Adopts interim words whose final was lost: the service is past them. */
  #fixInterim(): void {
    if (this.#interim === undefined) return;
    this.#fix(this.#interim);
    this.#fixedS = Math.max(this.#fixedS, this.#interimEndS);
    this.#interim = undefined;
  }

  #fix(words: RecognizedWords): void {
    if (words.text === '') return;
    this.#pieces.push(words);
    this.#lastWordS = Math.max(this.#lastWordS, (words.words?.at(-1)?.endMs ?? 0) / 1_000);
  }

  #answer(): void {
    this.#owed.answer();
    this.#listener.onFinal(this.#take());
  }

  #take(): RecognizedWords {
    const words = joinWords(this.#pieces);
    this.#pieces = [];
    return words;
  }

  /** Handles a missing answer to Finalize. If the service works, no audio was left to finalize, and interim words are
   *  the best result. If it sends nothing although words or audio are open, it has stopped. */
  #overdue(): void {
    const fixedMs = this.#fixedS * 1_000;
    const isUnfixed = this.#askedMs - fixedMs > OPEN_MS || this.#spokenMs - fixedMs > WORD_MS;
    const isOpen = this.#interim !== undefined || isUnfixed;
    if (isOpen && !this.#isAlive) {
      this.#socket.fail('timeout', 'no answer to Finalize');
      return;
    }
    this.#fixInterim();
    this.#answer();
  }
}

const NO_WORDS: RecognizedWords = { text: '', confidence: null };

/** Words of a result after `fromS`. A result may arrive twice, or late. */
function wordsAfter({ channel }: Results, fromS: number): RecognizedWords {
  const [best] = channel.alternatives;
  const text = best?.transcript?.trim() ?? '';
  if (best === undefined || text === '') return NO_WORDS;
  const all = best.words ?? [];
  const fresh = all.filter((each) => (each.start + each.end) / 2 >= fromS);
  const spoken = joinSingleWords(fresh.map((each) => each.punctuated_word ?? each.word));
  return {
    text: fresh.length === all.length ? text : spoken,
    confidence: best.confidence ?? null,
    words: fresh.map((each) => ({
      word: each.punctuated_word ?? each.word,
      startMs: Math.round(each.start * 1_000),
      endMs: Math.round(each.end * 1_000),
    })),
    language: best.languages?.[0],
  };
}
