// Other workers of this gateway, which take calls of hosted providers beside this one. The interface only:
// how they are reached is the crew room's business.

import type { DigitsWanted } from '../call/control/send-digits.ts';
import type { ProviderName } from '../model/provider.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

/** All throw WORKER_GONE and TIMED_OUT beside what CallDesk says. */
export interface PooledWorker {
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  sendDigits(wanted: DigitsWanted): Promise<void>;
  /** Settles when the call is over there. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<void>;
}

export interface WorkerPool {
  /** Who has the fewest calls, if not more than `ownCalls`; undefined: nobody. */
  leastLoaded(ownCalls: number): PooledWorker | undefined;
  /** The one that the store knows by that name, if it is one of ours. */
  byNode(node: string): PooledWorker | undefined;
  /** Of all of them. */
  readonly activeCalls: number;
}
