// JSON values as a type, and parsing that returns undefined instead of throwing.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Parses JSON. Undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller's schema reports the fault.
  }
}

/** JSON text in which U+FFFD replaces unpaired surrogates, which UTF-8 cannot encode and servers refuse. Clients send
 *  them, and a text that is cut to its limit may end in one. */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return /\\ud[89a-f]/.test(text) ? JSON.stringify(value, wellFormed) : text;
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\uFFFD') : value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
