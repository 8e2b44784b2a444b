// Which tools a node offers to the model, and under which names. What cannot be offered is left out and
// told. Source: contract §5.4, §8.2.

import type { LlmTool } from '../../model/llm-message.ts';
import type { Tool } from '../../model/tool.ts';
import { edgeFunctionName } from '../graph/edge-function.ts';
import { calculatorParameters } from './calculator-tool.ts';
import { type ToolDefinition, toolDefinition } from './definition.ts';
import { endCallParameters } from './end-call-tool.ts';
import { functionNameOf } from './function-name.ts';
import { parametersSchema } from './parameters.ts';
import type { ToolParameter } from './tool-fields.ts';
import { transferParameters } from './transfer-call-tool.ts';

type Runnable = Exclude<ToolDefinition, { type: 'mcp' }>;

export interface OfferedFunction {
  uuid: string;
  definition: Runnable;
  /** As the model sees it. */
  function: LlmTool;
}

export interface SkippedTool {
  nodeId: string;
  uuid: string;
  reason: 'unknown' | 'not active' | 'not run by this version' | 'unreadable' | 'name taken';
}

/** By node id. */
export type NodeTools = ReadonlyMap<string, readonly OfferedFunction[]>;
export const NO_TOOLS: NodeTools = new Map();

interface ToolUser {
  id: string;
  toolUuids: readonly string[];
  edges: readonly { label: string }[];
}

export function offeredFunctions(
  nodes: Iterable<ToolUser>,
  tools: readonly Tool[],
): { offered: NodeTools; skipped: SkippedTool[] } {
  const byUuid = new Map(tools.map((tool) => [tool.uuid, tool]));
  const skipped: SkippedTool[] = [];
  const offered = new Map<string, OfferedFunction[]>();
  for (const { id, toolUuids, edges } of nodes) {
    const names = new Set(edges.map(({ label }) => edgeFunctionName(label)));
    const list: OfferedFunction[] = [];
    for (const uuid of new Set(toolUuids)) {
      const made = offer(byUuid.get(uuid), names);
      if (typeof made === 'string') skipped.push({ nodeId: id, uuid, reason: made });
      else list.push(made);
    }
    if (list.length > 0) offered.set(id, list);
  }
  return { offered, skipped };
}

function offer(
  tool: Tool | undefined,
  names: Set<string>,
): OfferedFunction | SkippedTool['reason'] {
  if (tool === undefined) return 'unknown';
  if (tool.status !== 'active') return 'not active';
  const parsed = toolDefinition.safeParse(tool.definition);
  if (!parsed.success) return 'unreadable';
  const definition = parsed.data;
  const name = functionNameOf({ ...tool, definition });
  if (definition.type === 'mcp' || name === undefined) return 'not run by this version';
  if (names.has(name)) return 'name taken';
  names.add(name);
  const description = tool.description?.trim() || tool.name;
  return {
    uuid: tool.uuid,
    definition,
    function: { name, description, parameters: parametersSchema(parametersOf(definition)) },
  };
}

function parametersOf(definition: Runnable): readonly ToolParameter[] {
  switch (definition.type) {
    case 'http_api':
      return definition.config.parameters;
    case 'end_call':
      return endCallParameters(definition.config);
    case 'transfer_call':
      return transferParameters(definition.config);
    case 'calculator':
      return calculatorParameters;
  }
}
