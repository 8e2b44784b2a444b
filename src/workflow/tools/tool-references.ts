// Checks an agent's references to tools: whether the tools exist, and whether their function names are unique within
// each node. Source: contract §5.3, §5.4.

import type { Tool } from '../../model/tool.ts';
import type { WorkflowDefinition, WorkflowNode, WorkflowProblem } from '../../model/workflow.ts';
import { nameFunctions } from './function-name.ts';
import { openTool } from './registry.ts';
import type { StoredTool } from './tool-type.ts';

/** Different tools of one agent. */
const TOOLS_MAX = 1_000;
/** Transfers to agents that are checked: a call loads far fewer agents. */
const AGENT_REFERENCES_MAX = 50;

/** Tool ids without repetition; at most the first thousand. */
export function toolUuidsOf({ nodes }: WorkflowDefinition): string[] {
  return [...new Set(nodes.flatMap(referencesOf))].slice(0, TOOLS_MAX);
}

/** Tool ids of a node without repetition, in its order. */
function referencesOf({ data }: WorkflowNode): string[] {
  const { tool_uuids: uuids } = data;
  if (!Array.isArray(uuids)) return [];
  return [...new Set(uuids.filter((uuid) => typeof uuid === 'string'))];
}

/** References to tools that do not exist. `tools` are the existing ones, in any status. */
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

/** A transfer to another agent. */
export interface AgentReference {
  uuid: string;
  nodeId: string;
  /** Field of the node's data. */
  field: string;
  /** The tool that transfers. Undefined: the node does. */
  tool: string | undefined;
}

/** Agents to which nodes of the definition transfer, themselves or by tools. At most the first fifty. */
export function agentsReferredTo(
  definition: WorkflowDefinition,
  tools: readonly StoredTool[],
): AgentReference[] {
  const byTool = new Map(
    tools.flatMap((tool): [string, { name: string; uuid: string }][] => {
      const open = openTool(tool);
      const uuid = typeof open === 'string' ? undefined : open.agentUuid;
      return uuid === undefined ? [] : [[tool.uuid, { name: tool.name, uuid }]];
    }),
  );
  const all = definition.nodes.flatMap((node): AgentReference[] => {
    const { transfer_to_agent: own } = node.data;
    const place = { nodeId: node.id, field: 'data.transfer_to_agent', tool: undefined };
    const ofNode =
      typeof own === 'string' && own.trim() !== '' ? [{ uuid: own.trim(), ...place }] : [];
    const ofTools = referencesOf(node).flatMap((toolUuid) => {
      const { uuid, name } = byTool.get(toolUuid) ?? {};
      const by = { nodeId: node.id, field: 'data.tool_uuids', tool: name };
      return uuid === undefined ? [] : [{ uuid, ...by }];
    });
    return [...ofNode, ...ofTools];
  });
  return all.slice(0, AGENT_REFERENCES_MAX);
}

/** Functions of one node with the same name. Archived tools are not offered. */
export function nameCollisions(
  definition: WorkflowDefinition,
  tools: readonly (StoredTool & Pick<Tool, 'status'>)[],
): WorkflowProblem[] {
  const byUuid = new Map(
    tools.filter(({ status }) => status !== 'archived').map((tool) => [tool.uuid, tool]),
  );
  return definition.nodes.flatMap((node) => {
    const named = referencesOf(node).flatMap((uuid) => {
      const tool = byUuid.get(uuid);
      const open = tool === undefined ? 'unreadable' : openTool(tool);
      if (tool === undefined || typeof open === 'string') return [];
      return [{ uuid, name: tool.name, functions: open.functions }];
    });
    return nameFunctions(labelsOf(definition, node.id), named).flatMap((each) =>
      each.takenBy === undefined
        ? []
        : [
            problem(
              node,
              `The tool ${each.tool.name} has the function name ${each.name}, as ${each.takenBy}`,
            ),
          ],
    );
  });
}

function labelsOf({ edges }: WorkflowDefinition, nodeId: string): string[] {
  return edges.flatMap(({ source, data: { label } }) =>
    source === nodeId && typeof label === 'string' && label.trim() !== '' ? [label] : [],
  );
}

function problem({ id }: WorkflowNode, message: string): WorkflowProblem {
  return { kind: 'node', id, field: 'data.tool_uuids', message };
}
