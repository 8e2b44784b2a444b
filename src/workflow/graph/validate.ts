// Validates a workflow definition, and lists all faults in the contract's words. Trigger paths of other agents and
// names of stored tools are checked where the store is available. Source: contract §5.3, appendix A.3.

import type { z } from 'zod';
import type {
  DialoguePolicy,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
  WorkflowProblem,
} from '../../model/workflow.ts';
import { nodeTypeOf, nodeTypes } from '../nodes/registry.ts';
import { TRIGGER_PATH_LENGTH_MAX, TRIGGER_PATH_PATTERN } from '../nodes/trigger-node.ts';
import { edgeData, isUnconditional } from './edge-data.ts';
import { edgeFunctionName } from './edge-function.ts';
import { misspeltDataKeys } from './misspelt-keys.ts';
import { withoutNulls } from './node-data.ts';
import { triggerPathOf } from './trigger-path.ts';

/** Problems of a list; a longer one does not help a reader. */
const PROBLEMS_MAX = 100;

export interface ValidateOptions {
  /** Whether the definition must be complete, as for validation and publishing. False for creation and update, where a
   *  draft may be incomplete. */
  full: boolean;
  /** Policy of the calls. With `scripted`, features that need a language model are faults too. */
  policy?: DialoguePolicy;
}

/** The problems of a definition, at most 100; empty if it is valid. */
export function validateDefinition(
  definition: WorkflowDefinition,
  { full, policy = 'model' }: ValidateOptions,
): WorkflowProblem[] {
  const problems = [
    ...(full ? schemaProblems(definition) : []),
    ...(full ? endpointProblems(definition) : []),
    ...instanceProblems(definition, full),
    ...(full ? degreeProblems(definition) : []),
    ...transitionNameProblems(definition),
    ...triggerPathProblems(definition),
    ...(full ? cycleProblems(definition) : []),
    ...(full && policy === 'scripted' ? scriptedProblems(definition) : []),
  ];
  return problems.slice(0, PROBLEMS_MAX);
}

function nodeProblem(node: WorkflowNode, field: string | null, message: string): WorkflowProblem {
  return { kind: 'node', id: node.id, field, message };
}

function edgeProblem(edge: WorkflowEdge, field: string | null, message: string): WorkflowProblem {
  return { kind: 'edge', id: edge.id, field, message };
}

function workflowProblem(message: string): WorkflowProblem {
  return { kind: 'workflow', id: null, field: null, message };
}

function schemaProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  return [
    ...nodes.flatMap((node) => {
      const type = nodeTypeOf(node.type);
      if (type === undefined) return [nodeProblem(node, 'type', `Unknown node type ${node.type}`)];
      const problems = dataProblems(type.data, node.data);
      if (problems.length === 0) return effectProblems(node);
      return problems.map(({ field, message }) => nodeProblem(node, field, message));
    }),
    ...edges.flatMap((edge) =>
      dataProblems(edgeData, edge.data).map(({ field, message }) =>
        edgeProblem(edge, field, message),
      ),
    ),
    ...repeated(nodes.map(({ id }) => id)).map((id) =>
      workflowProblem(`Node id ${id} is used more than once`),
    ),
    ...repeated(edges.map(({ id }) => id)).map((id) =>
      workflowProblem(`Edge id ${id} is used more than once`),
    ),
  ];
}

function dataProblems(
  schema: z.ZodType,
  data: Record<string, unknown>,
): { field: string; message: string }[] {
  const parsed = schema.safeParse(withoutNulls(data));
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => ({
    field: ['data', ...issue.path].map(String).join('.'),
    message: `Value error, ${issue.message.toLowerCase()}`,
  }));
}

/** The problem of an enabled node that does nothing because the field that it needs is misspelt. */
function effectProblems(node: WorkflowNode): WorkflowProblem[] {
  const missing = missingIn(node);
  if (missing === undefined) return [];
  const { field, message } = missing;
  const misspelt = misspeltDataKeys(node).find(({ meant }) => meant === field)?.path[0];
  if (misspelt === undefined) return [];
  const hint = `did you mean ${field} by ${misspelt}?`;
  return [nodeProblem(node, `data.${field}`, `${message}: ${hint}`)];
}

/** Warnings about a valid definition: enabled nodes that do nothing, because a field is not filled in yet. */
export function nodesWithoutEffect({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  return nodes.flatMap((node) => {
    const missing = missingIn(node);
    return missing === undefined
      ? []
      : [nodeProblem(node, `data.${missing.field}`, missing.message)];
  });
}

function missingIn({ type, data }: WorkflowNode): { field: string; message: string } | undefined {
  return nodeTypeOf(type)?.withoutEffect?.(withoutNulls(data));
}

/** Values that occur more than once, without repetition. */
function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const value of values) (seen.has(value) ? twice : seen).add(value);
  return [...twice];
}

function endpointProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  const ids = new Set(nodes.map(({ id }) => id));
  return edges.flatMap((edge) => [
    ...(ids.has(edge.source)
      ? []
      : [edgeProblem(edge, 'source', `Source node ${edge.source} does not exist`)]),
    ...(ids.has(edge.target)
      ? []
      : [edgeProblem(edge, 'target', `Target node ${edge.target} does not exist`)]),
  ]);
}

