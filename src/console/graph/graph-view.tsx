// The graph in a page: loaded when it is shown first, with the same as a list for screen readers and keyboards.

import '@xyflow/react/dist/base.css';
import '../style/graph.css';
import { later } from '../parts/later.tsx';
import { type GraphProps, nodeName, typeText } from './types.ts';

const AgentGraph = later(
  async () => (await import('./agent-graph.tsx')).AgentGraph,
  'Drawing the graph',
);

export function GraphView({
  height = 320,
  ...props
}: GraphProps & { /** In pixels. */ height?: number }) {
  const { definition, path, onSelect } = props;
  return (
    <div className="graph">
      {/* The list below says the same. */}
      <section className="graph-canvas" style={{ height }} aria-label="Graph">
        <AgentGraph {...props} />
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
              ({typeText(type)}
              {path !== undefined && `, ${path.visits.get(id) ?? 0} visits`}
              {path?.at === id && ', here'})
              <ul>
                {definition.edges
                  .filter(({ source }) => source === id)
                  .map((edge) => (
                    <li key={edge.id}>
                      to {nodeName(definition.nodes, edge.target)}
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
