// The call workers of this gateway as the API process sees them. The interface only: how they are reached is
// worker-directory.ts.

import type { StartCall, StartedCall, TestCall } from '../call/call-service.ts';
import type { DigitsWanted } from '../call/control/send-digits.ts';
import type { ClaimedDial, Placed } from '../call/outbound/campaign-calls.ts';
import type { Fate } from '../call/outbound/campaign-plans.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Finding, PbxAccount } from '../telephony/provider/pbx.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

export interface PbxExamination {
  provider: ProviderName;
  account: PbxAccount;
  numbers: readonly string[];
  publicUrl: string;
}

/** All throw WORKER_GONE, TIMED_OUT and QUEUE_FULL beside what CallService says. */
export interface PooledWorker {
  start(request: StartCall): Promise<StartedCall>;
  startTest(request: TestCall): Promise<StartedCall>;
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  sendDigits(wanted: DigitsWanted): Promise<void>;
  /** Settles when the call is over there. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<void>;
  /** Dials for a campaign. */
  place(dial: ClaimedDial): Promise<Placed>;
  outcomeAfterCrash(runId: string): Promise<Fate>;
  examine(examination: PbxExamination): Promise<Finding[]>;
}

export interface WorkerPool {
  /** Who is to take the next call of a hosted provider: the one with the fewest among those that have room, and
   *  if none has, among all. Undefined: none is there. */
  leastLoaded(): PooledWorker | undefined;
  /** The one that holds the connections to PBXs; undefined: it is not there. */
  pbxWorker(): PooledWorker | undefined;
  /** The one that the store knows by that name, if it is one of ours. */
  byNode(node: string): PooledWorker | undefined;
  /** Whether one of them has room for a call. */
  readonly takesCalls: boolean;
  /** Of all of them. */
  readonly activeCalls: number;
  /** Settles once there is one, or after `ms`. */
  untilThere(ms: number): Promise<void>;
}
