// What an organization's agents may use in calls, as it is stored. What a definition may hold is
// workflow/tools' business. Source: contract §10.1.

import { z } from 'zod';

export const toolStatus = z.enum(['active', 'archived', 'draft']);
export type ToolStatus = z.infer<typeof toolStatus>;

export interface Tool {
  id: string;
  uuid: string;
  organizationId: string;
  userId: string | null;
  name: string;
  description: string | null;
  /** A row of workflow/tools/registry. */
  category: string;
  icon: string | null;
  iconColor: string | null;
  status: ToolStatus;
  /** `{schema_version, type, config}`, as it was checked when it was stored. */
  definition: Record<string, unknown>;
  createdAt: Date;
  /** Null until it is changed. */
  updatedAt: Date | null;
}
