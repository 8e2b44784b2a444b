// The graph in a page: loaded when it is shown first, with the same as a list for screen readers and keyboards.

import { lazy, Suspense } from 'react';
import { Busy } from '../parts/notice.tsx';
import type { GraphProps } from './types.ts';

const AGENT_GRAPH = lazy(async () => ({ default: (await import('./agent-graph.tsx')).AgentGraph }));

export function GraphView({
  height = 320,
  ...props
}: GraphProps & { /** In pixels. */ height?: number }) {
  const { definition, path, onSelect } = props;
  const nameOf = (id: string) => definition.nodes.find((node) => node.id === id)?.data.name ?? id;
  return (
    <div className="graph">
      {/* The list below says the same. */}
      <section className="graph-canvas" style={{ height }} aria-label="Graph">
        <Suspense fallback={<Busy label="Drawing the graph" />}>
          <AGENT_GRAPH {...props} />
        </Suspense>
      </section>
      <details>
        <summary>The graph as a list</summary>
        <ol className="graph-list">
          {definition.nodes.map(({ id, type, data }) => (
            <li key={id}>
              {onSelect === undefined ? (
                <strong>{data.name ?? id}</strong>
              ) : (
                <button type="button" className="link" onClick={() => onSelect(id)}>
                  {data.name ?? id}
                </button>
              )}{' '}
              ({type}
              {path !== undefined && `, ${path.visits.get(id) ?? 0} visits`}
              {path?.at === id && ', here'})
              <ul>
                {definition.edges
                  .filter(({ source }) => source === id)
                  .map((edge) => (
                    <li key={edge.id}>
                      to {nameOf(edge.target)}
                      {edge.data?.condition !== undefined && `: ${edge.data.condition}`}
                    </li>
                  ))}
              </ul>
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}
