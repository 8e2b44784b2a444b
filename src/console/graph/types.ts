// An agent's definition as far as the graph shows it, and the path of a call in it.

export interface GraphDefinition {
  nodes: readonly { id: string; type: string; data: { name?: string } & Record<string, unknown> }[];
  edges: readonly {
    id: string;
    source: string;
    target: string;
    data?: { label?: string; condition?: string } & Record<string, unknown>;
  }[];
}

export interface CallPath {
  /** Id of the node where the call stands. */
  at: string | undefined;
  /** Times that the call entered each node, by id. */
  visits: ReadonlyMap<string, number>;
  /** Edges that were taken, as `source>target`. */
  taken: ReadonlySet<string>;
  /** The edge that was taken last. */
  last: string | undefined;
}

export interface GraphProps {
  definition: GraphDefinition;
  path?: CallPath | undefined;
  /** Id of the node that is shown as selected. */
  selected?: string | undefined;
  onSelect?: ((id: string) => void) | undefined;
}

/** The name of a node; its id if it has none, or does not exist. */
export function nodeName(nodes: GraphDefinition['nodes'], id: string): string {
  return nodes.find((node) => node.id === id)?.data.name ?? id;
}

/** `agentNode` as `agent`, `endCall` as `end`. */
export function typeText(type: string): string {
  return type.replace(/(Node|Call)$/, '');
}

/** The path of a call that entered these nodes in turn. */
export function pathOf(entered: readonly string[]): CallPath {
  const visits = new Map<string, number>();
  const taken = new Set<string>();
  let last: string | undefined;
  for (const [index, id] of entered.entries()) {
    visits.set(id, (visits.get(id) ?? 0) + 1);
    const previous = entered[index - 1];
    if (previous === undefined) continue;
    last = `${previous}>${id}`;
    taken.add(last);
  }
  return { at: entered.at(-1), visits, taken, last };
}
