// A call's audio at Asterisk. The session stays the same while the transport below it may be replaced. Only this file
// reads and writes control messages. Asterisk has no back-pressure, so its queue is polled. Source: asterisk §0.1,
// §0.10, §0.11, §2, §3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
} from '../../../transport/media-socket.ts';
import {
  MediaDelivery,
  type MediaListener,
  type MediaSession,
  type MediaTraits,
} from '../../provider/media-session.ts';
import { type ControlMessage, command, parseControlMessage } from './control-messages.ts';

/** Longest message: Asterisk takes a message in ten pieces or more for a dead peer, so each must go in one piece. A
 *  multiple of every format's frame. */
const MESSAGE_BYTES_MAX = 1_280;
const FLUSH = command('FLUSH_MEDIA') ?? '';
const GET_STATUS = command('GET_STATUS') ?? '';

/** Asterisk's names of formats, and our names of codecs. */
const codecs: Readonly<Record<string, string>> = {
  ulaw: 'PCMU',
  alaw: 'PCMA',
  slin: 'L16',
  slin16: 'L16/16000',
  g722: 'G722',
};
/** One frame is played at each tick. */
const FRAME_MS = 20;
/** Frames between two polls: half a second of audio. */
const ASK_FRAMES = 25;
/** Polls without an answer. After more, the PBX does not answer at all. */
const ASKED_MAX = 16;
/** Longest queue that an answer may report; Asterisk's holds fewer frames. */
const QUEUE_FRAMES_MAX = 2_000;

/** Finds the audio and its timestamp in a binary message. */
export interface AudioReader {
  /** The audio of the message; undefined if it has none. */
  payload(message: Uint8Array): Uint8Array | undefined;
  /** Time of the last message's audio in milliseconds since the start of the stream; NaN if the format has none. */
  readonly timestampMs: number;
}

/** Reader of messages that are all audio. */
const PLAIN_AUDIO: AudioReader = { payload: (message) => message, timestampMs: Number.NaN };

/** The first message of a media channel. */
export type ChannelStart = Pick<ControlMessage, 'channelId' | 'format' | 'frameBytes'>;

interface AriMediaListener {
  /** The call has closed its media. `isTaken`: as another process has the call. */
  onClosed(isTaken: boolean): void;
  /** The transport is gone. */
  onLost(): void;
  /** The answer to a poll: frames that Asterisk has not played yet. */
  onQueue(frames: number): void;
}

interface AriMediaOptions {
  /** Id of the caller's channel. */
  callId: string;
  /** With marks, Asterisk has a queue and accepts control messages about it. */
  traits: MediaTraits;
  /** Default: a binary message is all audio. */
  reader?: AudioReader | undefined;
  listener: AriMediaListener;
  clock: Clock;
  log: Log;
}

export class AriMediaSession implements MediaSession {
  readonly traits: MediaTraits;
  readonly #callId: string;
  readonly #reader: AudioReader;
  readonly #clock: Clock;
  readonly #listener: AriMediaListener;
  readonly #delivery: MediaDelivery;
  readonly #queue: QueueMonitor;
  #transport: MediaSocket | undefined;
  #isOpen = true;
  /** Time at which audio was last sent. */
  sentAtMs = 0;

