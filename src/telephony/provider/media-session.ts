// The media seam: one call's audio between its provider and the call. The call sends by the methods of `MediaSession`;
// it receives audio and one union of events. Differences between providers end here: the effect of a mark or a clear,
// the frames in a message, the end of the stream.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** The provider's parameters of the stream. */
export interface MediaStart {
  /** The provider's ids of call and stream. */
  callId: string;
  streamId: string;
  /** Codec names as in codec/registry, in and out separately: they and their rates may differ. */
  codecIn: string;
  codecOut: string;
  /** The parameters of our markup, as the provider returned them. */
  parameters: Record<string, string>;
}

export type MediaEvent =
  /** The stream's parameters; once, and before all other events but `closed`. */
  | { type: 'started'; start: MediaStart }
  /** A key of the caller, where the provider signals keys. */
  | { type: 'digit'; digit: string }
  /** A sent mark is over, once, in order. `played`: everything before it was played. `dropped`: some of it will
   *  never be played, because of a clear or a lost transport. */
  | { type: 'mark'; name: string; outcome: 'played' | 'dropped' }
  /** Lower bound in milliseconds of all sent audio that is not played yet. */
  | { type: 'unplayed'; ms: number }
  /** The connection is lost, and another is being opened: nothing can be heard either way. */
  | { type: 'interrupted' }
  /** The parties can hear each other again. `explained`: the caller has heard music meanwhile. */
  | { type: 'restored'; outageMs: number; explained: boolean }
  /** The far end has put the call on hold: it sends music, and does not receive the agent's audio. `unheld`: the hold has
   *  ended. */
  | { type: 'held' }
  | { type: 'unheld' }
  /** The last event. The provider stopped the stream, or closed its connection. */
  | { type: 'closed'; reason: 'ended' }
  /** The last event. The connection broke: the far end has not closed it, and may keep the call. */
  | { type: 'closed'; reason: 'lost' }
  /** The last event. `inactive`: the stream did not start, or no message came for too long. `fault`: the far end
   *  broke the protocol, or we cannot go on. */
  | { type: 'closed'; reason: 'inactive' | 'fault'; error: unknown };

export interface AudioListener {
  /** Encoded audio of the caller; borrowed until the call returns. `timestampMs` counts from the start of the
   *  stream; NaN if the provider has none: then an empty payload is a frame of 20 ms that is missing. */
  onAudio(payload: Uint8Array, timestampMs: number): void;
}

/** Listener of a session, called synchronously and in order. */
export interface MediaListener extends AudioListener {
  onEvent(event: MediaEvent): void;
}

/** The provider's properties that matter to the call. */
export interface MediaTraits {
  /** Whether marks are returned. If not, the call estimates what was played. */
  marks: boolean;
  /** Send-ahead: audio sent ahead of real time: target, maximum, what both grow by at most after stalls of this
   *  process, and the amount in one message (a whole number of 20 ms frames; the lead exceeds its target by up to
   *  this much). A step of 20 ms is one frame per message, for providers that accept nothing else. `stallMsMax` is 160
   *  where the provider buffers: a full garbage collection with hundreds of conversations stops the process for as
   *  long; RTP has 20, since its receiver's jitter buffer holds little more. */
  lead: { aimMs: number; maxMs: number; stallMsMax: number; stepMs: number };
}

/** Our side of one call's audio. After `close` nothing is sent and nothing is delivered. */
export interface MediaSession {
  readonly traits: MediaTraits;
  /** Batched reads of the socket. Undefined where the connection delivers audio by events only. */
  readonly inflow?: BatchedReads | undefined;
  /** Bytes accepted and not yet passed to the kernel. */
  readonly bufferedBytes: number;
  /** Called once. Earlier events are delivered at once; earlier audio is not. */
  attach(listener: MediaListener): void;
  /** Sends a whole number of frames of `codecOut`, within the lead; `payload` is borrowed until the call returns. */
  audio(payload: Uint8Array): void;
  /** Sends a mark. `name` must be unique within a call. */
  mark(name: string): void;
  /** Takes back what the far end has not played; its marks are reported as `dropped` before this returns. Does
   *  nothing where the provider has no clear: the lead is short there. */
  clear(): void;
  /** `over`: the call has ended. `unwanted`: there is no call for this media any more. `taken`: another process has the
   *  call; where closing media ends a call, this does not. `endReason`: why the call has ended. */
  close(reason: 'over' | 'unwanted' | 'taken', endReason?: EndReason): void;
}

/** After this many invalid messages in one call, the peer does not speak the protocol. A provider that adds fields or
 *  changes one message does not get there. */
const MALFORMED_MAX = 20;
/** Time for the stream to start after the call began to wait for it. */
const START_MS = 10_000;
/** Events queued before the listener is set: the start, and a key or two. */
const EARLY_MAX = 16;
/** Outstanding marks: an utterance has a handful. Beyond this, the oldest counts as lost. */
const MARKS_MAX = 256;

const DISCARD_AUDIO: AudioListener = { onAudio: () => undefined };

/** The common part of all sessions: order, limits, marks, and exactly one end. */
export class MediaDelivery implements MediaListener {
  /** Receives the caller's audio directly; undefined before the start and after the end. */
  audio: AudioListener = DISCARD_AUDIO;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onGiveUp: (isForeign: boolean) => void;
  #startTimer: Timer | undefined;
  #listener: MediaListener | undefined;
  #early: MediaEvent[] = [];
  /** Names of outstanding marks, in the order of the audio. */
  #marks: string[] = [];
  #hasStarted = false;
  #isOver = false;
  #malformed = 0;

  /** `onGiveUp`: the connection's data is unusable; it must be closed. */
  constructor({
    clock,
    log,
    onGiveUp,
  }: {
    clock: Clock;
    log: Log;
    onGiveUp: (isForeign: boolean) => void;
  }) {
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

  /** Sent audio is not played any more. Its marks are ignored if the provider echoes them. */
  dropMarks(): void {
    const dropped = this.#marks;
    if (dropped.length === 0) return;
    this.#marks = [];
    for (const name of dropped) this.#deliver({ type: 'mark', name, outcome: 'dropped' });
  }

  /** An invalid message is counted and dropped; after too many, or for an unknown codec, the session ends. `isForeign`:
   *  the message is of a kind that no provider sends (text that is not JSON, binary where audio comes in text), and the
   *  session ends with the first. Throws faults of our own code. */
  malformed(error: unknown, { isForeign = false }: { isForeign?: boolean } = {}): void {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (this.#isOver) return;
    mediaFaults.inc({ code });
    this.#malformed += 1;
    if (this.#malformed === 1) this.#log.warn({ err: error }, 'media message dropped');
    const isTolerated = code !== 'MEDIA_CODEC' && !isForeign;
    if (isTolerated && this.#malformed <= MALFORMED_MAX) return;
    this.stop();
    this.#onGiveUp(isForeign);
    this.#deliver({ type: 'closed', reason: 'fault', error });
  }

  /** Stops all delivery. */
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

  /** A mark came back. Marks come back in order, so earlier outstanding ones were played too. */
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
