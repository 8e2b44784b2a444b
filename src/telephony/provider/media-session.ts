// The media seam: one call's audio between its provider and the call. The call sends by the methods of a
// `MediaSession`; what comes back is audio and one union of events. Each provider's differences end here:
// what a mark or a clear does, which frames a message holds, how its socket says that the stream is over.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** What the provider says about the stream. */
export interface MediaStart {
  /** The provider's ids of call and stream. */
  callId: string;
  streamId: string;
  /** Codec names as in codec/registry, in and out separately: they and their rates may differ. */
  codecIn: string;
  codecOut: string;
  /** What we put into the markup, as it came back. */
  parameters: Record<string, string>;
}

export type MediaEvent =
  /** The stream's parameters; once, and before all other events but `closed`. */
  | { type: 'started'; start: MediaStart }
  /** A key of the caller, where the provider signals keys. */
  | { type: 'digit'; digit: string }
  /** A mark that was sent came back, once, in order. `played`: so was everything before it. `dropped`: some of
   *  it never will be, because of a clear or because what carried it was lost. */
  | { type: 'mark'; name: string; outcome: 'played' | 'dropped' }
  /** Of all audio sent so far, this much is not played yet, at least, in milliseconds. */
  | { type: 'unplayed'; ms: number }
  /** The last event. The provider stopped the stream, or its connection is gone. */
  | { type: 'closed'; reason: 'ended' }
  /** The last event. `inactive`: the stream did not start, or nothing came for too long. `fault`: the far
   *  end broke the protocol, or we cannot go on. */
  | { type: 'closed'; reason: 'inactive' | 'fault'; error: unknown };

export interface AudioListener {
  /** Encoded audio of the caller; borrowed until the call returns. `timestampMs` counts from the start of the
   *  stream; NaN if the provider gives none. */
  onAudio(payload: Uint8Array, timestampMs: number): void;
}

/** Called synchronously and in order. */
export interface MediaListener extends AudioListener {
  onEvent(event: MediaEvent): void;
}

/** What the call has to know about how this provider carries audio. */
export interface MediaTraits {
  /** Whether marks come back. Where not, the call estimates what was played. */
  marks: boolean;
  /** Whether the call ends with its media. If it `goes-on`, it has to be hung up by the provider's control. */
  callAfterClose: 'ends' | 'goes-on';
  /** Send-ahead: audio sent ahead of real time, in milliseconds: aim, the most ever, and how much of it goes
   *  into one message (a whole number of 20 ms frames; the lead is up to this much longer than its aim).
   *  A `step` of 20 is one frame a message, for providers that take nothing else. */
  leadMs: { aim: number; max: number; step: number };
}

/** Our side of one call's audio. After `close` nothing is sent and nothing is delivered. */
export interface MediaSession {
  readonly traits: MediaTraits;
  /** Undefined where the connection is read by its stream alone. */
  readonly inflow?: BatchedReads | undefined;
  /** Bytes accepted and not yet handed to the kernel. */
  readonly bufferedBytes: number;
  /** Called once. Events that came before are delivered at once; audio that came before is not. */
  attach(listener: MediaListener): void;
  /** A whole number of frames of `codecOut`, within the lead; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
  /** `name` is used once in a call. */
  mark(name: string): void;
  /** Takes back what the far end has not played; its marks come back as `dropped` before this returns. Does
   *  nothing where that cannot be done: the lead is short there. */
  clear(): void;
  /** `over`: the call has ended. `unwanted`: there is no call for this media any more. */
  close(reason: 'over' | 'unwanted'): void;
}

/** A provider that sends this many unreadable messages in one call is not one of ours. */
const MALFORMED_MAX = 20;
/** The stream must start within this time of the call's wait for it. */
const START_MS = 10_000;
/** Events that wait for the listener: the start, and a key or two. */
const EARLY_MAX = 16;
/** Marks that have not come back: an utterance has a handful. Of more than this, the oldest counts as lost. */
const MARKS_MAX = 256;

