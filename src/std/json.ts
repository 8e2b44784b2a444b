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

/** JSON text in which U+FFFD takes the place of unpaired surrogates: no UTF-8 has them, and servers refuse a request that
 *  does. Clients send them, and a text that is cut to its limit may end in one. */
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
