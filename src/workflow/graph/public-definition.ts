// A stored definition as clients see it, without keys and values that the catalogue does not have: editors check every
// node against the catalogue and refuse a whole workflow for one of them. Source: contract §12.2.

import type { NodeSpec, PropertySpec } from '../../model/node-spec.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { nodeSpecOf } from './node-catalogue.ts';

/** Placeholder for a missing prompt: editors refuse a node without one. It is never stored and never spoken. */
export const PROMPT_MISSING = '(no prompt yet)';

type Data = Record<string, unknown>;
type Properties = NodeSpec['properties'];

/** A copy for clients. Nodes of an unknown type are unchanged: hidden ones could not be removed. `isLoadable`: missing
 *  prompts get the placeholder, so that an editor also loads drafts. */
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

/** Whether an editor accepts the value. Bounds are not checked. */
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

/** Rows of a collection, without those that lack a required property. */
function rowsOf({ type, properties }: PropertySpec, value: unknown): unknown {
  if (type !== 'fixed_collection' || properties === null || !Array.isArray(value)) return value;
  return value
    .filter(isObject)
    .map((row) => declared(properties, row))
    .filter((row) => properties.every((property) => isReady(property, row)));
}

/** The data with defaults: an editor fills in a default only where the key is missing. */
function complete(properties: Properties, data: Data): Data {
  const whole = { ...data };
  for (const { name, required, default: preset } of properties) {
    if (!required || isFilled(whole[name])) continue;
    if (preset === null) whole[name] = PROMPT_MISSING;
    else delete whole[name];
  }
  return whole;
}

/** Whether all required properties are present, including defaults. */
function isReady({ name, required, default: preset }: PropertySpec, row: Data): boolean {
  return !required || isFilled(row[name]) || (preset !== null && !Object.hasOwn(row, name));
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
