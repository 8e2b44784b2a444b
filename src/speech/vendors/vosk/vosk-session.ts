// Websocket session with a Vosk server: the config first, then audio, and one reply to each audio message. A reset
// requests the final words and starts a new utterance on the same socket.
// Source: websocket/asr_server.py of vosk-server.

import { isObject, parseJson } from '../../../std/json.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { VendorSocket } from '../../service/vendor-socket.ts';
import { joinWords, NO_WORDS } from '../../stt/joined-words.ts';
import type { RecognizedWord, RecognizedWords } from '../../stt/stt.ts';

/** Constants of the protocol. */
const VOSK = {
  rateHz: 8_000,
  /** The server compares the text exactly: it reads other spellings of the same JSON as audio. */
  reset: '{"reset" : 1}',
  eof: '{"eof" : 1}',
  /** Placeholder for all words outside the phrase list. */
  unknownWord: '[unk]',
} as const;

/** Messages without a reply, 100 ms each. A server that lags by more serves too many streams for its cores. */
const REPLIES_DUE_MAX = 25;
/** Deadline of a reply. */
const REPLY_MS_MAX = 2_500;
/** Words in one reply: two minutes of speech. */
const WORDS_MAX = 600;
/** Tolerance for a word that starts before its utterance's first sample, because the server rounds. */
const START_SLACK_MS = 200;

export interface VoskSessionOptions {
  url: string;
  apiKey: string | undefined;
  /** Closed list of answers. Undefined: open speech. */
  phrases: readonly string[] | undefined;
  means: ServiceMeans;
  listener: {
    /** Called for each reply, even without words. */
    onReply(): void;
    onPartial(text: string): void;
    /** Called with final words. `isAnswer`: they answer `reset`; otherwise the server detected the end itself. */
    onWords(words: RecognizedWords, isAnswer: boolean): void;
    onFault(fault: ServiceFault): void;
  };
}

interface Utterance {
  /** Position of its first sample on the call's clock and in the stream of this socket. */
  callMs: number;
  streamMs: number;
}

export class VoskSession {
  readonly phrases: readonly string[] | undefined;
  readonly #socket: VendorSocket;
  readonly #listener: VoskSessionOptions['listener'];
  #sent = 0;
  #replied = 0;
  #sentSamples = 0;
  #isOpened = false;
  /** Samples that `takeSent` has returned so far. */
  #countedSamples = 0;
  /** Numbers of the reset messages without a reply. */
  readonly #resets: number[] = [];
  /** Utterances whose words are due, oldest first: one more than resets without a reply. */
  readonly #utterances: Utterance[] = [];
  /** Words that arrived while a reset waits for its reply. */
  #held: RecognizedWords[] = [];
  #partial = '';
  /** Whether times restart at a reset: some servers do that. Proven by a word that starts before its utterance. */
  #timesRestart = false;

