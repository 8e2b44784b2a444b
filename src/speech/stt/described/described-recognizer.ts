// Recogniser of one call on a service that is described as data. The gateway detects the end of a turn. Words that the
// service finalizes earlier are reported at once, which confirms the audio before them.

import type {
  DescriptionValues,
  MessageTemplate,
  RecognizerDescription,
} from '../../../model/speech-services/description.ts';
import type { Timer } from '../../../std/clock.ts';
import { parseJson } from '../../../std/json.ts';
import { joinSingleWords } from '../../../std/text/unspaced-text.ts';
import {
  addressOf,
  errorIn,
  filled,
  headersOf,
  meetsConditions,
  messageText,
} from '../../service/description/message-template.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type { VendorSocketOptions } from '../../service/vendor-socket.ts';
import { joinWords, NO_WORDS } from '../joined-words.ts';
import { OwedFinals } from '../streaming/owed-finals.ts';
import { RecognizerSocket } from '../streaming/recognizer-socket.ts';
import type { RecognizedWord, RecognizedWords, Recognizer, RecognizerListener } from '../stt.ts';
import { countedIn, hasInterim, resultsIn } from './described-results.ts';

/** Wait for the answer to `finalize`: this multiple of its 99th percentile, within the limit of a turn. */
const FINAL_SHARE = 1.5;
const FINAL_MS_MIN = 1_000;
const FINAL_MS_MAX = 2_400;

/** Final words that were not reported yet: those of some seconds. */
const PIECES_MAX = 500;
const PIECES_CHARACTERS_MAX = 50_000;

/** Framing of messages that are not JSON. */
export interface Wire {
  opening(): string[];
  read(text: string): Record<string, unknown> | undefined;
  audio(packet: Uint8Array): Uint8Array;
  /** Last message of a session, after its audio. */
  end(): Uint8Array;
}

export interface DescribedOptions {
  means: ServiceMeans;
  service: string;
  model: string;
  baseUrl: string;
  /** Keys among `values`, which are removed from faults. */
  secrets: readonly string[];
  description: RecognizerDescription;
  values: DescriptionValues;
  listener: RecognizerListener;
  wire?: Wire;
  /** Requests the address of the websocket, if the description has a request for it. */
  locate?: VendorSocketOptions['locate'];
}

export class DescribedRecognizer implements Recognizer {
  readonly #options: DescribedOptions;
  readonly #socket: RecognizerSocket;
  readonly #owed: OwedFinals;
  #asking: Timer | undefined;
  /** Final words that were not reported yet. */
  #pieces: RecognizedWords[] = [];
  #piecesCharacters = 0;
  #partial: RecognizedWords = NO_WORDS;
  /** Text that was reported last: services repeat it as interim words. */
  #lastText = '';
  /** Text that was reported without being final. Its final may still arrive. */
  #madeUp: string | undefined;
  /** The last final text, until other words arrive. */
  #lastFinal: string | undefined;
  readonly #fixed = new FixedTimes();
  /** Whether there was speech since the last answer. */
  #hasSpeech = false;
  /** Whether a message arrived after the last `finalize`. */
  #isAlive = false;

