// JSON templates: the payload of a webhook, the body of a tool's request. Keys and texts are rendered at every
// depth (workflow/variables/template); other values stay unchanged. Source: contract §5.6.

import { isObject } from '../../std/json.ts';
import { type RenderOptions, render } from './template.ts';

/** Depth below which levels become null. Usual bodies have three or four. */
const DEPTH_MAX = 20;
/** Values, keys included, of one body; the rest is dropped. */
const VALUES_MAX = 10_000;
/** Characters of all rendered texts of one body: receivers accept about a megabyte. The rest is cut. */
const CHARACTERS_MAX = 1_000_000;

/** The template with every key and text rendered: a placeholder always becomes text, as in `{"run":
 *  "{{workflow_run_id}}"}` -> `{"run": "42"}`. Of keys that render to the same text the last one counts. Any
 *  JSON is valid. */
export function renderObject(
  template: Record<string, unknown>,
  context: Record<string, unknown>,
  options: RenderOptions,
): Record<string, unknown> {
  return new ObjectRenderer(context, options).object(template, 1);
}

class ObjectRenderer {
  readonly #context: Record<string, unknown>;
  readonly #options: RenderOptions;
  #values = 0;
  #characters = 0;

  constructor(context: Record<string, unknown>, options: RenderOptions) {
    this.#context = context;
    this.#options = options;
  }

  object(template: Record<string, unknown>, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(template)) {
      if (this.#isFull()) break;
      entries.push([this.#text(key), this.#value(value, depth)]);
    }
    return Object.fromEntries(entries);
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return depth < DEPTH_MAX ? this.#list(value, depth + 1) : null;
    if (isObject(value)) return depth < DEPTH_MAX ? this.object(value, depth + 1) : null;
    return value;
  }

  #list(template: readonly unknown[], depth: number): unknown[] {
    const values: unknown[] = [];
    for (const value of template) {
      if (this.#isFull()) break;
      values.push(this.#value(value, depth));
    }
    return values;
  }

  #text(template: string): string {
    const room = CHARACTERS_MAX - this.#characters;
    const text = render(template, this.#context, this.#options).slice(0, room);
    this.#characters += text.length;
    return text;
  }

  #isFull(): boolean {
    this.#values += 1;
    return this.#values > VALUES_MAX;
  }
}
