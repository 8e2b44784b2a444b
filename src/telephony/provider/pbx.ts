// The interface of a PBX: a provider whose calls come over a connection that the gateway holds. One configuration
// has one connection, in one process; its calls may be in several (pbx-members.ts).

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { LineSettings, LineTest } from '../../model/line-watch.ts';
import type { CallStatus } from '../../model/provider.ts';
import type {
  MediaSocket,
  MediaSocketListener,
  SocketArrival,
} from '../../transport/media-socket.ts';
import type { MediaSession } from './media-session.ts';
import type { PbxMembers } from './pbx-members.ts';
import type { ProviderCredentials, RejectReason } from './terms.ts';
import type { UnconfiguredNumber } from './unconfigured-numbers.ts';

/** Path at which PBXs open a connection to us, followed by the application. */
export const PBX_PATH = '/api/v1/telephony/pbx/';

export interface PbxAccount {
  configurationId: string;
  credentials: ProviderCredentials;
}

/** An account with the name of its configuration, so that another process can look it up: credentials stay in the
 *  process that read them. */
export interface ExaminedAccount extends PbxAccount {
  organizationId: string;
}

export type PbxState =
  | { kind: 'connecting' }
  /** `version` as the PBX reports it. */
  | { kind: 'up'; version: string | null }
  /** `message` includes the remedy. The connection is retried for ever in any case. */
  | { kind: 'down'; code: ErrorCode; message: string; isPermanent: boolean };

export interface PbxInboundCall {
  callId: string;
  from: string;
  to: string;
  /** Whether the call was one of ours before, on this connection: the dialplan has sent it back. */
  isBack: boolean;
  /** Whether the call is answered, and the process that had it is gone. */
  isLeft?: boolean;
  raw: Record<string, unknown>;
}

/** A progress event of a call. `runId` is set for calls that we dialled. */
export interface PbxStatus {
  callId: string;
  runId: string | null;
  status: CallStatus;
  providerStatus: string;
  /** Seconds of talk; null before an answer. */
  durationS: number | null;
  /** Key that is equal for a repeated event. */
  dedupeKey: string;
  raw: Record<string, unknown>;
}

/** Listener of a PBX's events, called in their order. Must not throw. */
export interface PbxListener {
  onState(state: PbxState): void;
  /** An inbound call rings. `call/start/inbound` connects it or rejects it. */
  onInbound(call: PbxInboundCall): void;
  /** A call that we dialled rings, and has early media before the answer. `call/start/inbound` connects it; its answer is
   *  reported as for any call. */
  onEarlyMedia(call: { callId: string; runId: string }): void;
  /** A call that we dialled was answered. `call/start/inbound` connects it. `isLeft`: the process that had it is gone. */
  onAnswered(call: { callId: string; runId: string; isLeft?: boolean }): void;
  onStatus(status: PbxStatus): void;
}

/** A warm transfer: the agent announces the caller to the destination before it connects both. */
export interface WarmTransfer {
  callerHears: 'music' | 'ringback';
  /** Speaks with the person who answered. Resolves if they accept the call. Rejects if they refuse, or when `signal` is
   *  aborted because they or the caller have hung up. The provider closes the media. */
  consult(media: MediaSession, signal: AbortSignal): Promise<void>;
}

/** What a caller hears who waits for a place. */
export interface WaitingSound {
  /** Whether the announcement is due; else the music goes on. */
  isAnnounced: boolean;
  /** A sound of the PBX, or a URL; null: its own for that. */
  announcement: string | null;
  /** Class of music on hold; null: the default one. */
  music: string | null;
}

/** Another number for a caller. */
export interface ForwardTarget {
  to: string;
  callerId: string;
  ringS: number;
}

export interface PbxConnection {
  readonly state: PbxState;
  /** Signals ringing to the caller. Best effort, never rejects. */
  ring(callId: string): Promise<void>;
  /** Answers an inbound call that rings, and joins the call with a media leg; a call that we dialled is only joined.
   *  Resolves once audio can flow. The session stays the same during the call (a broken leg is replaced below it), and
   *  closes when the call is over. Rejects with PBX_* codes; the call is hung up then, unless we dialled it and it
   *  still rings. */
  openMedia(callId: string, signal: AbortSignal): Promise<MediaSession>;
  /** Lets the caller wait, without media: answers the call and plays to it. Repeated for each announcement. Rejects with
   *  PBX_* and PROVIDER_* codes. */
  hold(callId: string, sound: WaitingSound, signal: AbortSignal): Promise<void>;
  /** Connects a caller without media with another number, and leaves the call. Rejects as `ProviderControl.transfer`. */
  forward(callId: string, target: ForwardTarget, signal: AbortSignal): Promise<void>;
  /** Rejects a ringing call with a suitable cause. `unconfigured`: the dialled number, which examinations show. Never
   *  rejects. */
  refuse(callId: string, reason: RejectReason, unconfigured?: UnconfiguredNumber): Promise<void>;
  /** Reconnects with these credentials and keeps the current calls. False if it cannot: a new connection must be
   *  made then. */
  renew(credentials: ProviderCredentials): boolean;
  /** Closes the connection. Current calls continue at the PBX. */
  close(): Promise<void>;
}

