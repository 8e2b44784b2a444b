// The interface of a telephony provider. Providers declare capabilities; code outside a provider's folder never
// depends on its name.

import type { CallStatus, ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import type { ProviderInspection } from './inspection.ts';
import type { MediaProtocol } from './media-protocol.ts';
import type { Pbx, WarmTransfer } from './pbx.ts';
import type { ProviderCredentials, RejectReason } from './terms.ts';

/** Capabilities that code outside the provider's folder depends on. Other differences are not declared here. */
export interface ProviderCapabilities {
  /** Sender of DTMF digits to the far end: the provider at a `request` (`sendDigits`), or we as `tones` in the
   *  audio. */
  digitsOut: 'request' | 'tones';
  /** Whether the call ends when either side closes its media connection. If not, it must be hung up. */
  closeEndsCall: boolean;
  /** What becomes of a call whose media end although it goes on, as when the process with the media dies: the provider
   *  asks at `AnswerRequest.resumeUrl`, the call stays without media until we connect them again, or it ends. */
  afterMedia: 'asks' | 'stays' | 'ends';
  /** Whether a dial may be sent again after an unclear answer: the provider places the same `runId` once. */
  idempotentDial: boolean;
  /** Whether the provider signals the caller's keys; if not, in-band DTMF detection finds them in the audio. */
  digitsIn: boolean;
  /** Answering machine detection by the provider, in parallel with the media. */
  answeringMachine: boolean;
  transfer: readonly ('cold' | 'warm' | 'refer')[];
  /** Whether `transfer` presses `TransferTarget.digits`. Default: false. */
  transferDigits?: boolean;
  /** When a transfer settles: when the provider accepts the request, or when the destination answers or does
   *  not. */
  transferAwaits: 'acceptance' | 'answer';
  /** Longest call, in seconds. */
  callS: { max: number };
  /** Dials per second above which the provider refuses those of one account, unless its configuration has another rate.
   *  Default: the provider queues them, or documents no number. */
  callsPerSecond?: number;
}

export interface HostedCapabilities extends ProviderCapabilities {
  /** How a call is connected or refused: by the document in a webhook's reply, or by a command to the provider's REST
   *  interface. With `command` a call that we placed has no answer URL: its status `in-progress` asks for media. */
  answerStyle: 'document' | 'command';
  /** What a verified webhook proves. `full`: sender and content. `url-only`: that the provider once sent a webhook to
   *  this URL; its content is confirmed by `getCall` before it has an effect. `shared-key`: the webhook of a new call
   *  has a secret of the account, later ones have nothing and are confirmed by `getCall`. */
  webhookProof: 'full' | 'url-only' | 'shared-key';
  /** Latest answer to a call's webhook, in ms: the provider's time-out less the network's delay. Default: not known. */
  answerMsMax?: number;
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
  /** The parsed JSON body; undefined without one. */
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
      /** Value of the configuration field that identifies the provider account; null if the webhook does not have it:
       *  then the called number is looked up in all accounts, and the signature decides. */
      accountId: string | null;
      from: string;
      to: string;
      /** Country (ISO 3166, two letters) that completes `to` if it is a national number. Default: none. */
      toCountry?: string | undefined;
      dedupeKey: string;
      raw: Record<string, unknown>;
    }
  | {
      kind: 'status';
      callId: string;
      status: CallStatus;
      providerStatus: string;
      /** Keys that a transfer has for this leg, which has answered and waits for a command that presses them. */
      digits?: string | undefined;
      /** Orders events of one call; undefined if the provider has no order. */
      sequence: number | undefined;
      durationS: number | null;
      dedupeKey: string;
      raw: Record<string, unknown>;
    }
  /** Result of a transfer that the provider carries out by itself, once it is over. `callId`: the destination's leg, if
   *  the provider names it, else the caller's call. */
  | {
      kind: 'transfer-result';
      callId: string;
      status: CallStatus;
      providerStatus: string;
      durationS: number | null;
      dedupeKey: string;
    }
  | { kind: 'answered-by'; callId: string; answeredBy: string; machine: boolean; dedupeKey: string }
  /** The provider could not open, or lost, the call's media socket. `reason`: the provider's word. */
  | { kind: 'media-failed'; callId: string; reason: string; dedupeKey: string }
  | { kind: 'other'; dedupeKey: string };

export interface DialRequest {
  /** Run of the call, also the idempotency key where the provider has one. */
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
  /** Keys to press once the destination has answered: 0-9 * # A-D, and `w` for half a second. Set only with the
   *  capability. Default: none. */
  digits?: string | undefined;
  /** An event route of the call's run, where a hosted provider that takes no document in its request fetches
   *  `ProviderWebhook.transferDocument`. */
  documentUrl?: string | undefined;
  /** URL for the result at the destination, if the provider reports it. */
  resultUrl?: string | undefined;
  /** Set only with the capability, and without `join`. Default: both parties are connected at once. */
  warm?: WarmTransfer | undefined;
}

/** Two calls that talk with us, to be joined with each other. */
export interface CallsToJoin {
  /** The caller's call, and the destination's. */
  callId: string;
  legId: string;
  /** Name of the conference, where the provider joins calls in one. Letters, digits and `-`. */
  name: string;
  /** Document URL, as `TransferTarget.documentUrl`. */
  documentUrl: string;
}

export interface CallSnapshot {
  status: CallStatus;
  durationS: number | null;
  answeredBy: string | null;
}

/** Requests to the provider's REST interface. Every one has a deadline and can be aborted; all fail with PROVIDER_*
 *  codes. */
export interface ProviderControl {
  /** Sent once: a second request could place a second call. The caller repeats it only with `idempotentDial`. */
  dial(
    credentials: ProviderCredentials,
    request: DialRequest,
    signal: AbortSignal,
  ): Promise<DialResult>;
  /** Hangs up. Succeeds if the call is already gone. */
  hangUp(credentials: ProviderCredentials, callId: string, signal: AbortSignal): Promise<void>;
  /** Transfers the caller to `to`, and leaves the call. If it waits for the answer, it also fails with TRANSFER_BUSY,
   *  TRANSFER_NO_ANSWER, TRANSFER_DECLINED, TRANSFER_FAILED, and the caller is connected with the agent again. */
  transfer(
    credentials: ProviderCredentials,
    callId: string,
    target: TransferTarget,
    signal: AbortSignal,
  ): Promise<void>;
  /** Joins two calls and takes our media out of both; then the end of one ends the other. Changes the destination's
   *  call first: after a failure the caller may still talk with us. Present where the capability is `warm` and
   *  `transfer` does not do it. Throws PROVIDER_*. */
  join?(credentials: ProviderCredentials, calls: CallsToJoin, signal: AbortSignal): Promise<void>;
  /** Sends DTMF keys: 0-9 * # A-D, and `w` for a pause of half a second. Present with the capability `digitsOut:
   *  'request'`. Throws PROVIDER_*, also if the call is over. */
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
    wanted: { runId: string; from: string | null; to: string; since: Date },
    signal: AbortSignal,
  ): Promise<{ callId: string; status: CallStatus }[] | undefined>;
  /** Whether the account owns `address`; undefined where the provider has no such concept. */
  ownsNumber(
    credentials: ProviderCredentials,
    address: string,
    signal: AbortSignal,
  ): Promise<boolean | undefined>;
  /** Points the number's inbound calls at `url`. */
  configureInbound(
    credentials: ProviderCredentials,
    address: string,
    url: string,
    signal: AbortSignal,
  ): Promise<{ ok: boolean; message: string | null }>;
  /** Takes the number's inbound calls from `url`. If they go elsewhere, such as to another system with the same
   *  account, nothing is changed. */
  detachInbound(
    credentials: ProviderCredentials,
    address: string,
    url: string,
    signal: AbortSignal,
  ): Promise<{ ok: boolean; message: string | null }>;
  /** For providers whose calls need an application there: finds ours or creates it, when a configuration without one is
   *  stored. Returns the credentials to store beside the others, or undefined if nothing is missing. Never changes an
   *  application of another system. May be repeated. Throws PROVIDER_*. */
  ensureApplication?(
    credentials: ProviderCredentials,
    wanted: ApplicationWish,
    signal: AbortSignal,
  ): Promise<ProviderCredentials | undefined>;
}

