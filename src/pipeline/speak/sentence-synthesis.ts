// Synthesis where each sentence is a request of its own: splits the agent's text into sentences and requests them in
// order, one ahead of the one that plays. Segments carry the audio to playout.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../../speech/service/service-means.ts';
import { plainSpeech } from '../../speech/tts/plain-speech.ts';
import { isSpeakable } from '../../speech/tts/speakable.ts';
import type { TextToSpeech } from '../../speech/tts/tts.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import {
  asGatewayError,
  audioWaitMs,
  noteAudio,
  type SynthesisListener,
  type SynthesisText,
  type Synthesizer,
  type SynthesizerOptions,
} from './synthesizer.ts';
import { TimedPieces } from './timed-pieces.ts';
import { isDry, Segment, type Utterance } from './utterance.ts';

/** Sentences that wait for synthesis. A minute of speech has ten. */
const WAITING_MAX = 200;
/** Segments that are synthesised, or nearly, and not yet sent: the one that plays and the next. */
const AHEAD_MAX = 2;

interface Synthesis {
  segment: Segment;
  abort: AbortController;
  deadline: Timer | undefined;
}

export class SentenceSynthesizer implements Synthesizer {
  readonly #clock: Clock;
  readonly #tts: TextToSpeech;
  readonly #voice: string | undefined;
  readonly #listener: SynthesisListener;
  readonly #waiting: Segment[] = [];
  /** Utterances whose text is not complete. */
  readonly #texts = new Map<Utterance, TimedPieces>();
  #running: Synthesis | undefined;
  /** Segments started and not yet sent. */
  #ahead: Segment[] = [];
  #closed = false;

  constructor(options: SynthesizerOptions) {
    this.#clock = options.clock;
    this.#tts = options.tts;
    this.#voice = options.voice;
    this.#listener = options.listener;
  }

  open(utterance: Utterance): SynthesisText {
    const pieces = new TimedPieces({
      clock: this.#clock,
      onPiece: (piece) => {
        this.#queue(utterance, piece);
        this.pump();
      },
      isDry: () => isDry(utterance),
    });
    this.#texts.set(utterance, pieces);
    return {
      text: (delta) => {
        if (utterance.ended || utterance.cancelled || delta === '') return;
        utterance.firstTextAt ??= this.#clock.monotonicMs();
        pieces.push(delta);
      },
      breakOff: () => pieces.breakOff(),
      end: () => {
        if (utterance.ended || utterance.cancelled) return;
        pieces.end();
        this.#texts.delete(utterance);
        utterance.ended = true;
        this.pump();
        this.#listener.onAudio();
      },
    };
  }

  /** Starts the next sentence if the limits allow. Called again when a segment is sent. */
  pump(): void {
    this.#ahead = this.#ahead.filter(({ sentEndMs, utterance }) => {
      return sentEndMs === undefined && !utterance.cancelled;
    });
    if (this.#closed || this.#running !== undefined || this.#ahead.length >= AHEAD_MAX) return;
    const segment = this.#waiting.shift();
    if (segment === undefined) return;
    this.#ahead.push(segment);
    this.#begin(segment);
  }

  /** Drops the rest of this utterance. */
  drop(utterance: Utterance): void {
    utterance.cancelled = true;
    this.#texts.get(utterance)?.stop();
    this.#texts.delete(utterance);
    for (let at = this.#waiting.length - 1; at >= 0; at--) {
      if (this.#waiting[at]?.utterance === utterance) this.#waiting.splice(at, 1);
    }
    if (this.#running?.segment.utterance === utterance) {
      const { abort } = this.#running;
      this.#settle(this.#running);
      abort.abort();
    }
    this.pump();
  }

  close(): void {
    this.#closed = true;
    for (const text of this.#texts.values()) text.stop();
    this.#texts.clear();
    this.#waiting.length = 0;
    const running = this.#running;
    if (running === undefined) return;
    this.#settle(running);
    running.abort.abort();
  }

  #queue(utterance: Utterance, piece: string): void {
    const text = plainSpeech(piece);
    if (!isSpeakable(text)) return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#listener.onFault(new GatewayError('QUEUE_FULL', { queue: 'of sentences to say' }));
      return;
    }
    const segment = new Segment(utterance, text);
    utterance.segments.push(segment);
    this.#waiting.push(segment);
  }

  #begin(segment: Segment): void {
    const synthesis: Synthesis = { segment, abort: new AbortController(), deadline: undefined };
    this.#running = synthesis;
    this.#awaitAudio(synthesis);
    const listener = {
      onAudio: (samples: Int16Array) => this.#audio(synthesis, samples),
      onWords: (words: Segment['words']) => {
        segment.words = [...segment.words, ...words];
      },
      onUsage: (usage: ServiceUsage) => this.#listener.onUsage(usage),
      onUnspoken: (error: GatewayError) => this.#listener.onFault(error),
    };
    this.#tts
      .synthesize({ text: segment.text, voice: this.#voice }, listener, synthesis.abort.signal)
      .then(
        () => this.#finish(synthesis, undefined),
        (error: unknown) => this.#finish(synthesis, error),
      );
  }

  #audio(synthesis: Synthesis, samples: Int16Array): void {
    if (this.#running !== synthesis || samples.length === 0) return;
    const { segment } = synthesis;
    this.#awaitAudio(synthesis);
    noteAudio(segment.utterance, { clock: this.#clock, tts: this.#tts });
    if (!segment.push(samples)) {
      this.#finish(synthesis, new GatewayError('TTS_FAILED', { reason: 'a sentence without end' }));
      synthesis.abort.abort();
      return;
    }
    this.#listener.onAudio();
  }

  #awaitAudio(synthesis: Synthesis): void {
    synthesis.deadline?.cancel();
    synthesis.deadline = this.#clock.after(audioWaitMs(this.#tts), () => {
      this.#finish(synthesis, new GatewayError('TTS_TIMEOUT'));
      synthesis.abort.abort();
    });
  }

  /** Ends a sentence; its audio so far is played, and the next one follows. */
  #finish(synthesis: Synthesis, error: unknown): void {
    if (this.#running !== synthesis) return;
    this.#settle(synthesis);
    const { segment } = synthesis;
    segment.complete = true;
    if (error !== undefined) {
      segment.failed = true;
      this.#listener.onFault(asGatewayError(error));
    } else if (segment.samples === 0) {
      this.#listener.onFault(new GatewayError('TTS_FAILED', { reason: 'no audio for the text' }));
    }
    this.pump();
    this.#listener.onAudio();
  }

  #settle(synthesis: Synthesis): void {
    synthesis.deadline?.cancel();
    this.#running = undefined;
  }
}
