// Active agents whose stored content is larger than calls may use (model/json-limits): stored by a version without
// these limits, or not through the API.

import { sql } from 'kysely';
import { contentExcess } from '../../model/json-limits.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Versions of one read: 20 of the largest have 20 MB. */
const ROWS_MAX = 20;

export interface OversizedVersion {
  workflowId: string;
  organizationId: string;
  name: string;
  status: string;
  /** The exceeded limit, as text. */
  excess: string;
}

/** Drafts and published versions of active workflows, in the order of their ids. */
export async function* oversizedVersions({ db }: StoreContext): AsyncGenerator<OversizedVersion> {
  for (let after = '0'; ; ) {
    const rows = await db
      .selectFrom('workflow_versions')
      .innerJoin('workflows', 'workflows.id', 'workflow_versions.workflow_id')
      .select(['workflow_versions.id', 'workflow_versions.status', 'workflow_id'])
      .select(['workflows.organization_id', 'workflows.name'])
      .select([
        sql<string>`definition::text`.as('definition'),
        sql<string>`configurations::text`.as('configurations'),
        sql<string>`template_context_variables::text`.as('templateContextVariables'),
      ])
      .where('workflow_versions.id', '>', after)
      .where('workflow_versions.status', 'in', ['draft', 'published'])
      .where('workflows.status', '=', 'active')
      .orderBy('workflow_versions.id')
      .limit(ROWS_MAX)
      .execute();
    for (const row of rows) {
      const { workflow_id: workflowId, organization_id: organizationId, name, status } = row;
      const excess = contentExcess(row);
      if (excess !== undefined) yield { workflowId, organizationId, name, status, excess };
    }
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    after = last;
  }
}
