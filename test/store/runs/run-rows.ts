// Runs to test repositories with: the agent and configuration they need, and one run after the other.

import type { Run } from '../../../src/model/run.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import type { RunPatch } from '../../../src/store/runs/runs.ts';
import type { TestStore } from '../engines.ts';

export interface RunMaker {
  workflowId: string;
  definitionId: string;
  configurationId: string;
  make(patch?: RunPatch, more?: Partial<NewRun>): Promise<Run>;
}

export async function runMaker(at: TestStore): Promise<RunMaker> {
  const { workflow, version } = await at.store.workflows.create(at.owner, {
    name: 'Desk',
    triggerPaths: [],
    definition: { nodes: [], edges: [] },
    configurations: {},
    templateContextVariables: {},
  });
  const configuration = await at.store.telephony.createConfiguration(at.owner.organizationId, {
    name: 'Main',
    provider: 'twilio',
    isDefaultOutbound: true,
    credentials: {},
    accountId: 'AC1',
    secretFields: [],
  });
  const ids = {
    workflowId: workflow.id,
    definitionId: version.id,
    configurationId: configuration.id,
  };
  return {
    ...ids,
    make: async (patch = {}, more = {}) => {
      const { id } = (
        await at.store.runs.create(
          {
            ...ids,
            organizationId: at.owner.organizationId,
            name: 'WR-API-1234',
            mode: 'twilio',
            callType: 'outbound',
            providerCallId: null,
            initialContext: { phone_number: '+1' },
            gatheredContext: {},
            logs: {},
            ...more,
          },
          1_000,
        )
      ).run;
      at.clock.advance(1_000);
      const run = await at.store.runs.patch(id, patch);
      if (run === undefined) throw new Error('no such run');
      return run;
    },
  };
}