  constructor(options: DescribedOptions) {
    this.#options = options;
    const { means, service, model, secrets, baseUrl, description } = options;
    const { values, listener, wire, locate } = options;
    const { audio, ready, keepalive, closes, billing } = description;
    this.#owed = new OwedFinals({
      clock: means.clock,
      afterMs: Math.min(
        FINAL_MS_MAX,
        Math.max(FINAL_MS_MIN, description.final_ms_p99 * FINAL_SHARE),
      ),
      isReady: () => this.#socket.isReady,
      onOverdue: () => this.#overdue(),
    });
    const { message, channels } = audio;
    this.#socket = new RecognizerSocket({
      means,
      model,
      service,
      listener,
      billing,
      url: addressOf(baseUrl.replace(/^http/, 'ws'), description, values),
      ...(locate !== undefined && { locate }),
      headers: headersOf(description.headers, values),
      secrets,
      opening: wire?.opening() ?? description.open.map((each) => messageText(each, values)),
      ...(wire !== undefined && { read: (text: string) => wire.read(text) }),
      format: audio.format,
      packetMs: audio.packet_ms,
      messageOf: (packet) => {
        if (wire !== undefined) return wire.audio(packet);
        const bytes = channels === 2 ? withSilence(packet) : packet;
        if (message === undefined) return bytes;
        return JSON.stringify(filled(message, { ...values, audio: base64(bytes) }));
      },
      ...(ready !== undefined && {
        isReadyMessage: (text) => meetsConditions(parseJson(text), ready),
      }),
      ...(keepalive !== undefined && {
        keepalive: { afterMs: keepalive.after_ms, message: messageText(keepalive.message, values) },
      }),
      kindOfClose: (code) => (Object.hasOwn(closes, code) ? closes[code] : undefined),
      onMessage: (received) => this.#message(received),
      onEnd: () => this.#stop(),
    });
  }

  get isReady(): boolean {
    return this.#socket.isReady;
  }

  push(frame: Int16Array): void {
    this.#socket.push(frame);
  }

  speechStarted(): void {
    this.#madeUp = undefined;
    this.#hasSpeech = true;
    this.#lastFinal = undefined;
  }

  speechResumed(): void {
    this.#lastFinal = undefined;
  }

  speechStopped(): void {
    this.#socket.flush();
  }

  finalize(): void {
    if (this.#socket.hasEnded) return;
    this.#isAlive = false;
    this.#owed.ask();
    this.#socket.flush();
    const { finalize } = this.#options.description;
    if (finalize === undefined) return;
    if (finalize.after_ms === 0) this.#ask();
    else this.#asking ??= this.#options.means.clock.after(finalize.after_ms, () => this.#ask());
  }

  /** No effect: the vocabulary is a part of the address or of the first message. */
  expect(): void {
    // These interfaces have no message to change it.
  }

  /** Sends the last message, or requests the final words if the service has none. Does neither without audio. */
  async finish(): Promise<void> {
    if (this.#socket.hasEnded) return;
    const last = this.#last;
    this.#asking?.cancel();
    this.#socket.flush();
    if (last !== undefined && this.#socket.sentPackets > 0) {
      await this.#socket.finish({ last, isOver: (message) => this.#isLast(message) });
    }
    if (this.#partial.text !== '') this.#pieces.push(this.#partial);
    this.#partial = NO_WORDS;
    this.#give();
    this.close();
  }

  close(): void {
    this.#stop();
    const { close } = this.#options.description;
    this.#socket.close(close === undefined ? undefined : this.#text(close));
  }

  /** The last message of a session. */
  get #last(): (() => string | Uint8Array) | undefined {
    const { description, wire } = this.#options;
    if (wire !== undefined) return () => wire.end();
    const template = description.close ?? description.finalize?.message;
    return template === undefined ? undefined : () => this.#text(template);
  }

  /** Whether texts are pieces with their own spaces, which may split words. */
  get #isInPieces(): boolean {
    const { is_delta: isDelta, tokens } = this.#options.description;
    return isDelta || tokens !== undefined;
  }

  get #hasInterim(): boolean {
    return hasInterim(this.#options.description);
  }

  #ask(): void {
    this.#asking = undefined;
    const { finalize } = this.#options.description;
    if (finalize === undefined || this.#socket.hasEnded) return;
    this.#socket.flush();
    this.#socket.sendText(this.#text(finalize.message));
  }

  /** Sends a message that is not audio. */
  #text(template: MessageTemplate): string {
    const { description, values } = this.#options;
    const packets = this.#socket.sentPackets;
    const audio = description.audio.message === undefined ? undefined : '';
    return messageText(template, { ...values, audio, packets });
  }

  /** Whether the service sends nothing more after this message. */
  #isLast(message: Record<string, unknown>): boolean {
    const { description } = this.#options;
    if (errorIn(message, description.errors) !== undefined) return true;
    const { close, closed } = description;
    if (close !== undefined) return closed !== undefined && meetsConditions(message, closed);
    const { isAnswer, final } = resultsIn(message, description);
    return isAnswer || (description.finalize?.answer === undefined && final !== undefined);
  }

  #message(message: Record<string, unknown>): void {
    this.#isAlive = true;
    const { description } = this.#options;
    const seconds = countedIn(message, description);
    if (seconds !== undefined) this.#socket.counted(seconds);
    const error = errorIn(message, description.errors);
    if (error !== undefined) {
      this.#socket.fail(error.kind, error.detail, error.vendorCode);
      return;
    }
    const { final, partial, isAnswer } = resultsIn(message, description);
    if (final !== undefined) this.#final(final);
    if (this.#socket.hasEnded) return;
    if (partial !== undefined) this.#interim(partial);
    const { finalize, tokens } = description;
    const hasAnswer = (finalize?.answer ?? tokens?.answer) !== undefined;
    const answersBySilence = !hasAnswer && final !== undefined && this.#pieces.length > 0;
    if (isAnswer || answersBySilence) this.#answer();
    else if (!this.#owed.isDue && !this.#isInPieces) this.#give();
  }

  #interim(words: RecognizedWords): void {
    const text = words.text.trim();
    const isRepeated = text === this.#partial.text || (text !== '' && text === this.#lastText);
    if (isRepeated) return;
    this.#partial = { ...words, text };
    if (text !== '') this.#lastFinal = undefined;
    if (text !== '') this.#options.listener.onPartial(this.#joined([...this.#pieces, words]));
  }

  #final(given: RecognizedWords): void {
    this.#partial = NO_WORDS;
    const words = this.#fresh(given);
    if (this.#madeUp !== undefined && plain(words.text) === this.#madeUp) {
      this.#madeUp = undefined;
      return;
    }
    if (words.text.trim() === '') return;
    const isWord = /^\s/.test(words.text) || /\s$/.test(this.#pieces.at(-1)?.text ?? '');
    // The earlier pieces are whole words.
    if (this.#isInPieces && isWord && !this.#owed.isDue) this.#give();
    this.#pieces.push(words);
    this.#piecesCharacters += words.text.length;
    const isTooMuch = this.#piecesCharacters > PIECES_CHARACTERS_MAX;
    if (isTooMuch || this.#pieces.length > PIECES_MAX) {
      this.#socket.fail('protocol', 'words without an end');
    }
  }

  /** Removes words that were finalized before: a final may arrive twice. */
  #fresh(given: RecognizedWords): RecognizedWords {
    const { words = [] } = given;
    const fresh = words.filter((word) => this.#fixed.isNew(word));
    this.#fixed.add(words);
    const isTwice = words.length > 0 ? fresh.length === 0 : given.text === this.#lastFinal;
    if (given.text.trim() !== '' && !this.#isInPieces) this.#lastFinal = given.text;
    if (isTwice) return NO_WORDS;
    if (fresh.length === words.length) return given;
    return { ...given, text: joinSingleWords(fresh.map(({ word }) => word)), words: fresh };
  }

  #answer(): void {
    this.#hasSpeech = false;
    if (this.#owed.answer()) this.#options.listener.onFinal(this.#take());
    else this.#give();
  }

  #give(): void {
    if (this.#pieces.length > 0) this.#options.listener.onFinal(this.#take());
  }

  #take(): RecognizedWords {
    const words = this.#joined(this.#pieces);
    this.#pieces = [];
    this.#piecesCharacters = 0;
    this.#lastText = words.text;
    return words;
  }

  #joined(given: readonly RecognizedWords[]): RecognizedWords {
    const pieces = inOrder(given);
    const all = joinWords(pieces);
    if (!this.#isInPieces) return all;
    const text = pieces.map((piece) => piece.text).join('');
    // Punctuation and the rest of a word have no times.
    const words = pieces.flatMap((piece) => piece.words ?? []);
    return {
      ...all,
      text: text.replace(/\s+/g, ' ').trim(),
      words: words.length === 0 ? undefined : words,
    };
  }

  /** Handles a missing answer. If the service works, it had no words left to finalize, and interim words are the best
   *  result. If it sends nothing while words are open, it has stopped. */
  #overdue(): void {
    const isOpen = this.#partial.text !== '' || (this.#hasSpeech && !this.#hasInterim);
    if (isOpen && !this.#isAlive) {
      this.#socket.fail('timeout', 'no final words in time');
      return;
    }
    if (this.#partial.text !== '') {
      this.#madeUp = plain(this.#partial.text);
      this.#fixed.close(this.#socket.pushedMs);
      this.#pieces.push(this.#partial);
      this.#partial = NO_WORDS;
    }
    this.#answer();
  }

  #stop(): void {
    this.#owed.close();
    this.#asking?.cancel();
    this.#asking = undefined;
  }
}

