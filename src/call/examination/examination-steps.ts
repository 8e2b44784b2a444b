// Steps of an examination call in order, each with its finding, its time, and advice if it failed or never came.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import { type CheckOutcome, fail, skip } from '../../telephony/provider/check.ts';
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
const SEE_CAPTURE = 'The capture has the request and the answer of the provider.';

const dialRemedies: ReadonlyMap<string, string> = new Map([
  ['PROVIDER_AUTH', "Store the credentials that the provider's console shows now."],
  [
    'PROVIDER_DESTINATION',
    'Write the number with + and its country code; a trial account calls verified numbers only.',
  ],
  ['PROVIDER_CAPACITY', 'The account is at its limit of calls, or has no credit: see its console.'],
  ['PROVIDER_TIMEOUT', 'The telephone may ring all the same. Try again in a minute.'],
  ['PROVIDER_UNCERTAIN', 'The telephone may ring all the same. Try again in a minute.'],
]);

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

export function dialRemedy(error: unknown): string {
  return dialRemedies.get(codeOf(error) ?? '') ?? SEE_CAPTURE;
}

/** A failed request as a finding. */
export function failed(error: unknown, advice = SEE_CAPTURE) {
  const words =
    error instanceof GatewayError ? error.message.replace(/\.$/, '') : 'unexpected error';
  return fail(`${words}.`, advice);
}

interface ExaminedEnd {
  publicUrl: string;
  /** Webhooks that were refused. */
  refused: number;
  finalStatus: CallStatus | undefined;
  /** Whether the client or the gateway has ended the call. */
  isCut: boolean;
}

/** Notes the steps of a dialled call that never came. The first missing step has the remedy; steps that depend on it
 *  are not named. */
export function noteMissing(steps: ExaminationSteps, call: ExaminedEnd): void {
  if (call.refused > 0) {
    const message = `${call.refused} were refused: their signature is wrong.`;
    steps.note('webhooks', fail(message, WRONG_SIGNATURE));
  }
  const missing = (key: 'webhooks' | 'answered' | 'media', message: string, advice: string): void =>
    steps.note(key, call.isCut ? skip('The call was ended before.') : fail(message, advice));
  missing('webhooks', `None came to ${call.publicUrl}.`, NOT_REACHED);
  steps.note('ringing', skip('The provider did not report it.'));
  if (!steps.has('answered')) {
    const { finalStatus: status } = call;
    const message =
      status === undefined ? 'The call was not answered.' : `The call ended as ${status}.`;
    missing('answered', message, UNANSWERED);
    return;
  }
  missing('media', 'The provider opened no media socket.', NO_MEDIA);
}

const WRONG_SIGNATURE =
  'Compare the secret that verifies webhooks with the console of the provider, and PATCHBAY_PUBLIC_URL with the address that it calls.';
const NOT_REACHED =
  'The provider does not reach the public address: check it from another network, and the proxy before the gateway.';
const UNANSWERED = 'Call a telephone that somebody answers within 30 s, and see whether it rings.';
const NO_MEDIA =
  'The proxy must pass websockets on: HTTP/1.1 to the gateway, with the headers Upgrade and Connection.';
