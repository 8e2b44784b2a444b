// Required variables of an agent: its texts use them without a default. Campaigns check their columns against them.
// Source: contract §5.6.

import type { WorkflowDefinition } from '../../model/workflow.ts';
import { variableKey } from '../../std/text/variable-name.ts';
import { nodeTypeOf } from '../nodes/registry.ts';
import { isBuiltIn } from '../variables/built-in-variables.ts';
import { placeholders, valueAtPath } from '../variables/template.ts';

/** Variables that the gateway sets for every call of a campaign. */
const SYSTEM_NAMES = new Set(
  [
    'campaign_id',
    'provider',
    'source_uuid',
    'called_number',
    'caller_number',
    'direction',
    'telephony_configuration_id',
    'workflow_run_id',
  ].map(variableKey),
);

const EDGE_TEXTS = ['transition_speech'];

/** Top-level names of the context without repetition, in order of appearance. Dotted paths, built-ins and the gateway's
 *  own variables are omitted. */
export function requiredTemplateVariables(definition: WorkflowDefinition): string[] {
  const texts = [
    ...definition.nodes.flatMap(({ type, data }) =>
      textsOf(data, nodeTypeOf(type)?.templates ?? []),
    ),
    ...definition.edges.flatMap(({ data }) => textsOf(data, EDGE_TEXTS)),
  ];
  const names = texts
    .flatMap(placeholders)
    .filter(({ path, fallback }) => fallback === undefined && isRequired(path))
    .map(({ path }) => path);
  return [
    ...new Map(names.toReversed().map((name) => [variableKey(name), name])).values(),
  ].toReversed();
}

/** Names of `requiredTemplateVariables` that have no value in a context. */
export function variablesWithoutValue(
  definition: WorkflowDefinition,
  context: Record<string, unknown>,
): string[] {
  const names = requiredTemplateVariables(definition);
  return names.filter((name) => (valueAtPath(context, name) ?? '') === '');
}

function textsOf(data: Record<string, unknown>, fields: readonly string[]): string[] {
  return fields.map((field) => data[field]).filter((text) => typeof text === 'string');
}

function isRequired(path: string): boolean {
  return !/[.[]/.test(path) && !isBuiltIn(path) && !SYSTEM_NAMES.has(variableKey(path));
}
