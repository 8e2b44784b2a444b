// Folders of agents as the other rooms see them.

import type { WorkflowFolder } from '../../model/workflow.ts';

export interface FolderStore {
  /** By name. */
  list(organizationId: string): Promise<WorkflowFolder[]>;
  /** Throws FOLDER_NAME_TAKEN, FOLDERS_FULL. */
  create(organizationId: string, name: string): Promise<WorkflowFolder>;
  /** Undefined if there is none of that id. Throws FOLDER_NAME_TAKEN. */
  rename(organizationId: string, id: string, name: string): Promise<WorkflowFolder | undefined>;
  /** Its agents stay, in no folder. False if there is none of that id. */
  delete(organizationId: string, id: string): Promise<boolean>;
}
