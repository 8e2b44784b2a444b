// An agent as a file of JSON: what the console exports, and what it takes back.

import type { components } from '../../api/schema.d.ts';
import { isObject, objectIn, objectOf } from '../../parts/json-object.ts';

type Definition = components['schemas']['WorkflowDefinition'];
type Values = Record<string, unknown>;

export interface AgentFile {
  name: string;
  definition: Definition;
  /** Settings and values of template variables, by name. */
  settings: Values;
  variables: Values;
}

/** The gateway's limit of a graph, with room for settings. */
const FILE_BYTES_MAX = 1_200_000;
const NOT_AN_AGENT =
  'This file is no agent: it must be JSON, with nodes and edges or with workflow_definition.';

/** The text of the export. */
export function agentFileText({ name, definition, settings, variables }: AgentFile): string {
  const content = {
    name,
    workflow_definition: definition,
    workflow_configurations: settings,
    template_context_variables: variables,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Reads an export, or a graph alone, whose name is then the file's. Throws an error for people. */
export async function readAgentFile(file: File): Promise<AgentFile> {
  if (file.size > FILE_BYTES_MAX) throw new Error('This file is larger than 1 MB.');
  return parseAgentFile(await file.text(), file.name.replace(/\.json$/i, ''));
}

export function parseAgentFile(text: string, fileName: string): AgentFile {
  const content = objectIn(text);
  if (content === undefined) throw new Error(NOT_AN_AGENT);
  const definition = content['workflow_definition'] ?? content['workflow_json'] ?? content;
  if (!isDefinition(definition)) throw new Error(NOT_AN_AGENT);
  const name = content['name'];
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : fileName,
    definition,
    settings: objectOf(content['workflow_configurations']),
    variables: objectOf(content['template_context_variables']),
  };
}

function isDefinition(value: unknown): value is Definition {
  return isObject(value) && Array.isArray(value['nodes']) && Array.isArray(value['edges']);
}
