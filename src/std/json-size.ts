// Size of JSON: bytes, values and nesting levels. Parsing, checking and storing cost time per value, so that a text
// of few bytes can still be too large. Counts in a scan of the bytes, before anything is parsed.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Length up to which a string is scanned byte by byte: a native call costs as much as 20 to 30 bytes. */
const NEAR_BYTES = 32;
const OTHER = 0;
const SPACE = 1;
const COMMA = 2;
const OPENING = 3;
const CLOSING = 4;
const KIND_OF_BYTE = kindsOfBytes();
const LEVELS_OF_KIND = Int8Array.of(0, 0, 0, 1, -1);

export interface JsonSize {
  /** Number of objects, arrays, strings, numbers, booleans and nulls, without keys. */
  values: number;
  /** Levels of objects and arrays: 1 for `[]`, 0 for a number. */
  depth: number;
}

export interface JsonLimits {
  /** Bytes of the JSON in UTF-8, without whitespace. */
  bytesMax: number;
  valuesMax: number;
  depthMax: number;
}

/** Size of JSON text in UTF-8. Stops after `valuesMax` values. For text that is not JSON the size is arbitrary: its
 *  parser reports the fault. */
export function jsonSize(text: Uint8Array, valuesMax: number): JsonSize {
  let values = 1;
  let level = 0;
  let depth = 0;
  let isAfterOpening = false;
  for (let at = 0; at < text.length && values <= valuesMax; at += 1) {
    const byte = text[at] as number;
    const kind = KIND_OF_BYTE[byte] as number;
    if (kind === SPACE) continue;
    // The first member of an object or array; each further one follows a comma.
    if (kind === COMMA || (isAfterOpening && kind !== CLOSING)) values += 1;
    isAfterOpening = kind === OPENING;
    level += LEVELS_OF_KIND[kind] as number;
    if (level > depth) depth = level;
    if (byte === QUOTE) at = endOfString(text, at + 1);
  }
  return { values, depth };
}

/** Describes which limit a value exceeds that arrived as JSON. Undefined if none. */
export function jsonExcess(value: unknown, limits: JsonLimits): string | undefined {
  return jsonTextExcess(JSON.stringify(value) ?? '', limits);
}

/** The same for JSON text. */
export function jsonTextExcess(json: string, limits: JsonLimits): string | undefined {
  const { bytesMax, valuesMax, depthMax } = limits;
  const text = Buffer.from(json);
  if (text.length > bytesMax) return `more than ${bytesMax} bytes`;
  const { values, depth } = jsonSize(text, valuesMax);
  if (values > valuesMax) return `more than ${valuesMax} values`;
  return depth > depthMax ? `more than ${depthMax} levels of nesting` : undefined;
}

/** Index of the closing quote, or the end of the text. Most strings are short; in long ones a native search finds the
 *  next quote. */
function endOfString(text: Uint8Array, from: number): number {
  const near = Math.min(from + NEAR_BYTES, text.length);
  let at = from;
  while (at < near && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  if (at < near) return at;
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    if (quote < 0) return text.length;
    if (!isEscaped(text, at, quote)) return quote;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes precedes `quote`, none of them before `from`. */
function isEscaped(text: Uint8Array, from: number, quote: number): boolean {
  let backslashes = 0;
  while (quote - 1 - backslashes >= from && text[quote - 1 - backslashes] === BACKSLASH) {
    backslashes += 1;
  }
  return backslashes % 2 === 1;
}

function kindsOfBytes(): Uint8Array {
  const kinds = new Uint8Array(256).fill(OTHER);
  for (const byte of ' \t\n\r') kinds[byte.charCodeAt(0)] = SPACE;
  for (const byte of '{[') kinds[byte.charCodeAt(0)] = OPENING;
  for (const byte of '}]') kinds[byte.charCodeAt(0)] = CLOSING;
  kinds[','.charCodeAt(0)] = COMMA;
  return kinds;
}