/** Calls of the same PBX in processes that live and are no members: such as those of the gateway that had the connection
 *  before. They are not this connection's to answer or to end. */
export interface CallsElsewhere {
  /** The processes, by name and first epoch. */
  processes: readonly ProcessIdentity[];
  callIds: readonly string[];
}

export interface ProcessIdentity {
  node: string;
  epoch: string;
}

/** A member's share of the calls of a connection. */
export interface PbxShare {
  /** The calls of this process, as if it had the connection. */
  readonly connection: PbxConnection;
  /** Whether this process may dial over the PBX now: its events reach this process. */
  readonly takesDials: boolean;
  /** Whether this process has had the connection itself since: its calls need another share. */
  readonly isOver: boolean;
  /** Number of calls that this process holds. */
  readonly calls: number;
  /** Takes a message of the holder. */
  take(message: unknown): void;
  /** Answers a question of the holder. Never rejects. */
  answer(message: unknown): Promise<unknown>;
  /** The holder has ended, or cannot be reached. The calls go on; it or a later holder asks for them. */
  holderGone(): void;
  /** The holder can be reached again. */
  holderBack(): void;
}

/** One finding of a check; findings are in the order in which they depend on each other. */
export interface Finding {
  /** Stable name of the check: `http`, `user`, `version`, ... */
  key: string;
  title: string;
  verdict: 'pass' | 'warn' | 'fail' | 'skip';
  /** The observation. */
  message: string;
  /** The remedy; null if none is needed. */
  advice: string | null;
}

/** Calls to the configuration's numbers, through the PBX's own dialplan: they may ring people. */
export interface NumberCalls {
  /** Context in which a call from outside begins; null: it is looked up. */
  context: string | null;
}

export interface Pbx {
  /** Names of the applications that are or should be connected: they identify the PBX of a socket. */
  readonly applications: readonly string[];
  /** `members`: other processes that hold calls of the connection. Default: none. `elsewhere`: see `CallsElsewhere`;
   *  default: there are none. */
  connect(
    account: PbxAccount,
    options: {
      listener: PbxListener;
      log: Log;
      members?: PbxMembers | undefined;
      elsewhere?: (() => Promise<CallsElsewhere>) | undefined;
    },
  ): PbxConnection;
  /** Begins this process's share of the calls of a connection that another process holds. `send`: to the holder. */
  join(
    account: PbxAccount,
    options: { listener: PbxListener; log: Log; send: (message: unknown) => void },
  ): PbxShare;
  /** The application of a configuration by its stored credentials, whose secrets may be sealed; undefined if they name
   *  none. */
  applicationOf(credentials: ProviderCredentials): string | undefined;
  /** Takes the `upgrade` event of an HTTP server for a PBX that opens the connection to us. False if no configuration
   *  waits at that path; then nothing was done. `client`: as in std/client-address. */
  takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client?: string): boolean;
  /** Takes a media socket that a PBX has opened; its first message names the call. */
  takeSocket(socket: MediaSocket, arrival?: SocketArrival): MediaSocketListener;
  /** Whether a PBX of a configuration has proved itself from that client (as in std/client-address). */
  isKnownClient(client: string): boolean;
  /** Checks everything that calls depend on. Never rejects because of a finding. */
  examine(
    account: ExaminedAccount,
    /** Active numbers of the configuration as stored, and the URL at which the PBX reaches us. Without `calls` no
     *  number is called. */
    facts: {
      numbers: readonly string[];
      publicUrl: string;
      calls?: NumberCalls | undefined;
      log: Log;
    },
    signal: AbortSignal,
  ): Promise<Finding[]>;
  /** Places one test call of a line over the connection of this process. What goes wrong is the fault of its result;
   *  rejects only if this process, or the one that has the connection, cannot make it. */
  testLine(
    account: ExaminedAccount,
    facts: { line: LineSettings; publicUrl: string; log: Log },
    signal: AbortSignal,
  ): Promise<LineTest>;
}
