// Recogniser of one call: gates its audio, sends it to the thread, and answers each `finalize` exactly once, even if
// the thread is overloaded or was replaced.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Clock } from '../../../std/clock.ts';
import { createGatedAudio, type GatedAudio } from '../gated-audio.ts';
import type { Recognizer, RecognizerListener } from '../stt.ts';
import type { SphinxReport, SphinxRequest } from './pocketsphinx-messages.ts';
import type { UtteranceSlot } from './utterance-slots.ts';

/** Batches of one utterance: the thread decodes the last 20 s. */
const UTTERANCE_BATCHES_MAX = 250;
/** Limit from the end of an utterance to its words, in the queue of a busy thread. After that the caller is asked
 *  again. */
const FINAL_MS_MAX = 8_000;
/** Utterances of one call in the queue. One more drops the oldest. */
const AWAITED_MAX = 4;
const DELAY_MS = 350;
/** Early decodings of one utterance. Each decodes all of it, and a caller who pauses often gains nothing. */
const PREPARATIONS_MAX = 3;
/** Threads that died during this call's utterances, after which the call has no recogniser. */
const DEATHS_MAX = 3;

/** A call's interface to its thread. */
export interface CallLine {
  id: number;
  slot: UtteranceSlot;
  clock: Clock;
  log: Log;
  post(request: SphinxRequest): void;
  /** Sends audio. Returns false if the queue is full. */
  send(samples: Int16Array<ArrayBuffer>): boolean;
  /** Whether utterances of other calls are decoded first. */
  readonly isQueued: boolean;
  /** Reports that the call awaits words. */
  awaits(): void;
  /** Reports that the call awaits no words any more. */
  settles(): void;
  leave(): void;
}

interface Awaited {
  nth: number;
  sinceMs: number;
  isGivenUp: boolean;
}

export class SphinxCall implements Recognizer {
  readonly #line: CallLine;
  readonly #listener: RecognizerListener;
  readonly #audio: GatedAudio;
  #expectation: ExpectedInput;
  #batches = 0;
  #droppedBatches = 0;
  #deaths = 0;
  /** Early decodings of the current utterance. */
  #preparations = 0;
  /** Whether no speech was detected since the last early decoding. */
  #isPrepared = false;
  #over = false;
  /** Utterances whose words are awaited, oldest first. */
  #awaited: Awaited[] = [];

