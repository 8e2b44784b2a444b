// An agent's graph to look at: its nodes from top to bottom, and the path of a call in it. Loaded lazily (`GraphView`),
// since xyflow and dagre are as large as the rest of the console.

import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { useEffect, useMemo } from 'react';
import { lineThrough, NODE_HEIGHT, NODE_WIDTH, placed, type Way } from './layout.ts';
import { type GraphProps, typeText } from './types.ts';

interface Shown extends Record<string, unknown> {
  name: string;
  type: string;
  /** Visits of the call; 0 if it was never there. */
  visits: number;
  isHere: boolean;
}

const nodeTypes = { agent: AgentNode };
const edgeTypes = { way: WayEdge };
/** Some edges lead upwards. */
const ARROW = {
  type: MarkerType.ArrowClosed,
  width: 14,
  height: 14,
  markerUnits: 'userSpaceOnUse',
  color: 'var(--line-strong)',
};
const TAKEN_ARROW = { ...ARROW, color: 'var(--good)' };
/** Characters of an edge's name that fit between two nodes; the list has the whole. */
const LABEL_MAX = 24;
/** Smaller text can hardly be read: of a larger graph a part is shown. */
const FIT = { padding: 0.04, minZoom: 0.4, maxZoom: 1 };

export function AgentGraph({ definition, path, onSelect, selected }: GraphProps) {
  const bundles = useMemo(() => bundled(definition.edges), [definition]);
  const { places, ways } = useMemo(
    () =>
      placed(
        definition.nodes.map(({ id }) => id),
        bundles,
      ),
    [definition, bundles],
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
  const edges = bundles.map(({ id, source, target, name }): Edge => {
    const way = ways.get(`${source}>${target}`);
    const isTaken = path?.taken.has(`${source}>${target}`) === true;
    const isLast = path?.last === `${source}>${target}`;
    return {
      id,
      source,
      target,
      animated: isLast,
      className: isTaken ? 'taken' : '',
      markerEnd: isTaken ? TAKEN_ARROW : ARROW,
      ...(way !== undefined && { type: 'way', data: { way } }),
      ...(name !== '' && { label: name }),
    };
  });
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
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
      <FitToWidth />
      <Background />
      <Controls showInteractive={false} />
    </ReactFlow>
  );
}

/** The graph fits again when the window has another width: a telephone is turned. */
function FitToWidth() {
  const width = useStore((state) => state.width);
  const { fitView } = useReactFlow();
  useEffect(() => {
    if (width > 0) void fitView(FIT);
  }, [width, fitView]);
  return null;
}

/** An edge on the way that the layout keeps free of nodes and of other names. */
function WayEdge({ id, data, label, markerEnd }: EdgeProps<Edge<{ way: Way }>>) {
  if (data === undefined) return null;
  const { points, name } = data.way;
  return (
    <BaseEdge
      id={id}
      path={lineThrough(points)}
      labelX={name.x}
      labelY={name.y}
      {...(label !== undefined && { label })}
      {...(markerEnd !== undefined && { markerEnd })}
    />
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
        {typeText(type)}
        {visits > 1 && ` · ${visits} times`}
        {isHere && ' · here'}
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}
