// The agent of a hosted line's test call: nobody is at the far end but an echo. It sends tones and keys, and measures what
// comes back.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { LineTest } from '../../model/line-watch.ts';
import type { Clock } from '../../std/clock.ts';
import { testEcho } from '../../telephony/line/line-audio.ts';
import { CALLER_TONES, LineEnd } from '../../telephony/line/line-end.ts';
import { pass } from '../../telephony/provider/check.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaSession,
} from '../../telephony/provider/media-session.ts';
import type { ExaminationSteps } from './examination-steps.ts';
import { Moment } from './moment.ts';

/** Deadline from the socket to the start of the stream. */
const START_MS_MAX = 5_000;

export interface EchoAgentOptions {
  media: MediaSession;
  steps: ExaminationSteps;
  /** Sends keys over the provider's REST interface. Undefined: keys are not tested, as those in the audio would only test
   *  the audio again. */
  sendDigits: ((digits: string) => Promise<void>) | undefined;
  clock: Clock;
}

export class EchoAgent implements MediaListener {
  /** What the echo was like; undefined before its end, or if the stream closed before. */
  test: LineTest | undefined;
  /** Why nothing is known of the line; undefined if something is. */
  fault: GatewayError | undefined;
  readonly #options: EchoAgentOptions;
  readonly #end: LineEnd;
  readonly #started = new Moment<true>();
  readonly #stopped = new AbortController();

  constructor(options: EchoAgentOptions) {
    this.#options = options;
    const { media, clock } = options;
    // This agent is the session's listener, and passes everything on.
    const session: MediaSession = {
      traits: media.traits,
      bufferedBytes: 0,
      attach: () => undefined,
      audio: (payload) => media.audio(payload),
      mark: (name) => media.mark(name),
      clear: () => media.clear(),
      close: (reason) => media.close(reason),
    };
    this.#end = new LineEnd(session, CALLER_TONES, clock);
  }

  /** Settles at the end of the test, or when the stream closes before. Never rejects. */
  async talk(): Promise<void> {
    const { clock, steps, sendDigits } = this.#options;
    const { signal } = this.#stopped;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (!(await this.#started.within(clock, START_MS_MAX, stopped))) return;
    steps.note('media', pass(`The provider sends and accepts ${this.#end.codec}.`));
    try {
      this.test = await testEcho({ clock, signal }, this.#end, sendDigits);
    } catch (error) {
      if (error instanceof GatewayError) this.fault = error;
      else if (!signal.aborted) throw error;
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  onAudio(payload: Uint8Array): void {
    this.#end.onAudio(payload);
  }

  onEvent(event: MediaEvent): void {
    this.#end.onEvent(event);
    if (event.type === 'started') this.#started.settle(true);
    if (event.type === 'closed') this.stop();
  }
}