  constructor(line: CallLine, expectation: ExpectedInput, listener: RecognizerListener) {
    this.#line = line;
    this.#listener = listener;
    this.#expectation = expectation;
    this.#audio = createGatedAudio((samples) => {
      this.#batches += 1;
      const isSent = this.#batches <= UTTERANCE_BATCHES_MAX && line.send(samples);
      if (!isSent) this.#droppedBatches += 1;
    });
    this.expect(expectation);
  }

  // For the call.

  push(frame: Int16Array): void {
    if (!this.#over) this.#audio.push(frame);
  }

  speechStarted(): void {
    if (this.#over || this.#audio.open) return;
    this.#batches = 0;
    this.#preparations = 0;
    this.#isPrepared = false;
    this.#line.post({ kind: 'start', id: this.#line.id });
    this.#audio.start();
  }

  speechResumed(): void {
    this.#isPrepared = false;
  }

  /** Has no effect while other calls await words, since those come first. */
  prepareFinal(): void {
    if (this.#over || !this.#audio.open || this.#line.isQueued) return;
    if (this.#preparations >= PREPARATIONS_MAX) return;
    this.#preparations += 1;
    this.#isPrepared = true;
    this.#audio.flush();
    this.#line.post({ kind: 'prepare', id: this.#line.id });
  }

  finalize(): void {
    if (this.#over) return;
    const { clock, log, id, slot } = this.#line;
    this.#audio.stop();
    const droppedBatches = this.#droppedBatches;
    if (droppedBatches > 0) log.warn({ droppedBatches }, 'recogniser too slow, audio dropped');
    this.#droppedBatches = 0;
    if (this.#line.isQueued) this.#listener.onDelayed?.(DELAY_MS);
    const nth = slot.next();
    const isPrepared = this.#isPrepared;
    this.#line.post({ kind: 'finish', id, slot: slot.slot, nth, isPrepared });
    this.#awaited.push({ nth, sinceMs: clock.monotonicMs(), isGivenUp: false });
    this.#line.awaits();
    const unanswered = this.#awaited.filter(({ isGivenUp }) => !isGivenUp);
    const [oldest] = unanswered;
    if (unanswered.length > AWAITED_MAX && oldest !== undefined) this.#giveUp(oldest);
  }

  /** Sets the grammar of the next utterance. Messages are processed in order: the current utterance keeps its
   *  grammar. */
  expect(next: ExpectedInput): void {
    this.#expectation = next;
    if (!this.#over) this.#line.post({ kind: 'expect', id: this.#line.id, expectation: next });
  }

  close(): void {
    if (this.#over) return;
    this.#end();
    this.#line.post({ kind: 'close', id: this.#line.id });
  }

  // For the thread.

  /** Whether words are awaited. */
  get waits(): boolean {
    return this.#awaited.length > 0;
  }

  /** The thread was replaced: requests to the old one are answered without words, and the current utterance continues
   *  in the new one. */
  restart(reason: string): void {
    const unanswered = this.#awaited.filter(({ isGivenUp }) => !isGivenUp);
    this.#awaited = [];
    if (unanswered.length > 0) this.#deaths += 1;
    if (this.#deaths >= DEATHS_MAX) {
      this.fail(new GatewayError('STT_FAILED', { reason }));
      return;
    }
    this.expect(this.#expectation);
    if (this.#audio.open) this.#line.post({ kind: 'start', id: this.#line.id });
    for (const { sinceMs } of unanswered) {
      if (this.#over) return; // The listener has closed it.
      this.#answer('', 0, 'STT_FAILED', sinceMs);
    }
  }

  /** Gives up words that are overdue, and reports the delay of the others. */
  check(): void {
    const { clock } = this.#line;
    for (const utterance of this.#awaited) {
      if (this.#over) return; // The listener has closed it.
      if (utterance.isGivenUp) continue;
      if (clock.monotonicMs() - utterance.sinceMs >= FINAL_MS_MAX) this.#giveUp(utterance);
      else this.#listener.onDelayed?.(DELAY_MS);
    }
  }

  report(message: SphinxReport): void {
    if (message.kind === 'partial') {
      this.#listener.onPartial({ text: message.text, confidence: null });
    } else if (message.kind === 'final') {
      this.#finalWords(message.text, message.confidence);
    } else if (message.kind === 'failed') {
      this.fail(new GatewayError('STT_FAILED', { reason: message.reason }));
    } else if (message.kind === 'warned') {
      const { warnings } = message;
      const facts = { warnings, count: warnings.length };
      this.#line.log.warn(facts, 'phrases that cannot be recognised');
    }
  }

  fail(error: GatewayError): void {
    if (this.#over) return;
    this.#end();
    serviceSeconds.observe({ kind: 'stt', service: 'pocketsphinx', result: error.code }, 0);
    this.#listener.onError(error);
  }

  #end(): void {
    this.#over = true;
    this.#awaited = [];
    this.#line.leave();
    this.#line.settles();
  }

  #finalWords(text: string, confidence: number | null): void {
    const utterance = this.#awaited.shift();
    if (this.#awaited.length === 0) this.#line.settles();
    if (utterance === undefined || utterance.isGivenUp) return;
    this.#deaths = 0;
    this.#answer(text, confidence, 'ok', utterance.sinceMs);
  }

  #giveUp(utterance: Awaited): void {
    utterance.isGivenUp = true;
    this.#line.slot.giveUp(utterance.nth);
    this.#line.log.warn('recogniser too slow, an utterance was given up');
    this.#answer('', 0, 'STT_TIMEOUT', utterance.sinceMs);
  }

  #answer(text: string, confidence: number | null, result: string, sinceMs: number): void {
    const seconds = (this.#line.clock.monotonicMs() - sinceMs) / 1_000;
    serviceSeconds.observe({ kind: 'stt', service: 'pocketsphinx', result }, seconds);
    this.#listener.onFinal({ text, confidence });
  }
}
