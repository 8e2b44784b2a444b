// JSON values as a type, and parsing that gives undefined instead of throwing.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Undefined for anything that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller's schema reports the fault.
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
