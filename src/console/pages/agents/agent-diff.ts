// What differs between two versions of an agent: nodes and edges that were added, removed or changed, settings and
// variables, and the lines and words of every text. Pure. Positions of nodes do not count: calls ignore them.

import type { GraphDefinition } from '../../graph/types.ts';

export interface AgentContent {
  definition: GraphDefinition;
  /** Settings and values of template variables, by name. */
  settings: Readonly<Record<string, unknown>>;
  variables: Readonly<Record<string, unknown>>;
}

/** A piece of a line; `isChanged` if the other version's line does not have it. */
export interface Words {
  text: string;
  isChanged: boolean;
}

export type DiffLine =
  | { kind: 'same' | 'removed' | 'added'; words: readonly Words[] }
  /** Equal lines that are left out. */
  | { kind: 'skipped'; count: number };

export interface FieldDiff {
  name: string;
  lines: readonly DiffLine[];
}

export interface ItemDiff {
  id: string;
  /** Name for people. */
  name: string;
  change: 'added' | 'removed' | 'changed';
  fields: readonly FieldDiff[];
}

export interface AgentDiff {
  nodes: readonly ItemDiff[];
  edges: readonly ItemDiff[];
  settings: readonly FieldDiff[];
  variables: readonly FieldDiff[];
}

type Values = Readonly<Record<string, unknown>>;
interface Item {
  id: string;
  name: string;
  values: Values;
}

/** Cells of the table of the longest common subsequence: above, everything counts as replaced. */
const CELLS_MAX = 1_000_000;
/** Equal lines that are shown before and after a change. */
const CONTEXT_LINES = 2;

export function diffAgents(before: AgentContent, after: AgentContent): AgentDiff {
  return {
    nodes: diffItems(nodesOf(before.definition), nodesOf(after.definition)),
    edges: diffItems(edgesOf(before.definition), edgesOf(after.definition)),
    settings: diffFields(before.settings, after.settings),
    variables: diffFields(before.variables, after.variables),
  };
}

export function isEmpty({ nodes, edges, settings, variables }: AgentDiff): boolean {
  return nodes.length + edges.length + settings.length + variables.length === 0;
}

function nodesOf({ nodes }: GraphDefinition): Item[] {
  return nodes.map(({ id, type, data }) => ({
    id,
    name: data.name ?? id,
    values: { type, ...data },
  }));
}

function edgesOf({ nodes, edges }: GraphDefinition): Item[] {
  const names = new Map(nodes.map(({ id, data }) => [id, data.name ?? id]));
  const nameOf = (id: string) => names.get(id) ?? id;
  return edges.map(({ id, source, target, data }) => ({
    id,
    name: `${data?.label ?? id} (${nameOf(source)} → ${nameOf(target)})`,
    values: { from: nameOf(source), to: nameOf(target), ...data },
  }));
}

function diffItems(before: readonly Item[], after: readonly Item[]): ItemDiff[] {
  const old = new Map(before.map((item) => [item.id, item]));
  const kept = new Set(after.map(({ id }) => id));
  const present = after.map((item): ItemDiff => {
    const was = old.get(item.id);
    const change = was === undefined ? 'added' : 'changed';
    const { id, name } = item;
    return { id, name, change, fields: diffFields(was?.values ?? {}, item.values) };
  });
  const gone = before
    .filter(({ id }) => !kept.has(id))
    .map(({ id, name, values }): ItemDiff => {
      return { id, name, change: 'removed', fields: diffFields(values, {}) };
    });
  return [
    ...present.filter(({ change, fields }) => change === 'added' || fields.length > 0),
    ...gone,
  ];
}

function diffFields(before: Values, after: Values): FieldDiff[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => {
    const [was, is] = [textOfValue(before[name]), textOfValue(after[name])];
    return was === is ? [] : [{ name, lines: diffLines(was, is) }];
  });
}

/** Objects with sorted keys: the order of keys is no difference. */
function textOfValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(sorted(value), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}