  constructor(options: VoskSessionOptions) {
    const { url, apiKey, means, listener, phrases } = options;
    this.phrases = phrases;
    this.#listener = listener;
    this.#socket = new VendorSocket({
      job: 'stt',
      service: 'vosk',
      url,
      ...(apiKey !== undefined && { headers: { authorization: `Bearer ${apiKey}` } }),
      secrets: apiKey === undefined ? [] : [apiKey],
      ...means,
      listener: {
        onReady: () => {
          this.#isOpened = true;
        },
        onText: (text) => this.#reply(text),
        onFault: (fault) => listener.onFault(fault),
      },
    });
    const list = phrases && { phrase_list: [...phrases, VOSK.unknownWord] };
    this.#socket.send(
      JSON.stringify({ config: { sample_rate: VOSK.rateHz, words: true, ...list } }),
    );
  }

  /** Number of resets without an answer. */
  get owed(): number {
    return this.#resets.length;
  }

  /** The next samples begin an utterance, which starts at `callMs`. */
  begin(callMs: number): void {
    this.#utterances.push({ callMs, streamMs: (this.#sentSamples * 1_000) / VOSK.rateHz });
  }

  /** Sends audio and takes ownership of `samples`. */
  audio(samples: Int16Array<ArrayBuffer>): void {
    this.#sentSamples += samples.length;
    this.#send(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  }

  /** Samples sent since the last call of this. Audio that waits for the connection does not count. */
  takeSent(): number {
    if (!this.#isOpened) return 0;
    const samples = this.#sentSamples - this.#countedSamples;
    this.#countedSamples = this.#sentSamples;
    return samples;
  }

  reset(): void {
    this.#send(VOSK.reset);
    this.#resets.push(this.#sent);
  }

  /** Ends the session. The due answers and the words of the open utterance arrive before this resolves, within 2 s.
   *  Never rejects. */
  finish(): Promise<void> {
    this.#sent += 1;
    return this.#socket.finish(VOSK.eof, () => this.#replied >= this.#sent);
  }

  close(): void {
    this.#socket.close(VOSK.eof);
  }

  fail(detail: string): void {
    this.#socket.fail('timeout', detail);
  }

  #send(message: string | Uint8Array): void {
    this.#sent += 1;
    this.#socket.send(message);
    // Until the socket is open, its own deadline applies.
    if (!this.#socket.isReady) return;
    this.#socket.expectAnswer(REPLY_MS_MAX);
    if (this.#sent - this.#replied > REPLIES_DUE_MAX) {
      this.#socket.fail('overload', 'the replies lag behind the audio');
    }
  }

  #reply(text: string): void {
    const reply = parseJson(text);
    if (!isObject(reply)) {
      this.#socket.fail('protocol', 'a reply that is not a JSON object');
      return;
    }
    this.#replied += 1;
    this.#listener.onReply();
    if (this.#replied < this.#sent) this.#socket.expectAnswer(REPLY_MS_MAX);
    const isAnswer = this.#replied === this.#resets[0];
    const partial = reply['partial'];
    if (typeof partial === 'string' && !isAnswer) this.#tellPartial(partial);
    else this.#tellWords(wordsOf(reply), isAnswer);
  }

  #tellPartial(partial: string): void {
    const text = spoken(partial);
    if (text === this.#partial || this.owed > 0) return;
    this.#partial = text;
    this.#listener.onPartial(text);
  }

  #tellWords(heard: RecognizedWords, isAnswer: boolean): void {
    const words = this.#onCallClock(heard);
    this.#partial = '';
    if (!isAnswer && this.owed > 0) {
      this.#held.push(words);
      return;
    }
    if (!isAnswer) {
      if (words.text !== '') this.#listener.onWords(words, false);
      return;
    }
    this.#resets.shift();
    this.#utterances.shift();
    const all = joinWords([...this.#held, words]);
    this.#held = [];
    this.#listener.onWords(all, true);
  }

  #onCallClock(heard: RecognizedWords): RecognizedWords {
    const [utterance] = this.#utterances;
    const { words } = heard;
    if (words === undefined || utterance === undefined) return { ...heard, words: undefined };
    const { callMs, streamMs } = utterance;
    this.#timesRestart ||= words.some(({ startMs }) => startMs < streamMs - START_SLACK_MS);
    const shiftMs = callMs - (this.#timesRestart ? 0 : streamMs);
    const shifted = words.map(({ word, startMs, endMs }) => ({
      word,
      startMs: Math.max(0, Math.round(startMs + shiftMs)),
      endMs: Math.max(0, Math.round(endMs + shiftMs)),
    }));
    return { ...heard, words: shifted };
  }
}

/** Words of `{"text", "result"}`, or of the best of `{"alternatives"}`. Never throws; missing parts are empty. */
function wordsOf(reply: Record<string, unknown>): RecognizedWords {
  const { alternatives } = reply;
  const best: unknown = Array.isArray(alternatives) ? alternatives[0] : reply;
  if (!isObject(best)) return NO_WORDS;
  const { text, result } = best;
  const words: RecognizedWord[] = [];
  let sure = 0;
  for (const each of Array.isArray(result) ? result.slice(0, WORDS_MAX) : []) {
    const word = wordOf(each);
    if (word === undefined) continue;
    words.push(word);
    sure += word.sure;
  }
  const confidence = words.length === 0 ? Number.NaN : sure / words.length;
  return {
    text: typeof text === 'string' ? spoken(text) : '',
    confidence: Number.isFinite(confidence) ? Math.min(1, Math.max(0, confidence)) : null,
    ...(words.length > 0 && { words }),
  };
}

/** `sure`: confidence, NaN if the server sends none. */
function wordOf(value: unknown): (RecognizedWord & { sure: number }) | undefined {
  if (!isObject(value)) return undefined;
  const { word, start, end, conf } = value;
  if (typeof word !== 'string' || word === VOSK.unknownWord) return undefined;
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  const sure = typeof conf === 'number' ? conf : Number.NaN;
  return { word, startMs: start * 1_000, endMs: end * 1_000, sure };
}

function spoken(text: string): string {
  return text.replaceAll(VOSK.unknownWord, ' ').replace(/\s+/g, ' ').trim();
}
