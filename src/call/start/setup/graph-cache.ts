// Graphs of the agents that calls use. A version that is not a draft never changes, so that its graph is parsed once and
// not for each call: a node takes 60 µs of the event loop.

import type { WorkflowVersion } from '../../../model/workflow.ts';
import { type Graph, parseGraph } from '../../../workflow/graph/graph.ts';

/** Graphs, and nodes of all of them, that are kept: a few megabytes. */
const GRAPHS_MAX = 200;
const NODES_MAX = 5_000;

export class GraphCache {
  /** Graphs by version, the least recently used first. */
  readonly #graphs = new Map<string, Graph>();
  #nodes = 0;

  /** The graph of a version; shared, and must not be changed. Throws as `parseGraph` does. */
  of({ id, status, definition }: WorkflowVersion): Graph {
    if (status === 'draft') return parseGraph(definition);
    const graph = this.#graphs.get(id) ?? parseGraph(definition);
    this.#remove(id);
    this.#graphs.set(id, graph);
    this.#nodes += graph.nodes.size;
    for (const oldest of this.#graphs.keys()) {
      if (this.#graphs.size <= GRAPHS_MAX && this.#nodes <= NODES_MAX) break;
      this.#remove(oldest);
    }
    return graph;
  }

  #remove(id: string): void {
    this.#nodes -= this.#graphs.get(id)?.nodes.size ?? 0;
    this.#graphs.delete(id);
  }
}
