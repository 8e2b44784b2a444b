// One connected Asterisk, as shared by the parts of the connector.

import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Random } from '../../../std/random.ts';
import type { MediaSession } from '../../provider/media-session.ts';
import type { PbxState } from '../../provider/pbx.ts';
import type { ChannelIds } from './channel-ids.ts';
import type { AriClient } from './client.ts';
import type { AriAccount } from './config.ts';
import type { AriEvent } from './messages.ts';

export interface AriContext {
  readonly account: AriAccount;
  readonly client: AriClient;
  readonly ids: ChannelIds;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** State of the event connection. */
  readonly state: PbxState;
  /** Version as Asterisk reports it (`22.10.1`); null until it is known. */
  readonly version: string | null;
  /** Watches the events of a channel that we create: registered before the request, because events may precede
   *  the answer. Returns the function that ends it. */
  watch(channelId: string, take: (event: AriEvent) => void): () => void;
}

/** A call's audio: a channel of ours in a bridge with the caller's. */
export interface MediaLeg {
  readonly media: MediaSession;
  readonly bridgeId: string;
  /** Whether the channel or bridge with this id belongs to it. */
  owns(id: string): boolean;
  /** A key of the caller. */
  digit(digit: string): void;
  /** The caller has put the call on hold (`on`), or has ended the hold. */
  hold(on: boolean): void;
  /** Takes our channel out of the bridge, and plays music or ringing to the caller. */
  pause(callerHears: 'music' | 'ringback', signal: AbortSignal): Promise<void>;
  /** Puts our channel back after a pause, also a failed one. If the PBX does not do it, other media are opened, or the
   *  call ends. Never rejects. */
  resume(): Promise<void>;
  /** Ends the music or ringing of a pause. */
  stopPlayback(signal: AbortSignal): Promise<void>;
  /** Ends our audio, but keeps the bridge for its other channels. Never rejects. */
  leaveBridge(): Promise<void>;
  /** Ends audio and bridge, including the call's media session. Never rejects; may be called twice. */
  close(): Promise<void>;
}

export interface LegOptions {
  peer: AriContext;
  callId: string;
  /** The other party's channel, answered. */
  channelId: string;
  /** The call closed its media, or its media have failed for good: the call must be ended. `isTaken`: another process has
   *  it, and it goes on there. */
  onClosed: (isTaken: boolean) => void;
}

/** Joins a call with its audio. Settles when audio can flow. Throws PBX_MEDIA, PBX_TOO_OLD and what `AriClient` throws;
 *  nothing is left at the PBX then. */
export type OpenLeg = (options: LegOptions, signal: AbortSignal) => Promise<MediaLeg>;

/** An Asterisk with calls. */
export interface CallPeer extends AriContext {
  readonly openLeg: OpenLeg;
}
