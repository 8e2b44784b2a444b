// The graph of an agent to look at, with the details of the node that is selected beside it.

import { useState } from 'react';
import { GraphView } from '../../graph/graph-view.tsx';
import type { CallPath, GraphDefinition } from '../../graph/types.ts';
import { Notice } from '../../parts/notice.tsx';
import { NodePanel } from './node-panel.tsx';

const HEIGHT = 460;

export function GraphTab({ definition, path }: { definition: GraphDefinition; path?: CallPath }) {
  const [selected, setSelected] = useState<string>();
  const node = definition.nodes.find(({ id }) => id === selected);
  if (definition.nodes.length === 0)
    return <Notice tone="info">This version has no nodes: calls with it are refused.</Notice>;
  return (
    <div className="graph-with-panel">
      <GraphView
        definition={definition}
        path={path}
        selected={selected}
        onSelect={setSelected}
        height={HEIGHT}
      />
      {node === undefined ? (
        <p className="section hint">Select a node to read its prompt, tools and edges.</p>
      ) : (
        <NodePanel
          node={node}
          definition={definition}
          onSelect={setSelected}
          onClose={() => setSelected(undefined)}
        />
      )}
    </div>
  );
}
