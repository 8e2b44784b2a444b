// Function names under which a model calls tools: one for each function, unique within a node.
// Source: contract §5.4.

import { createHash } from 'node:crypto';
import { edgeFunctionName } from '../graph/edge-function.ts';
import { parametersSchema } from './parameters.ts';
import type { ToolParameter } from './tool-fields.ts';
import type { StoredTool, ToolFunction } from './tool-type.ts';

/** Longest name that the model services accept. */
const NAME_CHARACTERS_MAX = 64;
/** Characters of the uuid in the name of a tool that has no allowed letter. */
const UUID_CHARACTERS = 8;
/** Characters of a suffix: sixteen million suffixes distinguish the functions of a node. */
const SUFFIX_CHARACTERS = 6;

/** The name of a tool's only function: the tool's name. */
export function functionNameOf({ uuid, name }: { uuid: string; name: string }): string {
  const letters = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/_$/, '');
  return letters === '' ? `tool_${uuid.slice(0, UUID_CHARACTERS)}` : letters;
}

/** The only function of a tool, named after the tool. */
export function soleFunction(
  tool: StoredTool,
  parameters: readonly ToolParameter[],
  name: string = functionNameOf(tool),
): ToolFunction[] {
  const description = tool.description?.trim() || tool.name;
  return [
    { key: name, name, namedBy: 'author', description, parameters: parametersSchema(parameters) },
  ];
}

interface NamedTool {
  uuid: string;
  name: string;
  functions: readonly ToolFunction[];
}

export interface NamedFunction<T extends NamedTool> {
  tool: T;
  function: ToolFunction;
  /** Name that is unique within the node; or, if `takenBy` is set, already used, so that the function cannot be
   *  called. */
  name: string;
  /** Owner of the name, for example `the edge Done`. */
  takenBy: string | undefined;
}

/** Names functions in the order of the tools. Edges get their names first, then the first tool with a name chosen by
 *  its author. A derived name that is too long, or already used in the node, gets a suffix, which depends on the
 *  function alone: the order of tools does not change it. */
export function nameFunctions<T extends NamedTool>(
  edgeLabels: readonly string[],
  tools: readonly T[],
): NamedFunction<T>[] {
  const owners = new Map<string, string>();
  const claims = new Map<string, number>();
  const claim = (name: string) => claims.set(name, (claims.get(name) ?? 0) + 1);
  for (const label of edgeLabels) {
    owners.set(edgeFunctionName(label), `the edge ${label}`);
    claim(edgeFunctionName(label));
  }
  for (const each of tools.flatMap(({ functions }) => functions)) claim(each.name);
  return tools.flatMap((tool) =>
    tool.functions.map((each) => {
      const isUsable = claims.get(each.name) === 1 && each.name.length <= NAME_CHARACTERS_MAX;
      const name = each.namedBy === 'author' || isUsable ? each.name : suffixed(each, tool.uuid);
      const takenBy = owners.get(name);
      if (takenBy === undefined) owners.set(name, `the tool ${tool.name}`);
      return { tool, function: each, name, takenBy };
    }),
  );
}

function suffixed({ name, key }: ToolFunction, uuid: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([uuid, key]))
    .digest('hex');
  const suffix = `_${hash.slice(0, SUFFIX_CHARACTERS)}`;
  return `${name.slice(0, NAME_CHARACTERS_MAX - suffix.length)}${suffix}`;
}
