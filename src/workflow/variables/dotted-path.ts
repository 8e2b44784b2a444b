// Values that templates and rules name by dotted paths. Source: contract §5.6.

import { isObject } from '../../std/json.ts';

/** The value at a dotted path through objects, own keys only; undefined if there is none. */
export function lookUp(context: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(context, path)) return context[path];
  const names = path.split('.');
  if (names[0] === 'initial_context' && !Object.hasOwn(context, 'initial_context')) names.shift();
  let value: unknown = context;
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
