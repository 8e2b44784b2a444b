// Synthesis where a service takes an utterance in pieces: a turn is one stream and one segment. Text is sent clause by
// clause as it is written, at most 20 s of audio ahead of the playhead.

import { samplesToMs } from '../../audio/pcm.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../../speech/service/service-means.ts';
import { plainSpeech } from '../../speech/tts/plain-speech.ts';
import { isSpeakable } from '../../speech/tts/speakable.ts';
import { spokenLength } from '../../speech/tts/spoken-length.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener } from '../../speech/tts/tts.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import { expectedMs } from './heard-text.ts';
import {
  audioWaitMs,
  noteAudio,
  type SynthesisListener,
  type SynthesisText,
  type Synthesizer,
  type SynthesizerOptions,
} from './synthesizer.ts';
import { TimedPieces } from './timed-pieces.ts';
import { isDry, Segment, type Utterance } from './utterance.ts';

/** Pieces of one utterance that wait. A minute of speech has ten. */
const WAITING_MAX = 200;
/** Audio that is unplayed, or expected for sent text, beyond which no more text is sent: an interruption would waste
 *  it. */
const AHEAD_MS_MAX = 20_000;
/** Text of one stream, by its spoken length: half a minute, the length of a segment being a minute. */
const STREAM_LETTERS_MAX = 500;
/** Pause between two looks at the playhead while too much is ahead. */
const LOOK_MS = 500;

/** The text of one utterance. */
interface Script {
  utterance: Utterance;
  pieces: TimedPieces;
  waiting: string[];
  isEnded: boolean;
}

/** A stream of the first script. */
interface Running {
  script: Script;
  stream: SpeechStream;
  segment: Segment;
  /** Characters before this segment's text in the stream. */
  before: number;
  isEnded: boolean;
  deadline: SlidingDeadline;
  usage: ServiceUsage[];
}

export class StreamedSynthesizer implements Synthesizer {
  readonly #clock: Clock;
  readonly #voiced: Pick<SynthesizerOptions, 'clock' | 'tts'>;
  readonly #open: NonNullable<TextToSpeech['stream']>;
  readonly #voice: string | undefined;
  readonly #listener: SynthesisListener;
  readonly #scripts: Script[] = [];
  #running: Running | undefined;
  /** Segments begun, and not yet sent or dropped. */
  #ahead: Segment[] = [];
  #look: Timer | undefined;
  #isClosed = false;

  constructor(options: SynthesizerOptions & { stream: NonNullable<TextToSpeech['stream']> }) {
    this.#clock = options.clock;
    this.#voiced = options;
    this.#open = options.stream;
    this.#voice = options.voice;
    this.#listener = options.listener;
  }

  open(utterance: Utterance): SynthesisText {
    const pieces = new TimedPieces({
      clock: this.#clock,
      onPiece: (piece) => {
        this.#queue(script, piece);
        this.pump();
      },
      isDry: () => script.waiting.length === 0 && isDry(utterance),
    });
    const script: Script = { utterance, pieces, waiting: [], isEnded: false };
    if (!utterance.cancelled) this.#scripts.push(script);
    const isOver = (): boolean => script.isEnded || utterance.cancelled || this.#isClosed;
    return {
      text: (delta) => {
        if (isOver() || delta === '') return;
        utterance.firstTextAt ??= this.#clock.monotonicMs();
        pieces.push(delta);
      },
      breakOff: () => pieces.breakOff(),
      end: () => {
        if (isOver()) return;
        pieces.end();
        script.isEnded = true;
        this.pump();
        this.#listener.onAudio();
      },
    };
  }

