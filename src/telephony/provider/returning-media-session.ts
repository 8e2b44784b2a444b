// Media session of a far end that opens another socket when its own breaks: a browser. Meanwhile the call goes on and is
// `interrupted`; without another socket in time its media have ended. Whether a further socket may take the place of the
// one before is decided by the admission (call/media/direct-media.ts).

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import type { MediaProtocol } from './media-protocol.ts';
import type { MediaEvent, MediaListener, MediaSession, MediaTraits } from './media-session.ts';
import { SocketMediaSession } from './socket-media-session.ts';

export interface ReturningMediaOptions {
  /** Creates the protocol of one socket. */
  createProtocol: () => MediaProtocol;
  /** Longest time without a socket, in milliseconds. */
  returnMs: number;
  clock: Clock;
  log: Log;
  /** Called once before the call closes its media, with the call's end reason if it has ended. */
  onClosing: (endReason: EndReason | undefined) => void;
}

export class ReturningMediaSession implements MediaSession {
  readonly traits: MediaTraits;
  /** Reads of whichever socket is the current one. */
  readonly inflow: BatchedReads;
  readonly #options: ReturningMediaOptions;
  #session: SocketMediaSession | undefined;
  #socket: MediaSocket | undefined;
  #listener: MediaListener | undefined;
  #codec: string | undefined;
  #isBatched = false;
  /** Whether nothing is reported any more, and whether the call has closed its media. */
  #isOver = false;
  #isClosed = false;
  /** Monotonic time of the loss in milliseconds; undefined while there is a socket that has started. */
  #lostAtMs: number | undefined;
  #timer: Timer | undefined;

  constructor(options: ReturningMediaOptions) {
    this.#options = options;
    this.traits = options.createProtocol().traits;
    this.inflow = {
      setBatched: (on) => {
        this.#isBatched = on;
        this.#session?.inflow?.setBatched(on);
      },
      readNow: () => this.#session?.inflow?.readNow(),
    };
  }

  get bufferedBytes(): number {
    return this.#session?.bufferedBytes ?? 0;
  }

  /** Whether there is a socket for messages. */
  get isConnected(): boolean {
    return this.#socket?.open === true;
  }

  /** Makes `socket` the call's socket, in place of the one before, which may not know yet that it is broken. */
  connect(socket: MediaSocket): MediaSocketListener {
    const { createProtocol, clock, log } = this.#options;
    const before = this.#session;
    if (before !== undefined && this.#codec !== undefined) this.#lose(before);
    before?.close('unwanted');
    const session = new SocketMediaSession({ socket, protocol: createProtocol(), clock, log });
    this.#session = session;
    this.#socket = socket;
    if (this.#isBatched) session.inflow?.setBatched(true);
    if (this.#listener !== undefined) session.attach(this.#listenerOf(session, this.#listener));
    if (this.#isClosed) session.close('unwanted');
    return session;
  }

  /** Sends a message that is no media; dropped while there is no socket. */
  notify(message: string): void {
    this.#socket?.sendText(message);
  }

  attach(listener: MediaListener): void {
    this.#listener = listener;
    const session = this.#session;
    session?.attach(this.#listenerOf(session, listener));
  }

  audio(payload: Uint8Array): void {
    this.#session?.audio(payload);
  }

  mark(name: string): void {
    this.#session?.mark(name);
  }

  clear(): void {
    this.#session?.clear();
  }

  close(reason: 'over' | 'unwanted' | 'taken', endReason?: EndReason): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClosing(endReason);
    this.#stop();
    this.#session?.close(reason);
  }

  #listenerOf(session: SocketMediaSession, listener: MediaListener): MediaListener {
    return {
      onAudio: (payload, timestampMs) => listener.onAudio(payload, timestampMs),
      onEvent: (event) => {
        if (session === this.#session && !this.#isOver) this.#take(event, session);
      },
    };
  }

  #take(event: MediaEvent, session: SocketMediaSession): void {
    if (event.type === 'started' && this.#codec !== undefined) {
      this.#restored(event.start.codecIn);
      return;
    }
    if (event.type === 'started') this.#codec = event.start.codecIn;
    if (event.type === 'closed') {
      const isLost = event.reason === 'lost' || this.#lostAtMs !== undefined;
      if (isLost && this.#codec !== undefined) {
        this.#lose(session);
        return;
      }
      this.#stop();
    }
    this.#listener?.onEvent(event);
  }

  /** Waits for another socket. */
  #lose(session: SocketMediaSession): void {
    if (this.#lostAtMs === undefined) {
      const { clock, returnMs } = this.#options;
      this.#lostAtMs = clock.monotonicMs();
      this.#timer = clock.after(returnMs, () => this.#end({ type: 'closed', reason: 'ended' }));
      this.#listener?.onEvent({ type: 'interrupted' });
    }
    session.clear(); // Its marks are dropped.
    this.#session = undefined;
    this.#socket = undefined;
  }

  #restored(codec: string): void {
    if (codec !== this.#codec) {
      const error = new GatewayError('MEDIA_CODEC', { encoding: codec });
      this.#end({ type: 'closed', reason: 'fault', error });
      return;
    }
    const { clock } = this.#options;
    const outageMs = clock.monotonicMs() - (this.#lostAtMs ?? clock.monotonicMs());
    this.#lostAtMs = undefined;
    this.#timer?.cancel();
    this.#listener?.onEvent({ type: 'restored', outageMs, explained: false });
  }

  #end(event: MediaEvent): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener?.onEvent(event);
  }

  #stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }
}
