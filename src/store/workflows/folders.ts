// Folders for an organization's agents.

import type { Selectable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowFolder } from '../../model/workflow.ts';
import { isRowId, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import { withOrganizationLock } from '../db/organization-lock.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { WorkflowFolderTable } from '../db/tables.ts';

/** Folders of one organization: the list has no pages. */
const FOLDERS_MAX = 500;

export type FolderStore = Pick<FolderRepository, keyof FolderRepository>;

export class FolderRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The organization's folders by name. */
  async list(organizationId: string): Promise<WorkflowFolder[]> {
    if (!isRowId(organizationId)) return [];
    const rows = await this.#context.db
      .selectFrom('workflow_folders')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('name')
      .execute();
    return rows.map(toFolder);
  }

  /** Creates a folder. Throws FOLDER_NAME_TAKEN, FOLDERS_FULL. */
  async create(organizationId: string, name: string): Promise<WorkflowFolder> {
    const now = new Date(this.#context.clock.now());
    try {
      // Concurrent creations are counted one after the other.
      return await withOrganizationLock(this.#context, organizationId, async (tx) => {
        const { count } = await tx
          .selectFrom('workflow_folders')
          .select((of) => of.fn.countAll<string>().as('count'))
          .where('organization_id', '=', organizationId)
          .executeTakeFirstOrThrow();
        if (Number(count) >= FOLDERS_MAX) {
          throw new GatewayError('FOLDERS_FULL', { max: FOLDERS_MAX });
        }
        const row = await tx
          .insertInto('workflow_folders')
          .values({ organization_id: organizationId, name: plainText(name), created_at: now })
          .returningAll()
          .executeTakeFirstOrThrow();
        return toFolder(row);
      });
    } catch (error) {
      throw asConflict(error, name);
    }
  }

  /** Renames a folder; undefined if there is none of that id. Throws FOLDER_NAME_TAKEN. */
  async rename(
    organizationId: string,
    id: string,
    name: string,
  ): Promise<WorkflowFolder | undefined> {
    if (!isRowId(organizationId) || !isRowId(id)) return undefined;
    try {
      const row = await this.#context.db
        .updateTable('workflow_folders')
        .set({ name: plainText(name) })
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? undefined : toFolder(row);
    } catch (error) {
      throw asConflict(error, name);
    }
  }

  /** Deletes a folder; its agents stay, without a folder. False if there is none with that id. */
  async delete(organizationId: string, id: string): Promise<boolean> {
    if (!isRowId(organizationId) || !isRowId(id)) return false;
    const { numDeletedRows } = await this.#context.db
      .deleteFrom('workflow_folders')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }
}

function asConflict(error: unknown, name: string): unknown {
  if (violated(error) !== 'workflow_folders_name') return error;
  return new GatewayError('FOLDER_NAME_TAKEN', { name }, error);
}

function toFolder(row: Selectable<WorkflowFolderTable>): WorkflowFolder {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}