  constructor({ callId, traits, reader, listener, clock, log }: AriMediaOptions) {
    this.traits = traits;
    this.#callId = callId;
    this.#reader = reader ?? PLAIN_AUDIO;
    this.#clock = clock;
    this.#listener = listener;
    this.#delivery = new MediaDelivery({ clock, log, onGiveUp: () => this.#shut('protocol') });
    this.#queue = new QueueMonitor(() => clock.monotonicMs());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  // What the call sends.

  get bufferedBytes(): number {
    return this.#transport?.bufferedBytes ?? 0;
  }

  attach(listener: MediaListener): void {
    this.#delivery.attach(listener);
  }

  audio(payload: Uint8Array): void {
    this.sentAtMs = this.#clock.monotonicMs();
    if (payload.length <= MESSAGE_BYTES_MAX) this.#transport?.sendBinary(payload);
    else this.#sendPieces(payload);
    if (this.#queue.sent(payload.length)) this.requestQueue();
  }

  mark(name: string): void {
    const message = this.traits.marks ? command('MARK_MEDIA', name) : undefined;
    if (message === undefined) return;
    this.#delivery.expectMark(name);
    this.#transport?.sendText(message);
  }

  /** Takes back what is not played, also for a queue with stale audio. */
  clear(): void {
    if (!this.traits.marks) return;
    this.#transport?.sendText(FLUSH);
    this.#queue.flushed();
    this.#delivery.dropMarks();
  }

  close(reason: 'over' | 'unwanted' | 'taken'): void {
    this.#delivery.stop();
    this.#shut('', reason === 'taken');
  }

  // The interface for the media leg.

  /** Sets the transport; `start` where it has no control messages that carry it. Audio sent before is not played
   *  any more. */
  attachTransport(transport: MediaSocket, start?: ChannelStart): MediaSocketListener {
    const before = this.#transport;
    this.#transport = this.#isOpen ? transport : undefined;
    before?.close(CLOSE.normal, '');
    if (!this.#isOpen) transport.close(CLOSE.normal, '');
    this.#queue.begin(undefined);
    this.#delivery.dropMarks();
    if (start !== undefined) this.#start(start);
    return {
      onText: (message) => {
        if (transport === this.#transport) this.#text(message);
      },
      onBinary: (message) => {
        if (transport === this.#transport) this.#binary(message);
      },
      onClose: () => {
        if (transport !== this.#transport) return;
        this.#transport = undefined;
        if (this.#isOpen) this.#listener.onLost();
      },
    };
  }

  /** Closes the transport of a failed attempt: its later end is not reported. */
  detachTransport(): void {
    const transport = this.#transport;
    this.#transport = undefined;
    transport?.close(CLOSE.normal, '');
  }

  /** Asks how many frames are not played yet; the answer goes to `onQueue`. */
  requestQueue(): void {
    if (this.#queue.poll()) this.#transport?.sendText(GET_STATUS);
  }

  /** A key of the caller. */
  digit(digit: string): void {
    this.#delivery.onEvent({ type: 'digit', digit });
  }

  /** The transport is lost, and another is being opened; the media are restored later, or the session ends. */
  interrupted(): void {
    this.#delivery.onEvent({ type: 'interrupted' });
  }

  restored(outage: { outageMs: number; explained: boolean }): void {
    this.#delivery.onEvent({ type: 'restored', ...outage });
  }

  /** The caller has put the call on hold (`on`), or has ended the hold. */
  held(on: boolean): void {
    this.#delivery.onEvent({ type: on ? 'held' : 'unheld' });
  }

  /** The call is over, or its media have failed for good. */
  end(fault?: Error): void {
    if (!this.#isOpen) return;
    this.#disconnect('');
    if (fault === undefined) this.#delivery.onEvent({ type: 'closed', reason: 'ended' });
    else this.#delivery.onEvent({ type: 'closed', reason: 'fault', error: fault });
  }

  #shut(reason: string, isTaken = false): void {
    if (!this.#isOpen) return;
    this.#disconnect(reason);
    this.#listener.onClosed(isTaken);
  }

  #disconnect(reason: string): void {
    this.#isOpen = false;
    const transport = this.#transport;
    this.#transport = undefined;
    transport?.close(CLOSE.normal, reason);
  }

  #sendPieces(payload: Uint8Array): void {
    for (let at = 0; at < payload.length; at += MESSAGE_BYTES_MAX) {
      this.#transport?.sendBinary(payload.subarray(at, at + MESSAGE_BYTES_MAX));
    }
  }

  #binary(message: Uint8Array): void {
    const payload = this.#reader.payload(message);
    if (payload === undefined) return;
    // An empty one stands for a frame that the PBX's jitter buffer misses.
    this.#delivery.audio.onAudio(payload, this.#reader.timestampMs);
  }

  #text(text: string): void {
    const message = parseControlMessage(text);
    switch (message?.event) {
      case undefined:
        this.#malformed(text);
        break;
      case 'MEDIA_START':
        this.#start(message);
        break;
      case 'MEDIA_MARK_PROCESSED':
        this.#delivery.onEvent({ type: 'mark', name: message.mark, outcome: 'played' });
        break;
      case 'STATUS':
        if (message.queueLength !== undefined) this.#status(message.queueLength);
        break;
      default: // Keys also arrive by the event socket, which is used; the rest has no new information.
    }
  }

  #start({ channelId = '', format = '', frameBytes }: ChannelStart): void {
    this.#queue.begin(frameBytes);
    if (this.#delivery.hasStarted) return; // A repeated start, after the transport was replaced.
    const codec = codecs[format];
    if (codec === undefined) {
      this.#delivery.malformed(new GatewayError('MEDIA_CODEC', { encoding: format }));
      return;
    }
    const ids = { callId: this.#callId, streamId: channelId };
    const start = { ...ids, codecIn: codec, codecOut: codec, parameters: {} };
    this.#delivery.onEvent({ type: 'started', start });
  }

  #malformed(text: string): void {
    const facts = { provider: 'ari', bytes: text.length };
    this.#delivery.malformed(new GatewayError('MEDIA_MALFORMED', facts));
  }

  #status(queuedFrames: number): void {
    const unplayedMs = this.#queue.answered(queuedFrames);
    if (unplayedMs !== undefined) this.#delivery.onEvent({ type: 'unplayed', ms: unplayedMs });
    this.#listener.onQueue(queuedFrames);
  }
}

interface Asked {
  /** Frames sent at that time; NaN if a clear took them back since. */
  sentFrames: number;
  atMs: number;
}

/** Monitors Asterisk's playout queue. Asterisk plays one frame at each tick of its timer and never makes up for a missed
 *  tick, so on a busy machine its queue grows while the agent speaks. GET_STATUS polls its length.
 *  Source: asterisk §0.11, §2.9. */
export class QueueMonitor {
  readonly #nowMs: () => number;
  #frameBytes: number | undefined;
  #sentFrames = 0;
  #askedFrames = 0;
  #asked: Asked[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Starts with an empty queue. `frameBytes`: bytes of 20 ms; undefined where Asterisk has no queue. */
  begin(frameBytes: number | undefined): void {
    this.#frameBytes = frameBytes;
    this.#sentFrames = 0;
    this.#askedFrames = 0;
    this.#asked = [];
  }

  /** Counts sent bytes. Returns whether a poll is due. */
  sent(bytes: number): boolean {
    if (this.#frameBytes === undefined) return false;
    this.#sentFrames += bytes / this.#frameBytes;
    return this.#sentFrames - this.#askedFrames >= ASK_FRAMES;
  }

  /** Records a poll. False if too many are unanswered. */
  poll(): boolean {
    this.#askedFrames = this.#sentFrames;
    if (this.#asked.length >= ASKED_MAX) return false;
    this.#asked.push({ sentFrames: this.#sentFrames, atMs: this.#nowMs() });
    return true;
  }

  /** A clear took back the sent audio. */
  flushed(): void {
    for (const asked of this.#asked) asked.sentFrames = Number.NaN;
  }

  /** Lower bound in milliseconds of all sent audio that is not played yet, from the answer to the oldest poll.
   *  Asterisk may have answered at any moment since the poll. Undefined if a clear made the answer useless. */
  answered(queuedFrames: number): number | undefined {
    const asked = this.#asked.shift();
    if (asked === undefined || Number.isNaN(asked.sentFrames)) return undefined;
    const queued = Math.min(Math.max(0, queuedFrames), QUEUE_FRAMES_MAX);
    const frames = queued + this.#sentFrames - asked.sentFrames;
    return Math.max(0, frames * FRAME_MS - (this.#nowMs() - asked.atMs));
  }
}
