// Parser of JSON bodies: counts values, parses, and removes keys that set a prototype. Runs on the event loop for small
// bodies and in a thread for large ones (json-thread), so it uses no request and no error of the API.

import { exactJson, isObject } from '../../std/json.ts';
import { jsonSize } from '../../std/json-size.ts';

/** Levels of nesting; workflows need fewer than 10. Deeper values overflow the stack in later checks. */
const NESTING_MAX = 64;

export type JsonReading =
  | { kind: 'value'; value: unknown }
  | { kind: 'too-many-values' }
  /** `at`: offset of the first wrong character, as far as it is known. */
  | { kind: 'invalid'; reason: string; at: number };

/** Parses a body. Values are counted first: 2 MB of tiny members would take most of a second. Never throws. */
export function readJson(bytes: Uint8Array, valuesMax: number): JsonReading {
  if (hasByteOrderMark(bytes)) return readJson(bytes.subarray(BYTE_ORDER_MARK.length), valuesMax);
  const { values, depth } = jsonSize(bytes, valuesMax);
  if (depth > NESTING_MAX) {
    return { kind: 'invalid', reason: `nested deeper than ${NESTING_MAX} levels`, at: 0 };
  }
  if (values > valuesMax) return { kind: 'too-many-values' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const value: unknown = JSON.parse(exactJson(text.toString('utf8')));
    return { kind: 'value', value: mayNamePrototype(text) ? withoutPrototypes(value) : value };
  } catch (error) {
    return { kind: 'invalid', reason: 'Expecting value', at: offsetOf(error) };
  }
}

/** UTF-8 byte order mark, which programs on Windows write. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte);
}

/** Whether the text may name a prototype key, plainly or by escapes. */
function mayNamePrototype(bytes: Buffer): boolean {
  return bytes.includes('__proto__') || bytes.includes('\\u00');
}

function offsetOf(error: unknown): number {
  const at = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? 0 : Number(at);
}

/** A copy without keys that would set a prototype when copied on. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, each]) => [key, withoutPrototypes(each)]),
  );
}
