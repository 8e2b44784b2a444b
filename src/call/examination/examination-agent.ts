// The agent of an examination call: a sentence with a mark after it, speech that is cleared, two keys, and a question
// about them that the person answers by a key. Uses no graph, model or recogniser.

import { FRAME_MS, RATE_HZ } from '../../audio/pcm.ts';
import { createResampler } from '../../audio/resample/resampler.ts';
import { dtmfTones } from '../../audio/tones/tone-generator.ts';
import type { Codec } from '../../codec/codec.ts';
import { codecByName } from '../../codec/registry.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { InBandDtmf } from '../../pipeline/receive/in-band-dtmf.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { fail, pass, skip, warn } from '../../telephony/provider/check.ts';
import type { MediaEvent, MediaSession } from '../../telephony/provider/media-session.ts';
import type { AgentMeans, CallAgent } from './examined-leg.ts';
import { Moment } from './moment.ts';

/** Deadline from the start of the stream to its first audio. */
const AUDIO_MS_MAX = 5_000;
/** Deadline from the end of an utterance to its mark. */
const MARK_MS_MAX = 4_000;
/** Time for the person to find the keypad. */
const KEY_MS_MAX = 10_000;
/** Lead of the speech that is cleared: every provider buffers that much. */
const CLEARED_AHEAD_MS = 1_500;
/** Time from the start of that speech to the clear. */
const CLEAR_AFTER_MS = 700;
/** Deadline of a mark behind a clear that took effect: well before the rest would have been played. */
const CLEARED_MS_MAX = 900;
const KEYS_OUT = '12';

/** The agent's speech, 8 kHz. */
export interface AgentLines {
  introduction: Int16Array;
  /** The sentence that is interrupted. */
  cleared: Int16Array;
  question: Int16Array;
  goodbye: Int16Array;
}

export const AGENT_WORDS: Readonly<Record<keyof AgentLines, string>> = {
  introduction: 'Hello. This is a test call of your telephone connection.',
  cleared:
    'This sentence is interrupted by the gateway, before it comes to its end, as a caller would.',
  question:
    'You have heard two key tones. Press one if you have heard them. Press two if you have not.',
  goodbye: 'Thank you. Goodbye.',
};

export interface ExaminationAgentOptions extends AgentMeans {
  lines: AgentLines;
}

export class ExaminationAgent implements CallAgent {
  readonly #options: ExaminationAgentOptions;
  readonly #started = new Moment<Codec>();
  readonly #firstAudio = new Moment<true>();
  readonly #closed = new Moment<true>();
  readonly #marks = new Map<string, Moment<true>>();
  #key = new Moment<string>();
  #codecIn: Codec | undefined;
  #inBand: InBandDtmf | undefined;
  #pcm = new Int16Array(0);
  #heardMs = 0;
  #speech: PacedSpeech | undefined;
  #marksSent = 0;

  constructor(options: ExaminationAgentOptions) {
    this.#options = options;
  }

  /** Settles when the stream is closed. */
  get closed(): Promise<unknown> {
    return this.#closed.promise;
  }

