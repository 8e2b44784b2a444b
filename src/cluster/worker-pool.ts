// Interface to the call workers for the API process: those of this gateway, for its calls, and those of other gateways,
// for calls that they hold. worker-directory.ts implements it.

import type { DigitsWanted } from '../call/session/send-digits.ts';
import type { ClaimedDial, Placed } from '../call/start/outbound/campaign-calls.ts';
import type { Fate } from '../call/start/outbound/campaign-plans.ts';
import type { StartCall, StartedCall, TestCall } from '../call/start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from '../call/start/setup/web-call.ts';
import type { LineSettings, LineTest } from '../model/line-watch.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Finding } from '../telephony/provider/pbx.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';
import type { WorkerLoads } from './member-loads.ts';

/** Deadline of a worker's answer to a webhook: by then providers get an answer of the API process
 *  (api/telephony/provider-webhook-routes.ts). */
export const ASK_MS_MAX = 12_000;

export interface PbxExamination {
  provider: ProviderName;
  organizationId: string;
  configurationId: string;
  numbers: readonly string[];
  publicUrl: string;
}

/** A test call of a watched line over a PBX. */
export interface LineTestWanted {
  provider: ProviderName;
  organizationId: string;
  configurationId: string;
  publicUrl: string;
  line: LineSettings;
}

/** Calls of one worker. All methods throw WORKER_GONE, TIMED_OUT and QUEUE_FULL in addition to the errors of
 *  CallService. */
export interface PooledWorker {
  start(request: StartCall): Promise<StartedCall>;
  startTest(request: TestCall): Promise<StartedCall>;
  startWeb(request: WebCall): Promise<StartedWebCall>;
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** Answers the run's call again. Returns false if the run is to be closed. */
  answerAgain(runId: string): Promise<boolean>;
  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Goes on with a call whose media ended, or ends it. */
  resume(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  wait(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Goes on with the call of a dead process. Returns false if the run is to be closed. */
  resumeLeft(runId: string): Promise<boolean>;
  event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply>;
  /** The run of such an event, for `event`. */
  runOfAccountEvent(name: ProviderName, request: ProviderRequest): Promise<{ runId: string }>;
  sendDigits(wanted: DigitsWanted): Promise<void>;
  /** Hangs up; settles when the call is over at the worker. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<void>;
  /** Dials for a campaign. */
  place(dial: ClaimedDial): Promise<Placed>;
  outcomeAfterCrash(runId: string): Promise<Fate>;
  examine(examination: PbxExamination): Promise<Finding[]>;
  /** Places a test call of a watched line. */
  testLine(wanted: LineTestWanted): Promise<LineTest>;
}

export interface WorkerPool {
  /** The worker for the next call of a hosted provider: the one with the fewest calls among those that accept calls,
   *  else among all; one that is late with its reports only if all are. Undefined: none is running. */
  leastLoaded(): PooledWorker | undefined;
  /** The worker for an inbound call: as `leastLoaded`; one of another gateway while no worker of this one accepts calls,
   *  or it stops, and another has room. */
  forInbound(): PooledWorker | undefined;
  /** The worker for a call over the PBX of that configuration: the one with the fewest calls of those that may dial and
   *  accept calls, in any gateway or in this one, else the one with the connections to PBXs. */
  forPbx(configurationId: string, where?: 'anywhere' | 'here'): PooledWorker | undefined;
  /** The worker with the connections to PBXs; undefined: it is not running. */
  pbxWorker(): PooledWorker | undefined;
  /** Whether the worker with the connections to PBXs is the only one, of all gateways. */
  readonly isSingle: boolean;
  /** The worker with that name in the store, of this gateway or of one that is known over the bus. */
  byNode(node: string): PooledWorker | undefined;
  /** Whether a worker that is not late with its reports accepts a call. */
  readonly takesCalls: boolean;
  /** Number of active calls of all workers. */
  readonly activeCalls: number;
  /** Settles when a worker is running, or after `ms`. */
  untilThere(ms: number): Promise<void>;
}

/** What a worker reports of itself. */
export interface WorkerReport {
  number: number;
  active: number;
  calls: number;
  takesCalls: boolean;
  stt: string | null;
  applications: string[];
}

/** The gateways that are known over the bus. */
export interface OtherGateways {
  readonly isAny: boolean;
  /** Whether this gateway stops: the others get its inbound calls. */
  isLeaving(): boolean;
  byNode(node: string): PooledWorker | undefined;
  /** The worker with the fewest calls among those that accept calls; undefined: there is none. */
  leastLoaded(): PooledWorker | undefined;
  /** The worker for a call over the PBX of that configuration, with the number of its calls; undefined: there is none.
   *  `take` gives it one more call. */
  forPbx(configurationId: string): { calls: number; take(): PooledWorker } | undefined;
  /** The workers that may hold calls of PBXs whose connection a worker of this gateway has. */
  readonly pbxLoads: WorkerLoads;
}