/** Sorts pieces by time if all have times: finals may arrive out of order. */
function inOrder(pieces: readonly RecognizedWords[]): readonly RecognizedWords[] {
  const startOf = ({ words }: RecognizedWords): number | undefined => words?.[0]?.startMs;
  if (pieces.some((piece) => startOf(piece) === undefined)) return pieces;
  return [...pieces].sort((one, other) => (startOf(one) ?? 0) - (startOf(other) ?? 0));
}

/** Adds a silent second channel to 16-bit samples. */
function withSilence(packet: Uint8Array): Uint8Array {
  const both = new Uint8Array(packet.length * 2);
  for (let at = 0; at < packet.length; at += 2) both.set(packet.subarray(at, at + 2), at * 2);
  return both;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function plain(text: string): string {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return joinSingleWords(words);
}

/** Finals that a late one may precede: services send them within seconds. */
const SPANS_MAX = 20;

/** Time ranges of a stream whose words are final. A final may arrive twice, or after a later one: words between two finals
 *  are new, words within one are not. */
export class FixedTimes {
  /** Range of each final from its first to its last word, in order of arrival. */
  readonly #spans: { startMs: number; endMs: number }[] = [];
  /** Latest end of a final. */
  #endMs = 0;
  /** Position before which only words after `#endMs` are new. */
  #closedMs = 0;

  isNew({ startMs, endMs }: RecognizedWord): boolean {
    const middleMs = (startMs + endMs) / 2;
    if (middleMs >= this.#endMs) return true;
    if (middleMs < this.#closedMs) return false;
    return !this.#spans.some((span) => middleMs >= span.startMs && middleMs < span.endMs);
  }

  add(words: readonly RecognizedWord[]): void {
    const [first] = words;
    const last = words.at(-1);
    if (first === undefined || last === undefined) return;
    this.#spans.push({ startMs: first.startMs, endMs: last.endMs });
    this.#endMs = Math.max(this.#endMs, last.endMs);
    if (this.#spans.length <= SPANS_MAX) return;
    this.close(this.#spans.shift()?.endMs ?? 0);
  }

  /** Declares that no late final has new words before `ms`. */
  close(ms: number): void {
    this.#closedMs = Math.max(this.#closedMs, ms);
  }
}
