// Times in which the parties cannot hear each other: the media are interrupted, or the caller has put the call on hold.
// The agent waits, and continues where it was cut off; it explains a long outage first.

import type { CallEventBody } from '../../model/call-event.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaEvent } from '../../telephony/provider/media-session.ts';
import type { IdleTimer } from './dialogue/call-timers.ts';
import type { DialogueInput } from './dialogue/dialogue-runner.ts';
import type { WaitLines } from './wait-lines.ts';

/** Shortest outage that is explained; a shorter one is a gap like any other. */
const EXPLAINED_MS_MIN = 1_000;

export type SuspensionEvent = Extract<
  MediaEvent,
  { type: 'interrupted' | 'restored' | 'held' | 'unheld' }
>;

export interface SuspensionTargets {
  clock: Pick<Clock, 'monotonicMs'>;
  audio: () => CallAudio | undefined;
  dispatch(event: DialogueInput): void;
  note(body: CallEventBody): void;
  /** Idle timer, which is restarted. */
  idle: Pick<IdleTimer, 'reset'>;
  /** Wait lines: the caller may still wait for the agent. */
  wait: Pick<WaitLines, 'note'>;
}

export class CallSuspension {
  readonly #targets: SuspensionTargets;
  #isInterrupted = false;
  #heldAtMs: number | undefined;

  constructor(targets: SuspensionTargets) {
    this.#targets = targets;
  }

  get isSuspended(): boolean {
    return this.#isInterrupted || this.#heldAtMs !== undefined;
  }

  take(event: SuspensionEvent): void {
    const wasSuspended = this.isSuspended;
    this.#note(event);
    if (this.isSuspended === wasSuspended) return;
    this.#targets.audio()?.suspend(this.isSuspended);
    this.#targets.idle.reset();
    this.#targets.wait.note();
  }

  #note(event: SuspensionEvent): void {
    const { clock, dispatch, note } = this.#targets;
    switch (event.type) {
      case 'interrupted':
        this.#isInterrupted = true;
        note({ type: 'media.interrupted' });
        break;
      case 'restored': {
        this.#isInterrupted = false;
        const outageMs = Math.round(event.outageMs);
        note({ type: 'media.restored', outageMs });
        if (event.explained || outageMs < EXPLAINED_MS_MIN || this.isSuspended) return;
        dispatch({ type: 'line-restored' });
        break;
      }
      case 'held':
        if (this.#heldAtMs === undefined) note({ type: 'call.held' });
        this.#heldAtMs ??= clock.monotonicMs();
        break;
      case 'unheld':
        if (this.#heldAtMs === undefined) return;
        note({ type: 'call.unheld', heldMs: Math.round(clock.monotonicMs() - this.#heldAtMs) });
        this.#heldAtMs = undefined;
    }
  }
}
