// A running campaign with contacts, and the steps of the dial queue, for its tests.

import { RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import type { Run } from '../../../src/model/run.ts';
import type { ClaimedAttempt, ClaimLimits } from '../../../src/store/campaigns/dial-attempts.ts';
import type { TestStore } from '../engines.ts';
import { type Ground, ground } from '../runs/completed-runs.ts';

export interface Queue extends Ground {
  campaignId: string;
  claim(limits?: Partial<ClaimLimits>): Promise<ClaimedAttempt[]>;
  begin(claim: ClaimedAttempt): Promise<Run | undefined>;
  /** The run of a begun attempt ends. */
  complete(run: Run, disposition: string): Promise<void>;
}

export async function queueOf(at: TestStore, contacts: number): Promise<Queue> {
  const on = await ground(at);
  const campaign = await at.store.campaigns.create(on.organizationId, {
    name: 'c',
    workflowId: on.workflowId,
    sourceId: `campaigns/${on.organizationId}/a.csv`,
    configurationId: on.configurationId,
    retry: RETRY_DEFAULT,
    maxConcurrency: null,
    schedule: null,
    breaker: null,
    ratePerSecond: 1,
  });
  await at.store.contacts.add(campaign.id, rows(contacts));
  await at.sql("update campaigns set state = 'running' where id = $1", [campaign.id]);
  await at.sql('update organizations set concurrent_call_limit = 1000');
  return {
    ...on,
    campaignId: campaign.id,
    claim: (limits = {}) =>
      at.store.contacts.claim(campaign.id, {
        count: 100,
        openMax: 100,
        ratePerSecond: 1_000,
        configuration: { id: on.configurationId, callsPerSecond: null },
        horizonMs: 1_000,
        leaseMs: 30_000,
        ...limits,
      }),
    begin: (claim) =>
      at.store.contacts.begin(claim, {
        ...on,
        campaignId: campaign.id,
        name: `WR-CAMPAIGN-${campaign.id}-${claim.attemptId}`,
        mode: 'twilio',
        callType: 'outbound',
        providerCallId: null,
        initialContext: {},
        gatheredContext: {},
        logs: {},
      }),
    complete: async ({ id }, disposition) => {
      await at.store.runs.patch(id, { state: 'completed', disposition });
    },
  };
}

export function rows(count: number) {
  return Array.from({ length: count }, (_each, index) => ({
    rowNumber: index + 2,
    phoneNumber: `+1415200${String(index).padStart(4, '0')}`,
    variables: { name: `n${index}` },
  }));
}