export interface ApplicationWish {
  /** Identifies this installation, among others with the same account, in its application's name. Letters and
   *  digits. */
  installationId: string;
  /** URL for inbound calls. */
  inboundUrl: string;
}

/** A call that is to be connected to our media socket. */
export interface AnswerRequest {
  runId: string;
  /** The provider's id of the call. */
  callId: string;
  /** Whether the call is answered already, so that a command only connects its media. */
  isAnswered: boolean;
  /** Media URL without a query. The same one for a repeated request, while it is unused. */
  mediaUrl: string;
  /** URL for later events of this call, where the answer can set one; else the one of the dial or of the number is
   *  used. */
  statusUrl: string;
  answeredByUrl: string;
  /** URL at which a provider with `afterMedia: 'asks'` requests what to do when the media have ended. Undefined: the call
   *  ends with its media. */
  resumeUrl?: string | undefined;
  /** Whether the provider plays audio of `wait` to the caller, which ends first. */
  isWaiting?: boolean | undefined;
  /** Set when the media are connected again, to a value of its own each time: a provider carries out the first of equal
   *  commands only. */
  resumption?: string | undefined;
}

/** A caller who waits for a place, without media of ours. */
export interface WaitRequest {
  runId: string;
  callId: string;
  /** Whether the call is answered already. With `answerStyle: 'command'` the audio begins after the answer only. */
  isAnswered: boolean;
  /** What the caller is told this time; undefined: nothing. `audio`: URL of a file in place of the words. */
  announcement: { words: string; audio: string | null } | undefined;
  /** URL of the audio between the announcements. A document plays it once and asks again; a command plays it until the
   *  next one. */
  waitingAudio: string;
  /** URL at which a document asks again. */
  askUrl: string;
  /** URL for later events of this call, where a command sets one. */
  statusUrl: string;
}