  /** Runs the conversation. Settles at its end, or when the stream closes before; never rejects because of the far
   *  end. */
  async talk(): Promise<void> {
    const { clock, media, lines, steps } = this.#options;
    const codec = await this.#within(this.#started, AUDIO_MS_MAX);
    if (codec === undefined) return;
    steps.note('media', pass(`The provider sends and accepts ${codec.name}.`));
    this.#speech = new PacedSpeech({ clock, media, codec });
    const introduced = this.#introduce();
    await this.#checkAudio();
    await introduced;
    if (this.#closed.isPast) return;
    await this.#checkClear();
    if (this.#closed.isPast) return;
    await this.#checkKeys();
    if (this.#closed.isPast) return;
    await this.#say(lines.goodbye);
    await this.#within(this.#mark(), MARK_MS_MAX);
  }

  stop(): void {
    this.#closed.settle(true);
    this.#speech?.stop();
  }

  // The media session.

  onAudio(payload: Uint8Array): void {
    this.#firstAudio.settle(true);
    const codec = this.#codecIn;
    if (this.#inBand === undefined || codec === undefined) return;
    const samples = codec.samplesIn(payload);
    if (this.#pcm.length < samples) this.#pcm = new Int16Array(samples);
    codec.decode(payload, this.#pcm);
    this.#inBand.push(this.#pcm.subarray(0, samples), this.#heardMs);
    this.#heardMs += FRAME_MS;
  }

  onEvent(event: MediaEvent): void {
    if (event.type === 'started') this.#start(event.start.codecIn, event.start.codecOut);
    else if (event.type === 'mark' && event.outcome === 'played') {
      this.#marks.get(event.name)?.settle(true);
    } else if (event.type === 'digit') {
      if (this.#inBand?.noteSignalled(event.digit, this.#heardMs) !== false) {
        this.#key.settle(event.digit);
      }
    } else if (event.type === 'closed') {
      if ('error' in event) this.#noteFault(event.error);
      this.stop();
    }
  }

  #start(codecIn: string, codecOut: string): void {
    this.#codecIn = codecByName(codecIn);
    const hasTones = !this.#options.digitsIn && this.#codecIn.rateHz === RATE_HZ;
    if (hasTones) this.#inBand = new InBandDtmf((key) => this.#key.settle(key));
    this.#started.settle(codecByName(codecOut));
  }

  #noteFault(error: unknown): void {
    const said = error instanceof GatewayError ? error.message : 'unexpected error';
    const advice = 'Keep the capture: the messages of the media socket are in it.';
    this.#options.steps.note('media', fail(`The media socket failed: ${said}.`, advice));
  }

  // The conversation's parts.

  async #introduce(): Promise<void> {
    const { steps, lines, media, clock } = this.#options;
    await this.#say(lines.introduction);
    if (!media.traits.marks) {
      steps.note('mark', skip('This provider returns no marks.'));
      return;
    }
    const sentMs = clock.monotonicMs();
    if (await this.#within(this.#mark(), MARK_MS_MAX)) {
      const ms = Math.round(clock.monotonicMs() - sentMs);
      steps.note(
        'mark',
        pass(`The mark behind the sentence came back ${ms} ms after it was sent.`),
      );
    } else if (!this.#closed.isPast) {
      const advice = 'The agent cannot know what was heard: keep the capture and report it.';
      steps.note('mark', fail(`No mark came back within ${MARK_MS_MAX / 1_000} s.`, advice));
    }
  }

  async #checkAudio(): Promise<void> {
    const { steps } = this.#options;
    if (await this.#within(this.#firstAudio, AUDIO_MS_MAX)) {
      steps.note('audio_in', pass('The first frame has come.'));
    } else if (!this.#closed.isPast) {
      const advice =
        'The provider opened the stream but sends no audio of the call: see its console for this call.';
      steps.note('audio_in', fail(`No audio came within ${AUDIO_MS_MAX / 1_000} s.`, advice));
    }
  }

  async #checkClear(): Promise<void> {
    const { steps, lines, media, clock } = this.#options;
    if (!media.traits.marks) {
      steps.note('clear', skip('Cannot be checked without marks.'));
      return;
    }
    const saying = this.#speech?.say(lines.cleared, CLEARED_AHEAD_MS);
    await this.#pause(CLEAR_AFTER_MS);
    const leftMs = Math.round(this.#speech?.stop() ?? 0);
    await saying;
    media.clear();
    const clearedMs = clock.monotonicMs();
    const isBack = await this.#within(this.#mark(), MARK_MS_MAX);
    if (this.#closed.isPast) return;
    const ms = Math.round(clock.monotonicMs() - clearedMs);
    const advice = 'Interruptions would be late: keep the capture and report it.';
    if (isBack === undefined) {
      steps.note('clear', fail('No mark came back after the clear.', advice));
    } else if (ms < Math.min(CLEARED_MS_MAX, leftMs)) {
      steps.note(
        'clear',
        pass(`${leftMs} ms of speech were dropped; the next mark took ${ms} ms.`),
      );
    } else if (leftMs < CLEARED_MS_MAX) {
      steps.note(
        'clear',
        skip(`Cannot tell: only ${leftMs} ms of speech were left, a mark took ${ms} ms.`),
      );
    } else {
      steps.note(
        'clear',
        warn(`The speech went on after the clear: the next mark took ${ms} ms.`, advice),
      );
    }
  }

  async #checkKeys(): Promise<void> {
    const { steps, lines } = this.#options;
    const sent = await this.#sendKeys();
    this.#inBand?.ignoreUntil(this.#heardMs + FRAME_MS);
    this.#key = new Moment();
    void this.#key.promise.then(() => this.#yield());
    await this.#say(lines.question);
    const key = await this.#within(this.#key, KEY_MS_MAX);
    if (this.#closed.isPast && key === undefined) return;
    if (key === undefined) {
      const advice =
        'Press 1 or 2 when asked. If a key was pressed, keys do not reach the gateway: keep the capture and report it.';
      steps.note('keys_in', warn(`No key came within ${KEY_MS_MAX / 1_000} s.`, advice));
      steps.note('keys_out', skip('It is unknown whether the tones were heard.'));
      return;
    }
    steps.note('keys_in', pass(`The key ${key} has come.`));
    if (!sent) return;
    if (key === '1') steps.note('keys_out', pass('The person has heard the tones.'));
    else if (key === '2') {
      const advice = 'Keys that an agent sends are lost: keep the capture and report it.';
      steps.note('keys_out', fail('The person has heard no tones.', advice));
    } else
      steps.note('keys_out', skip(`The key ${key} does not say whether the tones were heard.`));
  }

  /** Stops the question when the person answers before its end. */
  #yield(): void {
    if ((this.#speech?.stop() ?? 0) > 0 && !this.#closed.isPast) this.#options.media.clear();
  }

  /** Sends the keys. Returns false if the provider refused them. */
  async #sendKeys(): Promise<boolean> {
    const { sendDigits, steps } = this.#options;
    if (sendDigits === undefined) {
      await this.#say(dtmfTones(KEYS_OUT));
      return true;
    }
    try {
      await sendDigits(KEYS_OUT);
      return true;
    } catch (error) {
      const said = error instanceof GatewayError ? error.message : 'unexpected error';
      steps.note('keys_out', fail(`${said}.`, 'The capture has the answer of the provider.'));
      return false;
    }
  }

  async #say(samples: Int16Array): Promise<void> {
    if (this.#closed.isPast) return;
    await this.#speech?.say(samples, this.#options.media.traits.lead.aimMs);
  }

  /** Sends a mark. Returns the moment at which it comes back. */
  #mark(): Moment<true> {
    const returned = new Moment<true>();
    this.#marksSent += 1;
    const name = `examination-${this.#marksSent}`;
    this.#marks.set(name, returned);
    if (!this.#closed.isPast) this.#options.media.mark(name);
    return returned;
  }

  #within<T>(moment: Moment<T>, ms: number): Promise<T | undefined> {
    return moment.within(this.#options.clock, ms, this.#closed.promise);
  }

  #pause(ms: number): Promise<unknown> {
    return new Moment().within(this.#options.clock, ms, this.#closed.promise);
  }
}

/** Sends speech to a media session at the pace of a call: at most the requested time ahead of real time, in messages of
 *  the provider's frame size. For one call at a time; conversations use pipeline/speak/playout. */
class PacedSpeech {
  readonly #clock: Clock;
  readonly #media: MediaSession;
  readonly #codec: Codec;
  readonly #payload: Uint8Array;
  readonly #frame: Int16Array;
  #samples = new Int16Array(0);
  #at = 0;
  #startMs = 0;
  #aheadMs = 0;
  #timer: Timer | undefined;
  #onSent: () => void = () => undefined;

  constructor(options: { clock: Clock; media: MediaSession; codec: Codec }) {
    const { clock, media, codec } = options;
    this.#clock = clock;
    this.#media = media;
    this.#codec = codec;
    const { stepMs: step } = media.traits.lead;
    this.#payload = new Uint8Array((codec.frameBytes * step) / FRAME_MS);
    this.#frame = new Int16Array((codec.rateHz * step) / 1_000);
  }

  /** Sends 8 kHz samples, up to `aheadMs` ahead of real time, and replaces what was being said. Settles when all are
   *  sent, or at `stop`. */
  say(samples: Int16Array, aheadMs: number): Promise<void> {
    this.stop();
    const { rateHz } = this.#codec;
    const wide = createResampler({ fromHz: RATE_HZ, toHz: rateHz }).process(samples);
    this.#samples = wide.slice();
    this.#at = 0;
    this.#aheadMs = Math.max(aheadMs, this.#media.traits.lead.stepMs);
    this.#startMs = this.#clock.monotonicMs();
    return new Promise((resolve) => {
      this.#onSent = resolve;
      this.#send();
    });
  }

  /** Stops sending. Returns how much of the sent speech cannot have been played yet, in milliseconds. */
  stop(): number {
    this.#timer?.cancel();
    this.#timer = undefined;
    const leftMs = this.#sentMs - (this.#clock.monotonicMs() - this.#startMs);
    this.#samples = this.#samples.subarray(0, 0);
    this.#at = 0;
    this.#onSent();
    return Math.max(0, leftMs);
  }

  get #sentMs(): number {
    return (this.#at * 1_000) / this.#codec.rateHz;
  }

  #send(): void {
    const passedMs = this.#clock.monotonicMs() - this.#startMs;
    while (this.#at < this.#samples.length && this.#sentMs - passedMs < this.#aheadMs) {
      this.#frame.fill(0);
      this.#frame.set(this.#samples.subarray(this.#at, this.#at + this.#frame.length));
      this.#codec.encode(this.#frame, this.#payload);
      this.#media.audio(this.#payload);
      this.#at += this.#frame.length;
    }
    if (this.#at >= this.#samples.length) this.#onSent();
    else this.#timer = this.#clock.after(FRAME_MS, () => this.#send());
  }
}
