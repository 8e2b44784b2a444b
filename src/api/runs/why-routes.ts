// Route that explains why a run's call ended. Extension. The explanation is call/why's; this file maps it to the wire.

import { explainRun, type RunExplanation } from '../../call/why/explain-run.ts';
import type { Explained } from '../../call/why/explanation.ts';
import {
  type CallExplanation,
  callExplanation,
  type ExplainedOut,
} from '../../model/call-explanation.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runByPath, runInPath } from '../http/path-parameters.ts';

const explanationSchema = callExplanation.meta({
  description: 'What ended the call, and what else is in its events.',
});

export function whyRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/runs/:run_id/why',
    {
      schema: {
        tags: ['runs'],
        security: keyRequired,
        operationId: 'explainRun',
        summary: 'Explain a run',
        description:
          'Says in words, from the events of the run alone, what ended the call, where, who caused it and what to do. While the call goes on: what is known so far.',
        params: runInPath,
        response: { 200: explanationSchema, ...faults('RUN_NOT_FOUND') },
      },
    },
    async (request) => {
      const run = await runByPath(deps, request, request.params);
      return explanationOut(await explainRun(deps.store, run));
    },
  );
}

function explanationOut({ also, isFinal, events, ...main }: RunExplanation): CallExplanation {
  return { ...explainedOut(main), also: also.map(explainedOut), is_final: isFinal, events };
}

function explainedOut({
  verdict,
  party,
  summary,
  where,
  evidence,
  advice,
}: Explained): ExplainedOut {
  const { nodeId, nodeName, atMs, turn, service, tool, provider } = where;
  const place = {
    node_id: nodeId,
    node_name: nodeName,
    at_ms: atMs,
    turn,
    service,
    tool,
    provider,
  };
  const proofs = evidence.map(({ seq, atMs: at, type, text }) => ({
    id: seq,
    at_ms: at,
    type,
    text,
  }));
  return { verdict, party, summary, where: place, evidence: proofs, advice };
}
