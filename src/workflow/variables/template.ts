// Template variables in prompts and speech: `{{ path }}`, `{{ path | default }}` and the older
// `{{ path | fallback:default }}`. No loops, conditions or other filters. Source: contract §5.6.
// The scanner accepts what the expression
//   \{\{\s*([^|\s{}]+(?: +[^|\s{}]+)*)(?:\s*\|\s*([^:}]+)(?::([^}]+))?)?\s*\}\}
// accepts, but in linear time: the contract's, with spaces in names and without braces. A third brace on both sides
// belongs to the placeholder.

import { isObject } from '../../std/json.ts';
import { variableKey } from '../../std/text/variable-name.ts';
import { builtInValue, isBuiltIn, zoneInText } from './built-in-variables.ts';

/** Length at which a rendered text is cut: prompts and lines are shorter, but context values may be longer. */
const RENDERED_CHARACTERS_MAX = 100_000;

export interface Placeholder {
  /** Indexes of `{{` and of the text after `}}`. */
  start: number;
  end: number;
  path: string;
  /** Text in place of a missing value; undefined without a default. */
  fallback: string | undefined;
}

export interface RenderOptions {
  /** Wall clock for the built-in variables, milliseconds since 1970. */
  now: number;
  /** Encoding of each inserted value and default. Default: none. */
  encode?: (text: string) => string;
}

/** Renders a template. Only own keys of `context` are read. Missing values without a default render as nothing. */
export function render(
  template: string,
  context: Record<string, unknown>,
  { now, encode = asItIs }: RenderOptions,
): string {
  const text = template.replaceAll('\\n', '\n');
  const found = placeholders(text);
  if (found.length === 0) return text.slice(0, RENDERED_CHARACTERS_MAX);
  const zone = zoneInText(found.map(({ path }) => path));
  let rendered = '';
  let from = 0;
  for (const { start, end, path, fallback } of found) {
    const value = isBuiltIn(path) ? builtInValue(path, now, zone) : valueAtPath(context, path);
    rendered += text.slice(from, start) + encode(written(value) || (fallback ?? ''));
    from = end;
    if (rendered.length > RENDERED_CHARACTERS_MAX) break;
  }
  return (rendered + text.slice(from)).slice(0, RENDERED_CHARACTERS_MAX);
}

/** Paths of the placeholders that render as nothing: without a value and without a default. */
export function pathsWithoutValue(template: string, context: Record<string, unknown>): string[] {
  if (!template.includes('{{')) return [];
  const missing = placeholders(template).filter(({ path, fallback }) => {
    return fallback === undefined && !isBuiltIn(path) && written(valueAtPath(context, path)) === '';
  });
  return missing.map(({ path }) => path);
}

/** Every placeholder of a text, in its order. */
export function placeholders(text: string): Placeholder[] {
  const scanner = new Scanner(text);
  const found: Placeholder[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('{{', from);
    if (start < 0) return found;
    const placeholder = scanner.placeholderAt(start);
    if (typeof placeholder === 'number') {
      from = placeholder;
    } else {
      const { start: opening, end } = placeholder;
      const isFree = opening > (found.at(-1)?.end ?? 0);
      const isTriple = isFree && text[opening - 1] === '{' && text[end] === '}';
      found.push(isTriple ? { ...placeholder, start: opening - 1, end: end + 1 } : placeholder);
      from = end;
    }
  }
}

function asItIs(text: string): string {
  return text;
}

/** Values in the contract's form: booleans capitalised, objects and lists as JSON. */
function written(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

/** Finds one placeholder at a time; remembers the position of the next delimiter, so that a text full of
 *  unfinished placeholders takes linear time. */
class Scanner {
  readonly #text: string;
  readonly #next = new Map<RegExp, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The placeholder at `start`, or where to search for the next one. */
  placeholderAt(start: number): Placeholder | number {
    const pathStart = this.#find(NOT_SPACE, start + 2);
    const pathEnd = this.#find(PATH_END, pathStart);
    // A path has no braces, so that no placeholder begins in it.
    const retry = Math.max(start + 1, pathEnd - 2);
    if (pathEnd === pathStart) return retry;
    const path = this.#text.slice(pathStart, pathEnd).trimEnd();
    const afterPath = this.#find(NOT_SPACE, pathEnd);
    if (this.#text[afterPath] === '|') {
      const rest = this.#filter(afterPath + 1, path);
      return rest === undefined ? Math.max(retry, afterPath) : { start, path, ...rest };
    }
    if (!this.#closes(afterPath)) return retry;
    return { start, end: afterPath + 2, path, fallback: undefined };
  }

  /** The filter after the bar: a default, or `fallback:` and a default. */
  #filter(from: number, path: string): { end: number; fallback: string } | undefined {
    const wordEnd = this.#find(WORD_END, from);
    if (wordEnd === from) return undefined;
    const word = this.#text.slice(from, wordEnd).trim();
    if (this.#closes(wordEnd)) {
      return { end: wordEnd + 2, fallback: word === 'fallback' ? titleCased(path) : word };
    }
    if (this.#text[wordEnd] !== ':') return undefined;
    const valueEnd = this.#find(BRACE, wordEnd + 1);
    if (valueEnd === wordEnd + 1 || !this.#closes(valueEnd)) return undefined;
    const value = this.#text.slice(wordEnd + 1, valueEnd).trim();
    return { end: valueEnd + 2, fallback: word === 'fallback' ? value : `${word}:${value}` };
  }

  #closes(at: number): boolean {
    return this.#text.startsWith('}}', at);
  }

  /** The first index from `from` at which `pattern` matches; the end of the text if there is none. */
  #find(pattern: RegExp, from: number): number {
    const known = this.#next.get(pattern);
    if (known !== undefined && known >= from && pattern !== NOT_SPACE) return known;
    pattern.lastIndex = from;
    const at = pattern.exec(this.#text)?.index ?? this.#text.length;
    this.#next.set(pattern, at);
    return at;
  }
}

const NOT_SPACE = /\S/g;
/** A bar, a brace, or a space that is not between the words of a name. */
const PATH_END = /[|{}]|[^\S ]/g;
const WORD_END = /[:}]/g;
const BRACE = /\}/g;

function titleCased(path: string): string {
  return path
    .toLowerCase()
    .replace(/(^|[^\p{L}])(\p{L})/gu, (_all, before: string, letter: string) => {
      return before + letter.toUpperCase();
    });
}

/** The value at a dotted path through objects and lists (`items.0.name`, `items[0].name`), own keys only; undefined if
 *  there is none. Case, spaces and underscores of a name do not count where no name is equal. */
export function valueAtPath(context: Record<string, unknown>, path: string): unknown {
  const whole = member(context, path);
  if (whole !== undefined) return whole;
  const names = path.replace(/\[(\d+)\]/g, '.$1').split('.');
  if (names[0] === 'initial_context' && !Object.hasOwn(context, 'initial_context')) names.shift();
  let value: unknown = context;
  for (const name of names) value = member(value, name.trim());
  return value;
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined;
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const wanted = variableKey(name);
  const alike = Object.keys(value).find((key) => variableKey(key) === wanted);
  return alike === undefined ? undefined : value[alike];
}