  pump(): void {
    while (!this.#isClosed && this.#step());
  }

  drop(utterance: Utterance): void {
    utterance.cancelled = true;
    const running = this.#running;
    const at = this.#scripts.findIndex((script) => script.utterance === utterance);
    if (at >= 0) this.#scripts.splice(at, 1)[0]?.pieces.stop();
    if (running?.script.utterance === utterance) {
      running.stream.cancel();
      this.#settle(running);
    }
    this.pump();
  }

  close(): void {
    this.#isClosed = true;
    for (const { pieces } of this.#scripts.splice(0)) pieces.stop();
    this.#look?.cancel();
    const running = this.#running;
    if (running === undefined) return;
    running.stream.cancel();
    this.#settle(running);
  }

  #queue(script: Script, piece: string): void {
    const text = plainSpeech(piece);
    if (!isSpeakable(text)) return;
    if (script.waiting.length >= WAITING_MAX) {
      this.#listener.onFault(new GatewayError('QUEUE_FULL', { queue: 'of sentences to say' }));
      return;
    }
    script.waiting.push(text);
  }

  /** Sends the next piece if the limits allow. Returns whether another step may follow. */
  #step(): boolean {
    const [script] = this.#scripts;
    if (script === undefined || this.#running?.isEnded === true) return false;
    const [piece] = script.waiting;
    if (piece !== undefined) return this.#give(script, piece);
    if (!script.isEnded) return false;
    script.utterance.ended = true;
    this.#scripts.shift();
    this.#endStream();
    return this.#running === undefined;
  }

  #give(script: Script, piece: string): boolean {
    if (this.#isFarAhead()) return false;
    const { text } = this.#running?.segment ?? { text: '' };
    if (text !== '' && spokenLength(text) + spokenLength(piece) > STREAM_LETTERS_MAX) {
      this.#endStream();
      return false;
    }
    script.waiting.shift();
    const isFirst = this.#running === undefined;
    const running = this.#running ?? this.#begin(script);
    running.segment.addText(piece);
    running.stream.push(piece);
    // The caller waits for the first clause; the service may gather text for the others.
    if (isFirst && this.#running === running) running.stream.flush();
    if (this.#running === running && !running.deadline.isSet) this.#awaitAudio(running);
    return true;
  }

  #endStream(): void {
    const running = this.#running;
    if (running === undefined) return;
    running.isEnded = true;
    this.#awaitAudio(running);
    running.stream.end();
  }

  #begin(script: Script): Running {
    const segment = this.#addSegment(script.utterance);
    // The service calls back after `open` has returned.
    const listener: UtteranceListener = {
      onAudio: (samples) => this.#audio(running, samples),
      onWords: (words) => {
        running.segment.words = [...running.segment.words, ...words];
      },
      onUsage: (usage) => addUsage(running.usage, usage),
      onUnspoken: (error) => this.#listener.onFault(error),
      onContinued: (fromCharacter) => this.#continue(running, fromCharacter),
      onDone: () => this.#finish(running, undefined),
      onError: (error) => this.#finish(running, error),
    };
    const stream = this.#open(this.#voice, listener);
    const running: Running = {
      script,
      stream,
      segment,
      before: 0,
      isEnded: false,
      deadline: new SlidingDeadline(this.#clock, () => {
        stream.cancel();
        this.#finish(running, new GatewayError('TTS_TIMEOUT'));
      }),
      usage: [],
    };
    this.#running = running;
    return running;
  }

  #addSegment(utterance: Utterance): Segment {
    const segment = new Segment(utterance, '');
    utterance.segments.push(segment);
    this.#ahead.push(segment);
    return segment;
  }

  #audio(running: Running, samples: Int16Array): void {
    if (this.#running !== running || samples.length === 0) return;
    const { segment } = running;
    noteAudio(segment.utterance, this.#voiced);
    // While more text comes, pauses are the model's.
    if (running.isEnded) this.#awaitAudio(running);
    else running.deadline.clear();
    if (segment.push(samples)) {
      this.#listener.onAudio();
      return;
    }
    running.stream.cancel();
    this.#finish(running, new GatewayError('TTS_FAILED', { reason: 'speech without end' }));
  }

  /** Continues with the rest of the text in another voice: a segment of its own, whose times begin at 0. */
  #continue(running: Running, fromCharacter: number): void {
    if (this.#running !== running) return;
    const { segment, before, script } = running;
    const rest = segment.text.slice(Math.max(0, fromCharacter - before));
    segment.cutText(fromCharacter - before);
    segment.complete = true;
    running.segment = this.#addSegment(script.utterance);
    running.segment.addText(rest.trimStart());
    running.before = fromCharacter;
    this.#awaitAudio(running);
  }

  /** Ends a stream: its audio so far is played, and the rest of the text follows in another one. */
  #finish(running: Running, error: GatewayError | undefined): void {
    if (this.#running !== running) return;
    this.#settle(running);
    running.segment.complete = true;
    if (error !== undefined) {
      running.segment.failed = true;
      this.#listener.onFault(error);
    }
    this.pump();
    this.#listener.onAudio();
  }

  #awaitAudio(running: Running): void {
    // Received audio is played first: the fallback of voices waits as long too.
    const { samples, playedSamples } = running.segment;
    const aheadMs = samplesToMs(Math.max(0, samples - playedSamples));
    running.deadline.set(aheadMs + audioWaitMs(this.#voiced.tts));
  }

  #settle(running: Running): void {
    running.deadline.clear();
    this.#running = undefined;
    for (const usage of running.usage) this.#listener.onUsage(usage);
  }

  #isFarAhead(): boolean {
    this.#ahead = this.#ahead.filter(({ sentEndMs, utterance }) => {
      return sentEndMs === undefined && !utterance.cancelled;
    });
    let aheadMs = 0;
    for (const segment of this.#ahead) {
      const wholeMs = segment.complete ? 0 : expectedMs(segment.text);
      const audioMs = Math.max(samplesToMs(segment.samples), wholeMs);
      aheadMs += audioMs - samplesToMs(segment.playedSamples);
    }
    if (aheadMs < AHEAD_MS_MAX) return false;
    this.#look?.cancel();
    this.#look = this.#clock.after(LOOK_MS, () => this.pump());
    return true;
  }
}

/** Adds usage to the bill, which has one entry for each stream although a service counts each piece of text. */
function addUsage(bill: ServiceUsage[], usage: ServiceUsage): void {
  const { service, model, unit, source } = usage;
  const line = bill.findIndex(
    (each) =>
      each.service === service &&
      each.model === model &&
      each.unit === unit &&
      each.source === source,
  );
  const known = bill[line];
  if (known === undefined) bill.push(usage);
  else bill[line] = { ...known, amount: known.amount + usage.amount };
}
