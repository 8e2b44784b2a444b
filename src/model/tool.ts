// A tool that an organization's agents may use in calls, as it is stored. workflow/tools defines the content of a
// definition. Source: contract §10.1.

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
  /** Name of a row in workflow/tools/registry. */
  category: string;
  icon: string | null;
  iconColor: string | null;
  status: ToolStatus;
  /** `{schema_version, type, config}`, as checked before it was stored. */
  definition: Record<string, unknown>;
  createdAt: Date;
  /** Time of the last change; null before one. */
  updatedAt: Date | null;
}