const DISCARD_AUDIO: AudioListener = { onAudio: () => undefined };

/** What every session does with what its provider says: order, limits, marks, and one end. */
export class MediaDelivery implements MediaListener {
  /** Where the caller's audio goes, without a call between: nowhere before the start and after the end. */
  audio: AudioListener = DISCARD_AUDIO;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onGiveUp: () => void;
  #startTimer: Timer | undefined;
  #listener: MediaListener | undefined;
  #early: MediaEvent[] = [];
  /** In the order of the audio. */
  #marks: string[] = [];
  #hasStarted = false;
  #isOver = false;
  #malformed = 0;

  /** `onGiveUp`: what comes over the connection cannot be used; it is to be closed. */
  constructor({ clock, log, onGiveUp }: { clock: Clock; log: Log; onGiveUp: () => void }) {
    this.#clock = clock;
    this.#log = log;
    this.#onGiveUp = onGiveUp;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  attach(listener: MediaListener): void {
    this.#listener = listener;
    if (!this.#isOver) this.#begin(listener);
    const early = this.#early;
    this.#early = [];
    for (const event of early) listener.onEvent(event);
  }

  onAudio(payload: Uint8Array, timestampMs: number): void {
    this.audio.onAudio(payload, timestampMs);
  }

  onEvent(event: MediaEvent): void {
    if (this.#isOver) return;
    if (event.type === 'closed') {
      this.stop();
    } else if (event.type === 'started') {
      if (this.#hasStarted) return;
      this.#start();
    } else if (!this.#hasStarted) {
      return;
    } else if (event.type === 'mark') {
      this.#return(event.name);
      return;
    }
    this.#deliver(event);
  }

  /** A mark was sent. */
  expectMark(name: string): void {
    this.#marks.push(name);
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** What was sent is not played any more. Marks of it that the provider echoes are passed over. */
  dropMarks(): void {
    const dropped = this.#marks;
    if (dropped.length === 0) return;
    this.#marks = [];
    for (const name of dropped) this.#deliver({ type: 'mark', name, outcome: 'dropped' });
  }

  /** A message that cannot be read is counted and dropped; of too many, or of a codec that we do not have, the
   *  session ends. Throws what is a fault of our own. */
  malformed(error: unknown): void {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (this.#isOver) return;
    mediaFaults.inc({ code });
    this.#malformed += 1;
    if (this.#malformed === 1) this.#log.warn({ err: error }, 'media message dropped');
    if (code !== 'MEDIA_CODEC' && this.#malformed <= MALFORMED_MAX) return;
    this.stop();
    this.#onGiveUp();
    this.#deliver({ type: 'closed', reason: 'fault', error });
  }

  /** Nothing more is delivered. */
  stop(): void {
    this.#isOver = true;
    this.audio = DISCARD_AUDIO;
    this.#startTimer?.cancel();
  }

  #begin(listener: MediaListener): void {
    if (this.#hasStarted) this.audio = listener;
    else this.#startTimer = this.#clock.after(START_MS, () => this.#inactive());
  }

  #start(): void {
    this.#hasStarted = true;
    this.#startTimer?.cancel();
    if (this.#listener !== undefined) this.audio = this.#listener;
  }

  #inactive(): void {
    const error = new GatewayError('MEDIA_SILENT');
    this.onEvent({ type: 'closed', reason: 'inactive', error });
  }

  /** Marks come back in order: one that should have come before it was played too. */
  #return(name: string): void {
    const count = this.#marks.indexOf(name) + 1;
    for (const played of this.#marks.splice(0, count)) {
      this.#deliver({ type: 'mark', name: played, outcome: 'played' });
    }
  }

  #deliver(event: MediaEvent): void {
    if (this.#listener !== undefined) this.#listener.onEvent(event);
    else if (this.#early.length < EARLY_MAX || event.type === 'closed') this.#early.push(event);
  }
}
