// The graph of the version that the call used, with the path until the moment of the page; the path alone where the
// version is gone.

import { useMemo } from 'react';
import { api } from '../api/client.ts';
import { GraphView } from '../graph/graph-view.tsx';
import { type GraphDefinition, pathOf } from '../graph/types.ts';
import { type CallState, enteredUntil } from './call-state.ts';
import type { Run } from './event-log.ts';
import { type Playhead, useAtPlayhead } from './playhead.ts';

export function CallGraph({
  run,
  call,
  playhead,
}: {
  run: Run;
  call: CallState;
  playhead: Playhead;
}) {
  const { data: version } = api.useQuery(
    'get',
    '/api/v1/workflow/{workflow_id}/versions/{version_id}',
    { params: { path: { workflow_id: run.workflow_id, version_id: run.definition_id ?? '' } } },
    { enabled: run.definition_id !== null, staleTime: Number.POSITIVE_INFINITY, retry: false },
  );
  const count = useAtPlayhead(playhead, (atMs) =>
    atMs === undefined ? call.entered.length : enteredUntil(call, atMs).length,
  );
  const entered = useMemo(() => call.entered.slice(0, count), [call.entered, count]);
  const path = useMemo(() => pathOf(entered.map(({ id }) => id)), [entered]);
  const here = entered.at(-1);
  const definition = version === undefined ? undefined : definitionIn(version.workflow_json);
  return (
    <>
      <p className="here" aria-live="polite">
        {here === undefined ? 'No node entered yet' : `Node: ${here.name}`}
      </p>
      {definition === undefined ? (
        <ol className="path-list" aria-label="Path of the call">
          {entered.map(({ id, name, atMs }, index) => (
            <li key={`${id}-${atMs}`} aria-current={index === count - 1 ? 'step' : undefined}>
              {name}
            </li>
          ))}
        </ol>
      ) : (
        <GraphView definition={definition} path={path} height={420} />
      )}
    </>
  );
}

/** Undefined for a definition without nodes. */
function definitionIn(json: Record<string, unknown>): GraphDefinition | undefined {
  const { nodes, edges } = json as Partial<GraphDefinition>;
  return Array.isArray(nodes) && Array.isArray(edges) ? { nodes, edges } : undefined;
}
