// A tool as the store gives it.

import type { Tool, ToolStatus } from '../../../src/model/tool.ts';
import { toolCategory } from '../../../src/workflow/tools/registry.ts';

/** Its uuid is any short word. */
export function storedTool(
  uuid: string,
  name: string,
  definition: Record<string, unknown>,
  description: string | null = `About ${name}.`,
  status: ToolStatus = 'active',
): Tool {
  return {
    id: '1',
    uuid,
    organizationId: '1',
    userId: null,
    name,
    description,
    category: toolCategory.parse(definition['type']),
    icon: null,
    iconColor: null,
    status,
    definition,
    createdAt: new Date(0),
    updatedAt: null,
  };
}
