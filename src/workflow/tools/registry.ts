// Every kind of tool. To add one: write `<kind>-tool.ts` beside this file and add a row here; contract §10.1
// lists the settings of each. Rows keep their order: it is that of the API's schema.

import { z } from 'zod';
import { calculatorTool } from './calculator-tool.ts';
import { collectDigitsTool } from './collect-digits-tool.ts';
import { endCallTool } from './end-call-tool.ts';
import { httpApiTool } from './http-api-tool.ts';
import { mcpTool } from './mcp-tool.ts';
import { switchLanguageTool } from './switch-language-tool.ts';
import type { NotOpened, OpenTool, StoredTool, ToolType } from './tool-type.ts';
import { transferAgentTool } from './transfer-agent-tool.ts';
import { transferCallTool } from './transfer-call-tool.ts';

const rows = [
  httpApiTool,
  endCallTool,
  transferCallTool,
  calculatorTool,
  mcpTool,
  collectDigitsTool,
  switchLanguageTool,
  transferAgentTool,
] as const;

export const toolTypes: readonly ToolType[] = rows;

/** Types of the contract that this version stores without a definition. */
const RESERVED = ['native', 'integration'];

const categories: string[] = [...rows.map(({ type }) => type), ...RESERVED];
export const toolCategory = z.enum(categories);

/** Shape of a definition for clients and for storage, one variant for each type. The parsed result has every field. */
export const toolDefinition = z.discriminatedUnion('type', [
  rows[0].definition,
  ...rows.slice(1).map(({ definition }) => definition),
]);

/** Opens a stored tool by its type. */
export function openTool(
  tool: StoredTool,
  types: readonly ToolType[] = toolTypes,
): OpenTool | NotOpened {
  const type = types.find((each) => each.type === tool.definition['type']);
  return type === undefined ? 'unreadable' : type.open(tool);
}
