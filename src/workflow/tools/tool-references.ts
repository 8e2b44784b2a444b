// The tools that an agent's nodes name: whether they are there, and whether a model can tell them from
// each other and from the node's edges. Source: contract §5.3, §5.4.

import type { Tool } from '../../model/tool.ts';
import type { WorkflowDefinition, WorkflowNode, WorkflowProblem } from '../../model/workflow.ts';
import { edgeFunctionName } from '../graph/edge-function.ts';
import { functionNameOf } from './function-name.ts';

/** Different tools of one agent. */
const TOOLS_MAX = 1_000;

/** Each once. Of more than a thousand the first. */
export function toolUuidsOf({ nodes }: WorkflowDefinition): string[] {
  return [...new Set(nodes.flatMap(referencesOf))].slice(0, TOOLS_MAX);
}

/** Each once, in the node's order. */
function referencesOf({ data }: WorkflowNode): string[] {
  const { tool_uuids: uuids } = data;
  if (!Array.isArray(uuids)) return [];
  return [...new Set(uuids.filter((uuid) => typeof uuid === 'string'))];
}

/** `tools` are those that are there, whatever their status. */
export function unknownTools(
  definition: WorkflowDefinition,
  tools: readonly Pick<Tool, 'uuid'>[],
): WorkflowProblem[] {
  const known = new Set(tools.map(({ uuid }) => uuid));
  return definition.nodes.flatMap((node) =>
    referencesOf(node)
      .filter((uuid) => !known.has(uuid))
      .map((uuid) => problem(node, `Tool ${uuid} does not exist`)),
  );
}

/** Functions of one node that have one name. Archived tools are offered to nobody. */
export function nameCollisions(
  definition: WorkflowDefinition,
  tools: readonly Pick<Tool, 'uuid' | 'name' | 'category' | 'status'>[],
): WorkflowProblem[] {
  const byUuid = new Map(
    tools.filter(({ status }) => status !== 'archived').map((tool) => [tool.uuid, tool]),
  );
  return definition.nodes.flatMap((node) => {
    const taken = edgeNames(definition, node.id);
    return referencesOf(node).flatMap((uuid) => {
      const tool = byUuid.get(uuid);
      if (tool === undefined) return [];
      const name = functionNameOf({ ...tool, definition: { type: tool.category } });
      if (name === undefined) return [];
      const other = taken.get(name);
      if (other === undefined) {
        taken.set(name, `the tool ${tool.name}`);
        return [];
      }
      return [problem(node, `The tool ${tool.name} has the function name ${name}, as ${other}`)];
    });
  });
}

/** What has a name already, by that name. */
function edgeNames({ edges }: WorkflowDefinition, nodeId: string): Map<string, string> {
  return new Map(
    edges.flatMap(({ source, data }): [string, string][] => {
      const { label } = data;
      if (source !== nodeId || typeof label !== 'string' || label.trim() === '') return [];
      return [[edgeFunctionName(label), `the edge ${label}`]];
    }),
  );
}

function problem({ id }: WorkflowNode, message: string): WorkflowProblem {
  return { kind: 'node', id, field: 'data.tool_uuids', message };
}
