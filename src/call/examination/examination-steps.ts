// Steps of an examination call in order, each with its finding, its time, and advice if it failed or never came.

import type { Clock } from '../../std/clock.ts';
import type { CheckOutcome } from '../../telephony/provider/check.ts';
import type { Finding } from '../../telephony/provider/pbx.ts';

/** Titles of the steps, in the order in which they are expected. */
const TITLES = {
  dial: 'Dial',
  webhooks: 'Webhooks',
  ringing: 'Ringing',
  answered: 'Answered',
  media: 'Media connected',
  audio_in: 'Audio from the call',
  mark: 'Mark',
  clear: 'Clear',
  keys_in: 'Keys from the call',
  keys_out: 'Keys to the call',
  hang_up: 'Hang-up',
  final_status: 'Final status',
} as const;

export type StepKey = keyof typeof TITLES;

export interface ExaminationStep extends Finding {
  /** Milliseconds since the dial. */
  atMs: number;
}

export class ExaminationSteps {
  readonly #clock: Clock;
  readonly #onStep: (step: ExaminationStep) => void;
  readonly #startMs: number;
  readonly #steps: ExaminationStep[] = [];

  /** `onStep` must not throw. */
  constructor(clock: Clock, onStep: (step: ExaminationStep) => void) {
    this.#clock = clock;
    this.#onStep = onStep;
    this.#startMs = clock.monotonicMs();
  }

  /** Findings in the order in which they were made; each key at most once. */
  get found(): readonly ExaminationStep[] {
    return this.#steps;
  }

  get isFaultless(): boolean {
    return this.#steps.every(({ verdict }) => verdict !== 'fail');
  }

  has(key: StepKey): boolean {
    return this.#steps.some((step) => step.key === key);
  }

  /** Notes a step. Its first outcome counts. */
  note(key: StepKey, outcome: CheckOutcome): void {
    if (this.has(key)) return;
    const atMs = Math.round(this.#clock.monotonicMs() - this.#startMs);
    const step = { key, title: TITLES[key], ...outcome, atMs };
    this.#steps.push(step);
    this.#onStep(step);
  }
}
