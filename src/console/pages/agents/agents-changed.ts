// What changes agents: their lists and their pages are then read anew.

import { client, invalidatePaths, type Schema } from '../../api/client.ts';

export async function setStatus(
  id: string,
  status: Schema<'WorkflowListResponse'>['status'],
): Promise<void> {
  await client.PUT('/api/v1/workflow/{workflow_id}/status', {
    params: { path: { workflow_id: id } },
    body: { status },
  });
  await agentsChanged();
}

/** Reads lists and single agents anew. */
export async function agentsChanged(): Promise<void> {
  await invalidatePaths('/api/v1/workflow/');
}
