// Tools as the rest of the gateway sees them.

import type { Tool, ToolStatus } from '../../model/tool.ts';

export type NewTool = Pick<
  Tool,
  'name' | 'description' | 'category' | 'icon' | 'iconColor' | 'definition'
>;

export type ToolPatch = Partial<Omit<NewTool, 'category'> & { status: ToolStatus }>;

export interface ToolStore {
  /** By name; of more than a thousand the first. */
  list(
    organizationId: string,
    filter: { statuses: readonly ToolStatus[]; category: string | null },
  ): Promise<Tool[]>;
  get(organizationId: string, uuid: string): Promise<Tool | undefined>;
  /** Those that are there, in no order, whatever their status. */
  find(organizationId: string, uuids: readonly string[]): Promise<Tool[]>;
  create(owner: { organizationId: string; userId: string }, input: NewTool): Promise<Tool>;
  update(organizationId: string, uuid: string, patch: ToolPatch): Promise<Tool | undefined>;
}
