// Runs without a call, as clients of the API create them before they start one.

import type { NewRun } from '../../src/store/runs/run-insertion.ts';
import type { CallHarness } from './call-harness.ts';

/** A run of the harness's workflow: an outbound call over Twilio, except for `more`. */
export function newRunOf(harness: CallHarness, more: Partial<NewRun> = {}): NewRun {
  return {
    organizationId: harness.at.owner.organizationId,
    workflowId: harness.workflow.id,
    definitionId: harness.version.id,
    name: 'WR-1',

    mode: 'twilio',
    callType: 'outbound',

    configurationId: null,
    providerCallId: null,

    initialContext: {},
    gatheredContext: {},
    logs: {},
    ...more,
  };
}

/** The id of one that has no call. */
export async function idleRun(harness: CallHarness, more: Partial<NewRun> = {}): Promise<string> {
  const { id } = await harness.at.store.starts.createIdle(newRunOf(harness, more));
  return id;
}