/** A call without media of ours that goes to another number, or ends. */
export interface ForwardRequest {
  runId: string;
  callId: string;
  isAnswered: boolean;
  /** In the provider's format, as the number that is shown to the destination. */
  to: string;
  callerId: string;
  ringS: number;
  /** URL for the result at the destination, if the provider reports it. */
  resultUrl: string;
}

/** How a call is connected or refused. */
export interface CallAction {
  reply: WebhookReply;
  /** With `answerStyle: 'command'`: the request to the provider that does it. It may be repeated; the provider carries
   *  out the first of equal ones. Succeeds if the call is over already. Throws PROVIDER_*. */
  command?: ((credentials: ProviderCredentials, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The provider's webhooks: detection, verification, content and reply. */
export interface ProviderWebhook {
  readonly routes: CallbackRoutes;
  /** Whether `request` looks like this provider's. It selects the verifier only; it proves nothing. */
  recognises(request: ProviderRequest): boolean;
  /** The account in the request, as configurations have it; undefined if it has none. It proves nothing. */
  accountOf(request: ProviderRequest): string | undefined;
  /** Verifies in constant time that the provider sent a webhook. `nowMs`: wall clock, for signatures with a time.
   *  `webhookProof` says what success proves. */
  verify(request: ProviderRequest, credentials: ProviderCredentials, nowMs: number): boolean;
  /** Whether `request` is about a call of this run, by its content, where the signature does not cover the URL.
   *  Undefined where the URL is proof enough. */
  isOfRun?(request: ProviderRequest, runId: string): boolean;
  /** Whether `request` came by a route without proof: it is acknowledged in any case, and only causes a look-up of the
   *  call by its id. Undefined where there is no such route. */
  isReport?(request: ProviderRequest): boolean;
  /** Verifies the upgrade to a media socket. Undefined where the token in its path is the only proof. */
  verifyUpgrade?(request: ProviderRequest, credentials: ProviderCredentials): boolean;
  /** A signed value that no two webhooks share: nonce, token id. A second webhook with it is refused. Undefined where
   *  there is none. Called after `verify`. */
  nonceOf?(request: ProviderRequest): string | undefined;
  /** The event of a webhook. Throws WEBHOOK_MALFORMED. */
  parse(request: ProviderRequest): ProviderEvent;
  /** Connects the call to our media socket. */
  answer(request: AnswerRequest): CallAction;
  /** Lets the caller wait. */
  wait(request: WaitRequest): CallAction;
  /** Connects the caller with another number; the call ends with that leg. Throws PROVIDER_DESTINATION. */
  forward(request: ForwardRequest): CallAction;
  /** Ends an answered call with these words. */
  dismiss(callId: string, words: string): CallAction;
  /** Refuses the call. `callId` is null if the request has none. */
  reject(reason: RejectReason, callId: string | null): CallAction;
  /** The empty success reply to an event. */
  acknowledge(): WebhookReply;
  /** Ends the call that asks at `AnswerRequest.resumeUrl`. Present with `afterMedia: 'asks'`. */
  endAfterMedia?(): WebhookReply;
  /** The document of a transfer, if `request` fetches one from `TransferTarget.documentUrl`. */
  transferDocument?(request: ProviderRequest): WebhookReply | undefined;
}

/** Names of the provider's callback routes, which the API mounts. Lower case letters and `-`. */
export interface CallbackRoutes {
  /** `/telephony/<provider>/<name>/<run>`: status events of a dial. */
  status: string;
  /** `/telephony/<provider>/<name>/<run>`: results of answering machine detection. */
  answeredBy: string;
  /** `/telephony/<path>/<transfer>`: progress of a transfer's destination. */
  transferResult: string;
  /** Further names under which events of a run are accepted. */
  others: readonly string[];
  /** `/telephony/<name>?workflow_run_id=<run>`: answer URL of the reference platform. Null if it has none. */
  namedAnswer: { name: string; method: 'GET' | 'POST' } | null;
  /** `/telephony/<provider>/<name>/workflow/<workflow>`: events as for `account`, where an application belongs to one
   *  agent. */
  ofWorkflow?: readonly string[];
  /** `/telephony/<provider>/<name>`: events of any call of the account; the run is found by its call id. */
  account: readonly string[];
}

interface AnyProvider<Name extends ProviderName = ConfiguredProviderName> {
  readonly name: Name;
  readonly capabilities: ProviderCapabilities;
  /** The number in the provider's request format. */
  formatAddress(addressNormalized: string): string;
  readonly control: ProviderControl;
}

/** A hosted provider: reports its calls by webhooks and opens its media sockets to us. */
export interface HostedProvider extends AnyProvider {
  readonly capabilities: HostedCapabilities;
  readonly webhook: ProviderWebhook;
  readonly inspection: ProviderInspection;
  /** Creates the protocol of one socket. */
  createMedia(): MediaProtocol;
}

/** A provider that reports its calls over a connection that the gateway holds. */
export interface PbxProvider extends AnyProvider {
  readonly pbx: Pbx;
}

/** The call of a media socket. */
export interface DirectCall {
  runId: string;
}

/** A provider without an account between: callers open their media sockets to us, by a token that the API has given
 *  them. A call is its socket. */
export interface DirectProvider extends AnyProvider<ProviderName> {
  /** Creates the protocol of one socket. */
  createMedia(call: DirectCall): MediaProtocol;
  /** Time in which a caller whose socket broke may open another one for the same call, in milliseconds. */
  readonly returnMs: number;
}

export type TelephonyProvider = HostedProvider | PbxProvider | DirectProvider;

/** The hosted provider that seems to have sent this webhook, in the order of the registry: some use each other's
 *  fields. */
export function recognisedBy(
  hosted: readonly HostedProvider[],
  request: ProviderRequest,
): HostedProvider | undefined {
  return hosted.find(({ webhook }) => webhook.recognises(request));
}

export function isHosted(provider: TelephonyProvider): provider is HostedProvider {
  return 'webhook' in provider;
}

export function isPbx(provider: TelephonyProvider): provider is PbxProvider {
  return 'pbx' in provider;
}

export function isDirect(provider: TelephonyProvider): provider is DirectProvider {
  return 'returnMs' in provider;
}

/** Time that a provider waits which does not document it. */
const UNKNOWN_MS = 8_000;

/** Latest answer to a call's webhook, in milliseconds. */
export function answerMsOf(provider: HostedProvider | undefined): number {
  return provider?.capabilities.answerMsMax ?? UNKNOWN_MS;
}