/** Lines of both texts in turn; equal lines away from changes are left out. */
export function diffLines(before: string, after: string): DiffLine[] {
  const runs = runsOf(linesOf(before), linesOf(after));
  const lines = runs.flatMap(({ same, removed, added }): DiffLine[] => [
    ...same.map((text) => lineOf('same', [{ text, isChanged: false }])),
    ...replaced(removed, added),
  ]);
  return withoutDistantLines(lines);
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/\r?\n/);
}

function lineOf(kind: 'same' | 'removed' | 'added', words: readonly Words[]): DiffLine {
  return { kind, words };
}

/** A removed line and the added one in its place show which of their words differ. */
function replaced(removed: readonly string[], added: readonly string[]): DiffLine[] {
  const pairs = Math.min(removed.length, added.length);
  const compared = removed
    .slice(0, pairs)
    .map((line, index) => diffWords(line, added[index] ?? ''));
  const whole = (text: string): Words[] => [{ text, isChanged: true }];
  return [
    ...removed.map((line, index) => lineOf('removed', compared[index]?.before ?? whole(line))),
    ...added.map((line, index) => lineOf('added', compared[index]?.after ?? whole(line))),
  ];
}

function diffWords(before: string, after: string): { before: Words[]; after: Words[] } {
  const words = (text: string) => text.split(/(?<=\s)(?=\S)/);
  const runs = runsOf(words(before), words(after));
  const pieces = (side: 'removed' | 'added') =>
    runs.flatMap((run) => [
      { text: run.same.join(''), isChanged: false },
      { text: run[side].join(''), isChanged: true },
    ]);
  const filled = ({ text }: Words) => text !== '';
  return { before: pieces('removed').filter(filled), after: pieces('added').filter(filled) };
}

/** Equal items, and what takes the place of what after them. */
interface Run {
  same: string[];
  removed: string[];
  added: string[];
}

/** Compares two sequences by their longest common subsequence. */
function runsOf(before: readonly string[], after: readonly string[]): Run[] {
  const start = commonLength(before, after);
  const end = commonLength(before.slice(start).reverse(), after.slice(start).reverse());
  const one = before.slice(start, before.length - end);
  const other = after.slice(start, after.length - end);
  const runs: Run[] = [{ same: before.slice(0, start), removed: [], added: [] }];
  const isTooLong = one.length * other.length > CELLS_MAX;
  if (isTooLong) runs.push({ same: [], removed: one, added: other });
  else walk(one, other, runs);
  runs.push({ same: before.slice(before.length - end), removed: [], added: [] });
  return runs;
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const max = Math.min(one.length, other.length);
  let length = 0;
  while (length < max && one[length] === other[length]) length += 1;
  return length;
}

function walk(one: readonly string[], other: readonly string[], runs: Run[]): void {
  const lengthAt = commonLengths(one, other);
  let run: Run = { same: [], removed: [], added: [] };
  runs.push(run);
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    const [left, right] = [one[i], other[j]];
    if (left !== undefined && left === right) {
      if (run.removed.length + run.added.length > 0) {
        run = { same: [], removed: [], added: [] };
        runs.push(run);
      }
      run.same.push(left);
      i += 1;
      j += 1;
    } else if (
      left !== undefined &&
      (right === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))
    ) {
      run.removed.push(left);
      i += 1;
    } else if (right !== undefined) {
      run.added.push(right);
      j += 1;
    }
  }
}

/** Length of the longest common subsequence of what follows two places. */
function commonLengths(one: readonly string[], other: readonly string[]) {
  const width = other.length + 1;
  const table = new Uint32Array((one.length + 1) * width);
  const at = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}

function withoutDistantLines(lines: readonly DiffLine[]): DiffLine[] {
  const shown = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let near = -CONTEXT_LINES; near <= CONTEXT_LINES; near += 1) shown.add(index + near);
  }
  const result: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    const last = result.at(-1);
    if (shown.has(index)) result.push(line);
    else if (last?.kind === 'skipped') last.count += 1;
    else result.push({ kind: 'skipped', count: 1 });
  }
  return result;
}
