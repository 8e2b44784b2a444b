// Interface to the call workers of this gateway for the API process; worker-directory.ts implements it.

import type { DigitsWanted } from '../call/session/send-digits.ts';
import type { ClaimedDial, Placed } from '../call/start/outbound/campaign-calls.ts';
import type { Fate } from '../call/start/outbound/campaign-plans.ts';
import type { StartCall, StartedCall, TestCall } from '../call/start/setup/call-start.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Finding } from '../telephony/provider/pbx.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

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

/** Calls of one worker. All methods throw WORKER_GONE, TIMED_OUT and QUEUE_FULL in addition to the errors of
 *  CallService. */
export interface PooledWorker {
  start(request: StartCall): Promise<StartedCall>;
  startTest(request: TestCall): Promise<StartedCall>;
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** Answers the run's call again. Returns false if the run is to be closed. */
  answerAgain(runId: string): Promise<boolean>;
  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply>;
  sendDigits(wanted: DigitsWanted): Promise<void>;
  /** Hangs up; settles when the call is over at the worker. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<void>;
  /** Dials for a campaign. */
  place(dial: ClaimedDial): Promise<Placed>;
  outcomeAfterCrash(runId: string): Promise<Fate>;
  examine(examination: PbxExamination): Promise<Finding[]>;
}

export interface WorkerPool {
  /** The worker for the next call of a hosted provider: the one with the fewest calls among those that accept calls,
   *  else among all; one that is late with its reports only if all are. Undefined: none is running. */
  leastLoaded(): PooledWorker | undefined;
  /** The worker with the connections to PBXs; undefined: it is not running. */
  pbxWorker(): PooledWorker | undefined;
  /** Whether the worker with the connections to PBXs is the only one. */
  readonly isSingle: boolean;
  /** The worker with that name in the store, if it belongs to this gateway. */
  byNode(node: string): PooledWorker | undefined;
  /** Whether a worker that is not late with its reports accepts a call. */
  readonly takesCalls: boolean;
  /** Number of active calls of all workers. */
  readonly activeCalls: number;
  /** Settles when a worker is running, or after `ms`. */
  untilThere(ms: number): Promise<void>;
}
