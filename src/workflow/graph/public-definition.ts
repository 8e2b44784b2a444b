// A stored definition as clients may see it. Their builders check every node against the catalogue and
// refuse a whole workflow for one key or value that is not in it, so nothing else goes out: a key that
// the catalogue does not declare, and a value that cannot be the property's, are as if they were not set.
// Source: contract §12.2.

import type { NodeSpec, PropertySpec } from '../../model/node-spec.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { nodeSpecOf } from './node-catalogue.ts';

/** Stands for a prompt that nobody has written: builders refuse a node without one. It is never stored
 *  and never spoken. */
export const PROMPT_MISSING = '(no prompt yet)';

type Data = Record<string, unknown>;
type Properties = NodeSpec['properties'];

/** A copy. Nodes of a type that the catalogue has not are shown as they are: hidden, they could not be
 *  removed. `isLoadable`: missing prompts are stood in for, so that a builder takes drafts as well. */
export function publicDefinition(
  definition: WorkflowDefinition,
  { isLoadable = false } = {},
): WorkflowDefinition {
  const nodes = definition.nodes.map((node) => {
    const spec = nodeSpecOf(node.type);
    if (spec === undefined) return node;
    const data = declared(spec.properties, node.data);
    return { ...node, data: isLoadable ? complete(spec.properties, data) : data };
  });
  return { ...definition, nodes };
}

function declared(properties: Properties, data: Data): Data {
  const byName = new Map(properties.map((property) => [property.name, property]));
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]): [string, unknown][] => {
      const property = byName.get(key);
      if (property === undefined || !fits(property, value)) return [];
      return [[key, rowsOf(property, value)]];
    }),
  );
}

/** Whether a builder takes the value. It checks no bounds. */
function fits({ type, options }: PropertySpec, value: unknown): boolean {
  if (value === null) return true;
  switch (type) {
    case 'json':
      return true;
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'options':
      return options?.some((option) => option.value === value) === true;
    case 'fixed_collection':
    case 'multi_options':
    case 'tool_refs':
    case 'document_refs':
      return Array.isArray(value);
    default:
      return typeof value === 'string';
  }
}

/** Rows of a collection, without those that lack what a row must have. */
function rowsOf({ type, properties }: PropertySpec, value: unknown): unknown {
  if (type !== 'fixed_collection' || properties === null || !Array.isArray(value)) return value;
  return value
    .filter(isObject)
    .map((row) => declared(properties, row))
    .filter((row) => properties.every((property) => isReady(property, row)));
}

/** A builder fills in a default only where the key is missing. */
function complete(properties: Properties, data: Data): Data {
  const whole = { ...data };
  for (const { name, required, default: preset } of properties) {
    if (!required || isFilled(whole[name])) continue;
    if (preset === null) whole[name] = PROMPT_MISSING;
    else delete whole[name];
  }
  return whole;
}

/** Whether a builder finds what must be there, if need be by the default. */
function isReady({ name, required, default: preset }: PropertySpec, row: Data): boolean {
  return !required || isFilled(row[name]) || (preset !== null && !Object.hasOwn(row, name));
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
