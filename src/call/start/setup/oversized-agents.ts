// Checks at the start of the gateway for agents that are too large for calls: every call of such an agent is refused,
// and its owner must see this before the next call.

import type { Log } from '../../../log.ts';
import type { StoreHandle } from '../../../store/open.ts';

/** Agents that the log names individually at most. */
const NAMED_MAX = 20;

/** Logs a line for each such agent, and the number of further ones. Never rejects. */
export async function logOversizedAgents(
  store: Pick<StoreHandle, 'oversizedVersions'>,
  log: Log,
): Promise<void> {
  let count = 0;
  try {
    for await (const { organizationId, workflowId, status, excess } of store.oversizedVersions()) {
      count += 1;
      if (count > NAMED_MAX) continue;
      log.warn(
        { organizationId, workflowId, status, excess },
        'agent is too large for calls: make it smaller and publish it again',
      );
    }
  } catch (error) {
    log.warn({ err: error }, 'sizes of agents not checked');
  }
  if (count > NAMED_MAX) log.warn({ agents: count }, 'agents are too large for calls');
}
