// Runs that are completed, for the tests of what comes after.

import type { Run } from '../../../src/model/run.ts';
import type { Clock } from '../../../src/std/clock.ts';
import type { NewDelivery } from '../../../src/store/deliveries/webhook-deliveries.ts';
import type { NewRun } from '../../../src/store/runs/run-insertion.ts';
import type { TestStore } from '../engines.ts';

export interface Ground {
  organizationId: string;
  workflowId: string;
  definitionId: string;
  configurationId: string;
}

/** A workflow and a configuration of the test's own organization, or of another. */
export async function ground(
  at: Pick<TestStore, 'store' | 'owner'>,
  organizationId?: string,
): Promise<Ground> {
  const owner = { ...at.owner, organizationId: organizationId ?? at.owner.organizationId };
  const { workflow, version } = await at.store.workflows.create(owner, {
    name: 'Desk',
    triggerPaths: [],
    definition: { nodes: [], edges: [] },
    configurations: {},
    templateContextVariables: {},
  });
  const configuration = await at.store.telephony.createConfiguration(owner.organizationId, {
    name: `Main ${workflow.id}`,
    provider: 'twilio',
    isDefaultOutbound: false,
    credentials: {},
    accountId: null,
    secretFields: [],
  });
  return {
    organizationId: owner.organizationId,
    workflowId: workflow.id,
    definitionId: version.id,
    configurationId: configuration.id,
  };
}

/** A second organization. */
export async function otherOrganization(at: TestStore): Promise<string> {
  const rows = await at.sql(
    `insert into organizations (name, created_at) values ('Other', now()) returning id::text`,
  );
  return String(rows[0]?.['id']);
}

export const newRun = (on: Ground): NewRun => ({
  ...on,
  name: 'WR-API-1234',
  mode: 'twilio',
  callType: 'outbound',
  providerCallId: null,
  initialContext: {},
  gatheredContext: {},
  logs: {},
});

export async function openRun(at: Pick<TestStore, 'store'>, on: Ground): Promise<Run> {
  return (await at.store.runs.create(newRun(on), 1_000)).run;
}

export async function completedRun(
  at: Pick<TestStore, 'store'> & { clock: Pick<Clock, 'now'> },
  on: Ground,
): Promise<Run> {
  const { id } = await openRun(at, on);
  const endedAt = new Date(at.clock.now());
  const run = await at.store.runs.patch(id, { state: 'completed', endedAt });
  if (run === undefined) throw new Error('the run is gone');
  return run;
}

export function webhook(more: Partial<NewDelivery> = {}): NewDelivery {
  return {
    nodeId: 'hook',
    nodeName: 'Hook',
    method: 'POST',
    url: 'https://receiver.example/hook',
    headers: [['X-Mine', 'yes']],
    credentialUuid: null,
    body: '{"run":"42"}',
    ...more,
  };
}
