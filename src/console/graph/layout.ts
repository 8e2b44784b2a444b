// Positions of an agent's nodes from top to bottom, and the ways of its edges with room for their names, by dagre:
// conversations are longer than they are wide. Graphs of 60 nodes take less than 20 ms.

import { graphlib, layout } from '@dagrejs/dagre';

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 50;
/** Between a node and the name of an edge above or below it. */
const GAP_BETWEEN_RANKS = 26;
const GAP_IN_RANK = 36;
const GAP_BETWEEN_EDGES = 14;
/** Of the name of an edge, which the style sheet sets in 12 px. */
const CHARACTER_WIDTH = 6.8;
const NAME_HEIGHT = 18;

export interface Place {
  x: number;
  y: number;
}

export interface Way {
  /** From the border of one node to that of the other; between are points to pass. */
  points: readonly Place[];
  /** The middle of its name. */
  name: Place;
}

export interface Layout {
  /** The top left corner of each node, by its id. */
  places: ReadonlyMap<string, Place>;
  /** By `source>target`. */
  ways: ReadonlyMap<string, Way>;
}

/** Edges to unknown nodes are ignored; there is at most one from a node to the same other. */
export function placed(
  ids: readonly string[],
  edges: readonly { source: string; target: string; name: string }[],
): Layout {
  const graph = new graphlib.Graph();
  graph.setGraph({
    rankdir: 'TB',
    ranksep: GAP_BETWEEN_RANKS,
    nodesep: GAP_IN_RANK,
    edgesep: GAP_BETWEEN_EDGES,
  });
  const known = new Set(ids);
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const drawn = edges.filter(({ source, target }) => known.has(source) && known.has(target));
  for (const { source, target, name } of drawn) {
    const width = name.length * CHARACTER_WIDTH;
    graph.setEdge(source, target, { labelpos: 'c', width, height: NAME_HEIGHT });
  }
  layout(graph);
  const places = ids.map((id): [string, Place] => {
    const { x, y } = graph.node(id) as Place;
    return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
  });
  const ways = drawn.map(({ source, target }): [string, Way] => {
    const { points, x, y } = graph.edge(source, target) as Place & { points: Place[] };
    return [`${source}>${target}`, { points, name: { x, y } }];
  });
  return { places: new Map(places), ways: new Map(ways) };
}

/** A smooth line through the points, for SVG: each point between is the control of a curve to the middle of the next leg. */
export function lineThrough(points: readonly Place[]): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  let line = `M${first.x},${first.y}`;
  for (const [index, point] of others.entries()) {
    const next = others[index + 1];
    if (next === undefined) line += ` L${point.x},${point.y}`;
    else line += ` Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  }
  return line;
}
