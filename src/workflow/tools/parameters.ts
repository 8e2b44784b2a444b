// A tool's parameters: arguments from the model, and presets from its author.
// Source: contract §10.1, §8.7.

import { GatewayError } from '../../errors/gateway-error.ts';
import { isObject, parseExactJson } from '../../std/json.ts';
import { render } from '../variables/template.ts';
import type { PresetParameter, ToolParameter } from './tool-fields.ts';

type ValueType = ToolParameter['type'];
export type ToolValues = Record<string, unknown>;

/** Variables for templates, and the current time. */
export interface ToolContext {
  values: Record<string, unknown>;
  /** Wall clock, milliseconds since 1970. */
  now: number;
}

/** The JSON Schema of the parameters for the model. Of two with the same name the first counts. */
export function parametersSchema(all: readonly ToolParameter[]): Record<string, unknown> {
  const properties = new Map<string, object>();
  const required = new Set<string>();
  for (const { name: key, type, description, required: isRequired } of all) {
    if (properties.has(key)) continue;
    properties.set(key, { type, description, ...(type === 'array' ? { items: {} } : {}) });
    if (isRequired) required.add(key);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
  };
}

/** The model's arguments converted to their declared types, without undeclared ones. Throws TOOL_ARGUMENTS,
 *  which lists the faults for the model. */
export function checkedArguments(all: readonly ToolParameter[], given: ToolValues): ToolValues {
  const problems: string[] = [];
  const entries = all.flatMap(({ name: key, type, required }): [string, unknown][] => {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (value === undefined || value === null) {
      if (required) problems.push(`${key} is required`);
      return [];
    }
    const typed = asType(value, type);
    if (typed === undefined) problems.push(`${key} must be of the type ${type}`);
    return [[key, typed]];
  });
  if (problems.length > 0) throw wrong(problems);
  return Object.fromEntries(entries);
}

/** The author's values, rendered. Throws TOOL_ARGUMENTS if a required one is empty. */
export function presetValues(
  all: readonly PresetParameter[],
  { values, now }: ToolContext,
): ToolValues {
  const problems: string[] = [];
  const entries = all.flatMap((preset): [string, unknown][] => {
    const text = render(preset.value_template, values, { now });
    if (text.trim() === '') {
      if (preset.required) problems.push(`${preset.name} is empty`);
      return [];
    }
    const typed = asType(text, preset.type);
    if (typed === undefined) problems.push(`${preset.name} is not of the type ${preset.type}`);
    return [[preset.name, typed]];
  });
  if (problems.length > 0) throw wrong(problems);
  return Object.fromEntries(entries);
}

/** The value converted to the type; undefined if that is not possible. */
function asType(value: unknown, type: ValueType): unknown {
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    case 'number':
      return asNumber(value);
    case 'boolean':
      return asBoolean(value);
    case 'object': {
      const parsed = typeof value === 'string' ? parseExactJson(value) : value;
      return isObject(parsed) ? parsed : undefined;
    }
    case 'array': {
      const parsed = typeof value === 'string' ? parseExactJson(value) : value;
      return Array.isArray(parsed) ? parsed : undefined;
    }
  }
}

/** An integer beyond 2^53, such as the number of an order, stays a text: a number would round it. */
function asNumber(value: unknown): number | string | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  if (/^\s*-?\d+\s*$/.test(value) && !Number.isSafeInteger(number)) return value.trim();
  return Number.isFinite(number) ? number : undefined;
}

function asBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (word === 'true' || word === 'false') return word === 'true';
  return undefined;
}

function wrong(problems: readonly string[]): GatewayError {
  return new GatewayError('TOOL_ARGUMENTS', { problems: problems.join('; ') });
}
