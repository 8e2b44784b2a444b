// What makes two requests for a call the same one: everything they ask for, in whatever order, and not
// who asked. Source: draft-ietf-httpapi-idempotency-key-header.

import { createHash } from 'node:crypto';
import { isObject } from '../../std/json.ts';
import type { StartKey } from '../../store/runs/run-starts.ts';

/** Undefined without a key. */
export function idempotencyKeyOf(
  key: string | null,
  asked: Record<string, unknown>,
): StartKey | undefined {
  if (key === null) return undefined;
  const requestHash = createHash('sha256')
    .update(JSON.stringify(sorted(asked)))
    .digest('hex');
  return { key, requestHash };
}

/** Every object with its entries in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return { entries: names.map((name) => [name, sorted(value[name])]) };
}