function instanceProblems({ nodes }: WorkflowDefinition, full: boolean): WorkflowProblem[] {
  return nodeTypes.flatMap(({ name, displayName, constraints }) => {
    const { instancesMin, instancesMax } = constraints;
    const count = nodes.filter(({ type }) => type === name).length;
    if (instancesMax !== null && count > instancesMax) {
      const many = instancesMax === 1 ? 'one' : String(instancesMax);
      return [workflowProblem(`Workflow can have at most ${many} ${displayName}`)];
    }
    if (full && instancesMin !== null && count < instancesMin) {
      const few = instancesMin === 1 ? 'one' : String(instancesMin);
      return [workflowProblem(`Workflow must have at least ${few} ${displayName}`)];
    }
    return [];
  });
}

/** Problems of the number of edges at a node. Several edges between the same two nodes count once. */
function degreeProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  const incoming = new Map<string, Set<string>>();
  const outgoing = new Map<string, Set<string>>();
  for (const { source, target } of edges) {
    addTo(incoming, target, source);
    addTo(outgoing, source, target);
  }
  return nodes.flatMap((node) => {
    const type = nodeTypeOf(node.type);
    if (type === undefined) return [];
    const { incomingMin, incomingMax, outgoingMin, outgoingMax } = type.constraints;
    const into = { count: incoming.get(node.id)?.size ?? 0, word: 'incoming' };
    const out = { count: outgoing.get(node.id)?.size ?? 0, word: 'outgoing' };
    return [
      degreeProblem(type.displayName, into, incomingMin, incomingMax),
      degreeProblem(type.displayName, out, outgoingMin, outgoingMax),
    ].flatMap((message) => (message === null ? [] : [nodeProblem(node, null, message)]));
  });
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(value));
}

function degreeProblem(
  displayName: string,
  { count, word }: { count: number; word: string },
  min: number | null,
  max: number | null,
): string | null {
  if (min !== null && count < min)
    return `${displayName} must have at least ${min} ${word} edge(s)`;
  if (max === null || count <= max) return null;
  if (max === 0) return `${displayName} cannot have ${word} edges`;
  return `${displayName} can have at most ${max} ${word} edge(s)`;
}

function transitionNameProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return edges.flatMap((edge) => {
    const label = edge.data['label'];
    if (typeof label !== 'string' || label.trim() === '') return [];
    const name = edgeFunctionName(label);
    const key = JSON.stringify([edge.source, name]);
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const message = `Another edge of node ${edge.source} has the transition name ${name}`;
    return [edgeProblem(edge, 'data.label', message)];
  });
}

function triggerPathProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return nodes.flatMap((node) => {
    const path = triggerPathOf(node);
    if (path === undefined) return [];
    const wrong = pathFault(path, seen.has(path));
    seen.add(path);
    return wrong === undefined ? [] : [nodeProblem(node, 'data.trigger_path', wrong)];
  });
}

function pathFault(path: string, taken: boolean): string | undefined {
  if (path.length > TRIGGER_PATH_LENGTH_MAX)
    return `Trigger path is too long (at most ${TRIGGER_PATH_LENGTH_MAX} characters)`;
  if (!TRIGGER_PATH_PATTERN.test(path))
    return 'Trigger path may hold only letters, digits, hyphens and underscores';
  return taken ? `Trigger path ${path} is duplicated in this workflow` : undefined;
}

/** Problems of cycles of unconditional edges, on which a call would never stop. */
function cycleProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  const next = new Map<string, WorkflowEdge>();
  for (const edge of edges)
    if (isUnconditional(edge.data) && !next.has(edge.source)) next.set(edge.source, edge);
  const done = new Set<string>();
  const problems: WorkflowProblem[] = [];
  for (const start of next.keys()) {
    const path = new Set<string>();
    let at = start;
    while (!done.has(at) && !path.has(at)) {
      path.add(at);
      at = next.get(at)?.target ?? '';
    }
    const closing = next.get(at);
    if (path.has(at) && closing !== undefined)
      problems.push(edgeProblem(closing, 'data.condition', 'Edges taken always form a cycle'));
    for (const id of path) done.add(id);
  }
  return problems;
}

function scriptedProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  return nodes.flatMap((node) => {
    const part = nodeTypeOf(node.type)?.step;
    if (part === undefined) return [];
    const { say, greeting, tool_uuids: tools } = node.data;
    const leaves = isText(node.data['transfer_to_agent']);
    const speaks = isText(say) || leaves || (part === 'first' && isText(greeting));
    return [
      ...(speaks
        ? []
        : [
            nodeProblem(node, 'data.say', 'This node has only a prompt: it needs a language model'),
          ]),
      ...(Array.isArray(tools) && tools.length > 0
        ? [nodeProblem(node, 'data.tool_uuids', 'Tools are used by a language model alone')]
        : []),
    ];
  });
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
