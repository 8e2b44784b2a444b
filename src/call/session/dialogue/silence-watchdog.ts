// Watchdog against silence: while an answer is due and a model, tool, recogniser or voice is late, it requests a line
// that explains the wait, then a waiting tone, then further lines. It decides when, not what.
// One timer for each call, armed only while an answer is due.

import type { Clock, Timer } from '../../../std/clock.ts';

/** Silence after a line, before the tone. The line's own silence is added: 1.6 s in all. */
const TONE_MS = 1_000;
/** Pause between two lines, while the tone sounds. */
const NEXT_LINE_MS = 8_000;
/** Interval of the checks while the caller speaks. */
const LOOK_MS = 500;

export interface SilenceWatchdogOptions {
  clock: Clock;
  /** Silence before the first line, in milliseconds. 0: there are no lines. */
  lineMs: number;
  hasTone: boolean;
  /** Whether the caller waits for the agent. */
  isOwed(): boolean;
  /** Monotonic milliseconds since which both sides are silent; in the future while audio is played; Infinity while
   *  the caller speaks. */
  silentSince(): number;
  onLine(): void;
  onTone(): void;
  /** Called when the wait is over or the caller speaks: a tone that sounds must stop. */
  onToneEnd(): void;
}

export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  #timer: Timer | undefined;
  #isClosed = false;
  /** Monotonic milliseconds at which the wait began; undefined while the agent owes nothing. */
  #owedSince: number | undefined;
  /** Number of lines since the caller's last turn. */
  #lines = 0;
  /** The silence, by its start, in which the tone was begun. */
  #toneSince = Number.NaN;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  /** Reports something that may begin or end a wait. */
  note(): void {
    if (this.#isClosed || this.#timer !== undefined || !this.#options.isOwed()) return;
    this.#owedSince ??= this.#options.clock.monotonicMs();
    this.#look(TONE_MS);
  }

  /** Reports that the caller has finished a turn: the wait counts from their last word. */
  turn(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#lines = 0;
    this.#owedSince = Number.NEGATIVE_INFINITY;
  }

  /** Reports that a line cannot be played: the tone takes its place, if the agent has one. */
  lineFailed(): void {
    if (this.#isClosed || !this.#options.hasTone) return;
    this.#toneSince = this.#options.silentSince();
    this.#options.onTone();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    const { clock, isOwed } = this.#options;
    if (this.#isClosed) return;
    if (!isOwed()) {
      this.#owedSince = undefined;
      this.#endTone();
      return;
    }
    const silentSince = this.#options.silentSince();
    const since = Math.max(silentSince, this.#owedSince ?? silentSince);
    const silentMs = clock.monotonicMs() - since;
    // Silence may begin again at any time.
    if (since === Infinity) this.#endTone();
    const nextMs = since === Infinity ? LOOK_MS : this.#act(silentMs, silentSince);
    this.#look(Math.min(TONE_MS, nextMs));
  }

  #endTone(): void {
    if (Number.isNaN(this.#toneSince)) return;
    this.#toneSince = Number.NaN;
    this.#options.onToneEnd();
  }

  /** Requests what is due. Returns the milliseconds until the next check. */
  #act(silentMs: number, silentSince: number): number {
    const { lineMs, hasTone, onLine, onTone } = this.#options;
    if (this.#lines === 0 && lineMs > 0) {
      if (silentMs < lineMs) return lineMs - silentMs;
      this.#lines += 1;
      onLine();
      return TONE_MS;
    }
    const isTone = !hasTone || this.#toneSince === silentSince;
    const nextMs = isTone ? NEXT_LINE_MS : TONE_MS;
    if (silentMs < nextMs) return nextMs - silentMs;
    if (isTone && lineMs > 0) {
      this.#lines += 1;
      onLine();
    } else if (!isTone) {
      this.#toneSince = silentSince;
      onTone();
    }
    return TONE_MS;
  }
}
