// Versions of agents as the API gives them, in the shapes of the graph and of the comparison.

import type { Schema } from '../../api/client.ts';
import type { GraphDefinition } from '../../graph/types.ts';
import type { AgentContent } from './agent-diff.ts';

/** The API describes stored graphs as free objects; they have the shape in which they were accepted. */
export function definitionOf(stored: Readonly<Record<string, unknown>>): GraphDefinition {
  const { nodes = [], edges = [] } = stored as Partial<GraphDefinition>;
  return { nodes, edges };
}

export function contentOf(version: Schema<'WorkflowVersionResponse'>): AgentContent {
  return {
    definition: definitionOf(version.workflow_json),
    settings: version.workflow_configurations,
    variables: version.template_context_variables,
  };
}
