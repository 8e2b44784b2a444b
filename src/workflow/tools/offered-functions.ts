// The functions that a node's tools offer to the model, with their names. Functions that cannot be offered are
// omitted, with the reason. Source: contract §5.4, §8.2.

import type { LlmTool } from '../../model/llm-message.ts';
import type { Tool } from '../../model/tool.ts';
import { nameFunctions } from './function-name.ts';
import { openTool, toolTypes } from './registry.ts';
import type { NotOpened, OpenTool, ToolType } from './tool-type.ts';

/** Functions of a node's tools: model services refuse a request with more. Edges are always offered in addition. */
const NODE_FUNCTIONS_MAX = 128;

export interface OfferedFunction {
  uuid: string;
  /** Type of the tool, as metrics label it. */
  type: string;
  tool: OpenTool;
  /** Name of the function within the tool. */
  key: string;
  /** Function with its name for the model. */
  function: LlmTool;
}

export interface SkippedTool {
  nodeId: string;
  uuid: string;
  reason: 'unknown' | 'not active' | NotOpened | 'no function' | 'name taken' | 'too many';
  /** The omitted function; without it, the whole tool is omitted. */
  function?: string;
}

/** Functions by node id. */
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
  types: readonly ToolType[] = toolTypes,
): { offered: NodeTools; skipped: SkippedTool[] } {
  const opened = new Map(tools.map((tool) => [tool.uuid, opening(tool, types)]));
  const skipped: SkippedTool[] = [];
  const offered = new Map<string, OfferedFunction[]>();
  for (const node of nodes) {
    const usable: Opened[] = [];
    for (const uuid of new Set(node.toolUuids)) {
      const tool = opened.get(uuid) ?? 'unknown';
      if (typeof tool === 'string') skipped.push({ nodeId: node.id, uuid, reason: tool });
      else usable.push(tool);
    }
    const list = offeredBy(node, usable, skipped);
    if (list.length > 0) offered.set(node.id, list);
  }
  return { offered, skipped };
}

interface Opened {
  uuid: string;
  name: string;
  type: string;
  tool: OpenTool;
  functions: OpenTool['functions'];
}

function opening(tool: Tool, types: readonly ToolType[]): Opened | SkippedTool['reason'] {
  if (tool.status !== 'active') return 'not active';
  const open = openTool(tool, types);
  if (typeof open === 'string') return open;
  if (open.functions.length === 0) return 'no function';
  const { uuid, name, category: type } = tool;
  return { uuid, name, type, tool: open, functions: open.functions };
}

function offeredBy(
  { id: nodeId, edges }: ToolUser,
  tools: readonly Opened[],
  skipped: SkippedTool[],
): OfferedFunction[] {
  const labels = edges.map(({ label }) => label);
  const list: OfferedFunction[] = [];
  for (const { tool: of, function: own, name, takenBy } of nameFunctions(labels, tools)) {
    const { uuid, type, tool } = of;
    const { key, description, parameters } = own;
    const isFull = list.length >= NODE_FUNCTIONS_MAX;
    if (takenBy === undefined && !isFull) {
      list.push({ uuid, type, tool, key, function: { name, description, parameters } });
      continue;
    }
    const reason = takenBy === undefined ? 'too many' : 'name taken';
    const one = of.functions.length > 1 ? { function: own.name } : {};
    skipped.push({ nodeId, uuid, reason, ...one });
  }
  return list;
}
