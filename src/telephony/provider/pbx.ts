// The interface of a PBX: a provider whose calls come over a connection that the gateway holds. One configuration
// has one connection, on one node.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { CallStatus } from '../../model/provider.ts';
import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import type { MediaSession } from './media-session.ts';
import type { ProviderCredentials, RejectReason } from './terms.ts';

/** Before the application of a PBX that opens the connection to us. */
export const PBX_PATH = '/api/v1/telephony/pbx/';

export interface PbxAccount {
  configurationId: string;
  credentials: ProviderCredentials;
}

export type PbxState =
  | { kind: 'connecting' }
  /** `version` as the PBX gives it. */
  | { kind: 'up'; version: string | null }
  /** `message` says what to do. The connection is retried for ever all the same. */
  | { kind: 'down'; code: ErrorCode; message: string; isPermanent: boolean };

export interface PbxInboundCall {
  callId: string;
  from: string;
  to: string;
  raw: Record<string, unknown>;
}

/** A step of a call. `runId` is known for calls that we dialled. */
export interface PbxStatus {
  callId: string;
  runId: string | null;
  status: CallStatus;
  providerStatus: string;
  /** Of the talk; null before an answer. */
  durationS: number | null;
  /** The same for an event that comes twice. */
  dedupeKey: string;
  raw: Record<string, unknown>;
}

/** In the order of the PBX's events. Must not throw. */
export interface PbxListener {
  onState(state: PbxState): void;
  /** A caller rings. `call/pbx` connects it or refuses it. */
  onInbound(call: PbxInboundCall): void;
  /** A call that we dialled rings, and has early media before the answer. `call/pbx` connects it; its answer
   *  is reported as for any call. */
  onEarlyMedia(call: { callId: string; runId: string }): void;
  /** A call that we dialled was answered. `call/pbx` connects it. */
  onAnswered(call: { callId: string; runId: string }): void;
  onStatus(status: PbxStatus): void;
}

/** A warm transfer: the agent speaks to the destination before the caller is joined with it. */
export interface WarmTransfer {
  callerHears: 'music' | 'ringback';
  /** Speaks to the person who answered. Resolves if they take the call; rejects if they refuse, and at once
   *  when `signal` fires because they or the caller have left. The media are the provider's to close. */
  consult(media: MediaSession, signal: AbortSignal): Promise<void>;
}

export interface PbxConnection {
  readonly state: PbxState;
  /** Signals ringing to the caller. Best effort, never rejects. */
  ring(callId: string): Promise<void>;
  /** Answers a caller who still rings, and joins the call with a media leg; resolves once audio can flow. A
   *  call that we dialled is joined as it is. The session stays the same while the call lasts: a leg that
   *  breaks is replaced behind it. It closes when the call is over. Rejects with PBX_* codes; the call is
   *  hung up then, unless it was dialled and rings on. */
  openMedia(callId: string, signal: AbortSignal): Promise<MediaSession>;
  /** Rejects a ringing call with the cause that fits. Never rejects. */
  refuse(callId: string, reason: RejectReason): Promise<void>;
  /** Reconnects with these credentials and keeps the current calls. False if it cannot: then a new connection is
   *  to be made. */
  renew(credentials: ProviderCredentials): boolean;
  /** Closes the connection. Calls that were not ended before stay as they are. */
  close(): Promise<void>;
}

/** One result of an examination; results are in the order in which they depend on one another. */
export interface Finding {
  /** Stable: `http`, `user`, `version`, ... */
  key: string;
  title: string;
  verdict: 'pass' | 'warn' | 'fail' | 'skip';
  /** What was seen. */
  message: string;
  /** What to do; null if there is nothing. */
  advice: string | null;
}

export interface Pbx {
  /** Names of the applications that are connected, or are to be: by these, sockets say which PBX they are of. */
  readonly applications: readonly string[];
  connect(account: PbxAccount, options: { listener: PbxListener; log: Log }): PbxConnection;
  /** A PBX may open the connection to us: takes an HTTP server's `upgrade` event. False if the path is not
   *  ours; then nothing was done. */
  takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** A media socket that a PBX has opened to us; which call it belongs to is in its first message. */
  takeSocket(socket: MediaSocket): MediaSocketListener;
  /** Checks everything that could keep calls from working. Never rejects because of a result. */
  examine(
    account: PbxAccount,
    /** Active numbers of the configuration, as they are stored, and where the PBX reaches us. */
    facts: { numbers: readonly string[]; publicUrl: string; log: Log },
    signal: AbortSignal,
  ): Promise<Finding[]>;
}
