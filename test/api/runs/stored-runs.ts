// Runs in the store of a served API, without calls: an agent, a configuration, and as many runs as a test
// wants.

import { beforeEach } from 'vitest';
import type { Run } from '../../../src/model/run.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import type { RunPatch } from '../../../src/store/runs/runs.ts';
import { type Served, smallWorkflow } from '../served.ts';

export interface StoredRuns {
  workflowId: string;
  definitionId: string;
  configurationId: string;
  /** A second later than the one before. */
  aRun(patch?: RunPatch, more?: Partial<NewRun>): Promise<Run>;
  /** A patch that completes a run. */
  completed(patch?: RunPatch): RunPatch;
}

/** Made before each test. */
export function withStoredRuns(served: Served): StoredRuns {
  const made = {
    completed: (patch: RunPatch = {}): RunPatch => ({
      state: 'completed',
      disposition: 'user_qualified',
      durationS: 12.5,
      endedAt: new Date(served.test.clock.now()),
      ...patch,
    }),
  } as StoredRuns; // Filled before each test.

  made.aRun = async (patch = {}, more = {}) => {
    const { runs } = served.test.store;
    const { workflowId, definitionId, configurationId } = made;
    const { run } = await runs.create(
      {
        organizationId: served.test.owner.organizationId,
        workflowId,
        definitionId,
        name: 'WR-API-0001',
        mode: 'twilio',
        callType: 'outbound',
        configurationId,
        providerCallId: null,
        initialContext: { phone_number: '+15550100', called_number: '+15550100' },
        gatheredContext: { provider: 'twilio' },
        logs: {},
        ...more,
      },
      1_000,
    );
    await runs.patch(run.id, patch);
    served.test.clock.advance(1_000);
    return run;
  };

  beforeEach(async () => {
    const workflow = await served.ok('POST', '/workflow/create/definition', {
      name: 'agent',
      workflow_definition: smallWorkflow,
    });
    made.workflowId = workflow.id;
    made.definitionId = workflow.current_definition_id;
    const config = { provider: 'plivo', auth_id: 'a', auth_token: 'b' };
    const body = { name: 'c', config };
    made.configurationId = (await served.ok('POST', '/organizations/telephony-configs', body)).id;
  });
  return made;
}
