// The interface of a telephony provider. Providers declare capabilities; code outside a provider's folder never
// depends on its name.

import type { CallStatus, ProviderName } from '../../model/provider.ts';
import type { MediaProtocol } from './media-protocol.ts';
import type { Pbx, WarmTransfer } from './pbx.ts';
import type { ProviderCredentials, RejectReason } from './terms.ts';

export interface ProviderCapabilities {
  /** Whether the provider signals the caller's keys; if not, in-band DTMF detection finds them in the audio. */
  digitsIn: boolean;
  /** Answering machine detection by the provider, in parallel with the media. */
  answeringMachine: boolean;
  transfer: readonly ('cold' | 'warm' | 'refer')[];
  /** When a transfer settles: when the provider accepts the request, or when the destination answers or does
   *  not. */
  transferAwaits: 'acceptance' | 'answer';
  /** The longest call, in seconds. */
  callS: { max: number };
}

/** The data of a webhook or an upgrade request. `url` is built from the configured public base URL, never from
 *  the Host header. */
export interface ProviderRequest {
  method: string;
  url: string;
  headers: Record<string, string | undefined>;
  rawBody: Buffer;
  /** Form fields, last value wins; repeated values are in `formAll`. Empty for JSON bodies. */
  form: Record<string, string>;
  formAll: Record<string, string[]>;
  /** The parsed JSON body, or undefined. */
  json: unknown;
}

export interface WebhookReply {
  status: number;
  contentType: string;
  body: string;
}

/** A provider's event, normalised. `dedupeKey` is the same for a repeated delivery. */
export type ProviderEvent =
  | {
      kind: 'inbound-call';
      callId: string;
      /** Value of the configuration field that identifies the provider account. */
      accountId: string;
      from: string;
      to: string;
      dedupeKey: string;
      raw: Record<string, unknown>;
    }
  | {
      kind: 'status';
      callId: string;
      status: CallStatus;
      providerStatus: string;
      /** Orders events of one call; undefined if the provider has no order. */
      sequence: number | undefined;
      durationS: number | null;
      dedupeKey: string;
      raw: Record<string, unknown>;
    }
  | { kind: 'answered-by'; callId: string; answeredBy: string; machine: boolean; dedupeKey: string }
  | { kind: 'other'; dedupeKey: string };

export interface DialRequest {
  runId: string;
  /** Numbers in the provider's format. `from` is null only where calls may have no caller id. */
  from: string | null;
  to: string;
  answerUrl: string;
  statusUrl: string;
  answeredByUrl: string;
  /** Ring time before giving up, and the longest call, both in seconds. */
  ringS: number;
  callS: number;
}

export interface DialResult {
  callId: string;
  /** Facts of the provider's answer for the run (no secrets). */
  metadata: Record<string, string>;
}

export interface TransferTarget {
  to: string;
  callerId: string;
  ringS: number;
  /** Only with the capability. Default: both parties are connected at once. */
  warm?: WarmTransfer | undefined;
}

export interface CallSnapshot {
  status: CallStatus;
  durationS: number | null;
  answeredBy: string | null;
}

/** How to reach the provider's REST interface. Every call has a deadline and can be aborted; all fail
 *  with PROVIDER_* codes. */
export interface ProviderControl {
  /** Never retried: a second request could place a second call. */
  dial(
    credentials: ProviderCredentials,
    request: DialRequest,
    signal: AbortSignal,
  ): Promise<DialResult>;
  /** Succeeds if the call is already gone. */
  hangUp(credentials: ProviderCredentials, callId: string, signal: AbortSignal): Promise<void>;
  /** Transfers the caller to `to` and leaves the call. If it waits for the answer, it also fails with
   *  TRANSFER_BUSY, TRANSFER_NO_ANSWER, TRANSFER_DECLINED, TRANSFER_FAILED, and the caller is connected with the
   *  agent again. */
  transfer(
    credentials: ProviderCredentials,
    callId: string,
    target: TransferTarget,
    signal: AbortSignal,
  ): Promise<void>;
  /** Sends DTMF keys, 0-9 * # A-D, `w` for half a second's pause. Undefined where the provider has no such
   *  request. Throws PROVIDER_*, also if the call is over. */
  sendDigits?(
    credentials: ProviderCredentials,
    callId: string,
    digits: string,
    signal: AbortSignal,
  ): Promise<void>;
  getCall(
    credentials: ProviderCredentials,
    callId: string,
    signal: AbortSignal,
  ): Promise<CallSnapshot | undefined>;
  /** Calls between the two numbers (in the provider's format) that were placed at `since` or later, with a
   *  tolerance of a minute for the clocks; newest first, at most 20. Undefined where the provider keeps no list. */
  findCalls(
    credentials: ProviderCredentials,
    wanted: { from: string | null; to: string; since: Date },
    signal: AbortSignal,
  ): Promise<{ callId: string; status: CallStatus }[] | undefined>;
  /** Whether the account owns `address`; undefined where the provider has no such concept. */
  ownsNumber(
    credentials: ProviderCredentials,
    address: string,
    signal: AbortSignal,
  ): Promise<boolean | undefined>;
  /** Points the number's inbound calls at `url`, or detaches it (null). */
  configureInbound(
    credentials: ProviderCredentials,
    address: string,
    url: string | null,
    signal: AbortSignal,
  ): Promise<{ ok: boolean; message: string | null }>;
}

/** The provider's webhooks: detection, verification, content and reply. */
export interface ProviderWebhook {
  /** Whether `request` looks like this provider's. It selects the verifier only; it proves nothing. */
  recognises(request: ProviderRequest): boolean;
  /** The account that the request names, as configurations have it; undefined if it names none. It proves nothing. */
  accountOf(request: ProviderRequest): string | undefined;
  /** Verifies the provider's signature of a webhook or socket upgrade in constant time. */
  verify(request: ProviderRequest, credentials: ProviderCredentials): boolean;
  /** Throws WEBHOOK_MALFORMED. */
  parse(request: ProviderRequest): ProviderEvent;
  /** The reply that connects the call to our media socket. */
  answer(mediaUrl: string): WebhookReply;
  reject(reason: RejectReason): WebhookReply;
  /** The empty success reply to an event. */
  acknowledge(): WebhookReply;
}

interface AnyProvider {
  readonly name: ProviderName;
  readonly capabilities: ProviderCapabilities;
  /** The number in the provider's request format. */
  formatAddress(addressNormalized: string): string;
  readonly control: ProviderControl;
}

/** A hosted provider: reports its calls by webhooks and opens its media sockets to us. */
export interface HostedProvider extends AnyProvider {
  readonly webhook: ProviderWebhook;
  /** A new protocol for one socket. */
  createMedia(): MediaProtocol;
}

/** A provider that reports its calls over a connection that the gateway holds. */
export interface PbxProvider extends AnyProvider {
  readonly pbx: Pbx;
}

export type TelephonyProvider = HostedProvider | PbxProvider;

export function isHosted(provider: TelephonyProvider): provider is HostedProvider {
  return 'webhook' in provider;
}
