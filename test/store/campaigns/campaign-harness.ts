// Campaigns to test the store with.

import { beforeEach } from 'vitest';
import { type Campaign, RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import type { NewCampaign } from '../../../src/store/campaigns/campaigns.ts';
import type { TestStore } from '../engines.ts';

export interface StoredCampaigns {
  workflowId: string;
  input(more?: Partial<NewCampaign>): NewCampaign;
  create(more?: Partial<NewCampaign>): Promise<Campaign>;
  /** Contacts of rows 2 and on, fresh. */
  contacts(id: string, count: number): Promise<void>;
}

/** Each test finds an agent and no campaign. */
export function withCampaigns(test: TestStore): StoredCampaigns {
  const own = () => test.owner.organizationId;
  const harness: StoredCampaigns = {
    workflowId: '',
    input: (more = {}) => ({
      name: 'sept',
      workflowId: harness.workflowId,
      sourceId: `campaigns/${own()}/a.csv`,
      configurationId: null,
      retry: RETRY_DEFAULT,
      maxConcurrency: null,
      schedule: null,
      breaker: null,
      ratePerSecond: 1,
      ...more,
    }),
    create: (more) => test.store.campaigns.create(own(), harness.input(more)),
    contacts: (id, count) =>
      test.store.contacts.add(
        id,
        Array.from({ length: count }, (_, i) => ({
          rowNumber: i + 2,
          phoneNumber: `+1415555${1_000 + i}`,
          variables: { phone_number: `+1415555${1_000 + i}`, name: `Name ${i}` },
        })),
      ),
  };
  beforeEach(async () => {
    const { workflow } = await test.store.workflows.create(test.owner, {
      name: 'agent',
      triggerPaths: [],
      definition: { nodes: [], edges: [] },
      configurations: {},
      templateContextVariables: {},
    });
    harness.workflowId = workflow.id;
  });
  return harness;
}
