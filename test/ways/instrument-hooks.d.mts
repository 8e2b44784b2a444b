// Types of instrument-hooks.mjs, for its test.

/** Functions as `file#name`. */
export const ENTRIES: ReadonlySet<string>;
export const EXITS: ReadonlySet<string>;

interface Loaded {
  format: string;
  source: string | Uint8Array;
}

/** A `load` hook of Node's modules. */
export function load(
  url: string,
  context: object,
  nextLoad: (url: string, context: object) => Promise<Loaded>,
): Promise<Loaded>;
