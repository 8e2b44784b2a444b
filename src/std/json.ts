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

/** Parses JSON in which integers may be identifiers: one beyond 2^53, which a number would round, becomes a text of its
 *  digits. Undefined for anything else. */
export function parseExactJson(text: string): unknown {
  return parseJson(exactJson(text));
}

/** The same JSON with integers beyond 2^53 as texts. */
export function exactJson(text: string): string {
  if (!UNSAFE_DIGITS.test(text)) return text;
  return text.replace(STRING_OR_NUMBER, (token) => {
    const isRounded = INTEGER.test(token) && !Number.isSafeInteger(Number(token));
    return isRounded ? `"${token}"` : token;
  });
}

/** Digits of the smallest integer beyond 2^53. */
const UNSAFE_DIGITS = /\d{16}/;
const INTEGER = /^-?[1-9]\d{15,}$/;
/** Strings are matched so that digits in them are left alone. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

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
