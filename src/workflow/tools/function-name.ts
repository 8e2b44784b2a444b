// The name under which a model calls a tool. Source: contract §5.4.

import type { ToolCategory } from '../../model/tool.ts';

/** What model services take. */
const NAME_CHARACTERS_MAX = 64;
/** Of a uuid, where a name has no letter that a function may have. */
const UUID_CHARACTERS = 8;

/** Undefined for a tool that is no function of its own (an MCP server). */
export function functionNameOf(tool: {
  uuid: string;
  name: string;
  definition: { type: ToolCategory };
}): string | undefined {
  const { type } = tool.definition;
  if (type === 'mcp') return undefined;
  if (type === 'calculator') return 'safe_calculator';
  const name = tool.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/_$/, '');
  return name === '' ? `tool_${tool.uuid.slice(0, UUID_CHARACTERS)}` : name;
}
