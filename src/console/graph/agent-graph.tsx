// An agent's graph to look at: its nodes from top to bottom, and the path of a call in it. Loaded lazily (`GraphView`),
// since xyflow and dagre are as large as the rest of the console.

import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import { NODE_HEIGHT, NODE_WIDTH, placed } from './layout.ts';
import type { GraphProps } from './types.ts';

interface Shown extends Record<string, unknown> {
  name: string;
  type: string;
  /** Visits of the call; 0 if it was never there. */
  visits: number;
  isHere: boolean;
}

const nodeTypes = { agent: AgentNode };
/** Characters of an edge's name that fit between two nodes; the list has the whole. */
const LABEL_MAX = 24;
/** Smaller text cannot be read: of a larger graph a part is shown. */
const FIT = { padding: 0.06, minZoom: 0.45, maxZoom: 1 };

export function AgentGraph({ definition, path, onSelect, selected }: GraphProps) {
  const places = useMemo(
    () =>
      placed(
        definition.nodes.map(({ id }) => id),
        definition.edges,
      ),
    [definition],
  );
  const visits = path?.visits;
  const nodes = definition.nodes.map(({ id, type, data }): Node<Shown> => {
    const isHere = path?.at === id;
    return {
      id,
      type: 'agent',
      position: places.get(id) ?? { x: 0, y: 0 },
      // Without its size a node is hidden again when its data change.
      measured: { width: NODE_WIDTH, height: NODE_HEIGHT },
      data: { name: data.name ?? id, type, visits: visits?.get(id) ?? 0, isHere },
      selected: selected === id,
      draggable: false,
      connectable: false,
    };
  });
  const edges = bundled(definition.edges).map(({ id, source, target, name }): Edge => {
    const isTaken = path?.taken.has(`${source}>${target}`) === true;
    const isLast = path?.last === `${source}>${target}`;
    return {
      id,
      source,
      target,
      animated: isLast,
      className: isTaken ? 'taken' : '',
      ...(name === '' ? {} : { label: name }),
    };
  });
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      fitView
      fitViewOptions={FIT}
      minZoom={0.2}
      // A page scrolls over the graph; it is zoomed by its buttons, or with Ctrl.
      preventScrolling={false}
      zoomOnScroll={false}
      nodesFocusable={onSelect !== undefined}
      edgesFocusable={false}
      {...(onSelect === undefined
        ? {}
        : { onNodeClick: (_, { id }) => onSelect(id), onSelectionChange: selectionOf(onSelect) })}
    >
      <Background />
      <Controls showInteractive={false} />
    </ReactFlow>
  );
}

/** One edge for all that lead from a node to the same other: their names would cover each other. */
function bundled(edges: GraphProps['definition']['edges']) {
  const bundles = new Map<
    string,
    { id: string; source: string; target: string; names: string[] }
  >();
  for (const { id, source, target, data } of edges) {
    const key = `${source}>${target}`;
    const bundle = bundles.get(key) ?? { id, source, target, names: [] };
    bundles.set(key, bundle);
    if (data?.label) bundle.names.push(data.label);
  }
  return [...bundles.values()].map(({ names, ...edge }) => {
    const [first = '', ...others] = names;
    const more = others.length === 0 ? '' : ` +${others.length}`;
    return { ...edge, name: `${shortened(first)}${more}` };
  });
}

function shortened(name: string): string {
  return name.length > LABEL_MAX ? `${name.slice(0, LABEL_MAX - 1)}…` : name;
}

function selectionOf(onSelect: (id: string) => void) {
  return ({ nodes: [node] }: { nodes: Node[] }): void => {
    if (node !== undefined) onSelect(node.id);
  };
}

function AgentNode({ data: { name, type, visits, isHere } }: NodeProps<Node<Shown>>) {
  const state = isHere ? 'here' : visits > 0 ? 'been' : 'none';
  return (
    <div className="agent-node" data-state={state}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <strong>{name}</strong>
      <span>
        {type}
        {visits > 1 && ` · ${visits} times`}
        {isHere && ' · here'}
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}
