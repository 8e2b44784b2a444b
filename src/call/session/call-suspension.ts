// Times in which the parties of a call cannot hear each other: its media are interrupted. The agent waits, and goes on
// where it was cut; a long outage is explained first.

import type { CallEventBody } from '../../model/call-event.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { MediaEvent } from '../../telephony/provider/media-session.ts';
import type { DialogueInput } from '../dialogue/dialogue-runner.ts';

/** A shorter outage is a gap like any other. */
const EXPLAINED_MS_MIN = 1_000;

export type SuspensionEvent = Extract<MediaEvent, { type: 'interrupted' | 'restored' }>;

export interface SuspensionTargets {
  audio: () => CallAudio | undefined;
  dispatch(event: DialogueInput): void;
  note(body: CallEventBody): void;
  /** The silence starts again. */
  onActivity(): void;
}

export class CallSuspension {
  readonly #targets: SuspensionTargets;
  #isSuspended = false;

  constructor(targets: SuspensionTargets) {
    this.#targets = targets;
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  take(event: SuspensionEvent): void {
    const { audio, dispatch, note, onActivity } = this.#targets;
    this.#isSuspended = event.type === 'interrupted';
    if (event.type === 'interrupted') {
      note({ type: 'media.interrupted' });
      audio()?.suspend(true);
      return;
    }
    const outageMs = Math.round(event.outageMs);
    note({ type: 'media.restored', outageMs });
    if (!event.explained && outageMs >= EXPLAINED_MS_MIN) dispatch({ type: 'line-restored' });
    audio()?.suspend(false);
    onActivity();
  }
}
