// The status of a call that has no media yet is how far its callbacks say it has come.

import { expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { ok } = served;

async function ringing(): Promise<{ path: string; id: string }> {
  const { id: workflowId } = await ok('POST', '/workflow/create/definition', {
    name: 'Agent',
    workflow_definition: smallWorkflow,
  });
  const fetched = await ok('GET', `/workflow/fetch/${workflowId}`);
  const { id: configurationId } = await ok('POST', '/organizations/telephony-configs', {
    name: `Twilio ${workflowId}`,
    config: { provider: 'twilio', account_sid: `AC${workflowId}`, auth_token: 'x' },
  });
  const { run } = await served.deps.store.runs.create(
    {
      organizationId: served.test.owner.organizationId,
      workflowId: String(workflowId),
      definitionId: String(fetched.current_definition_id),
      name: 'WR-API-1',
      mode: 'twilio',
      callType: 'outbound',
      configurationId: String(configurationId),
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
  return { id: run.id, path: `/workflow/${workflowId}/runs/${run.id}` };
}

it.each([
  ['nothing', [], 'initiated'],
  ['late', [{ status: 'in-progress' }, { status: 'ringing' }], 'in-progress'],
  ['others', [{ status: 'ringing' }, { status: 'answered-by' }, { status: 7 }, {}], 'ringing'],
  [
    'two ends',
    [
      { status: 'failed', sequence: 4 },
      { status: 'busy', sequence: 3 },
      { status: 'ringing', sequence: 9 },
    ],
    'failed',
  ],
  [
    'two ends, the other way round',
    [
      { status: 'busy', sequence: 3 },
      { status: 'failed', sequence: 4 },
    ],
    'failed',
  ],
] as const)('never goes back (%s)', async (_, entries, status) => {
  const { id, path } = await ringing();
  for (const [n, entry] of entries.entries()) {
    await served.deps.store.runs.appendCallback(id, String(n), entry);
  }
  expect((await ok('GET', path)).status).toBe(status);
});
