// Route of the node type catalogue, from which editors and builders create agents. Source: contract §12.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { nodeSpec } from '../../model/node-spec.ts';
import { catalogue, nodeSpecOf, SPEC_VERSION } from '../../workflow/graph/node-catalogue.ts';
import type { Api } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';

const common = { tags: ['workflows'], security: keyRequired };

const nodeTypesOut = z
  .object({ spec_version: z.string(), node_types: z.array(nodeSpec) })
  .meta({ id: 'NodeTypesResponse', description: 'The catalogue of node types.' });

export function nodeTypeRoutes(api: Api): void {
  api.get(
    '/node-types',
    {
      schema: {
        ...common,
        operationId: 'listNodeTypes',
        summary: 'List node types',
        description: 'Every node type, with what its nodes may hold.',
        response: { 200: nodeTypesOut, ...faults() },
      },
    },
    async () => ({ spec_version: SPEC_VERSION, node_types: [...catalogue] }),
  );

  api.get(
    '/node-types/:name',
    {
      schema: {
        ...common,
        operationId: 'getNodeType',
        summary: 'Get a node type',
        description: 'One node type.',
        params: z.object({
          name: z
            .string()
            .max(100)
            .meta({
              description:
                'The `name` of a node type: `startCall`, `agentNode`, `endCall` and others.',
              examples: ['startCall'],
            }),
        }),
        response: { 200: nodeSpec, ...faults('NODE_TYPE_UNKNOWN') },
      },
    },
    async (request) => {
      const { name } = request.params;
      const spec = nodeSpecOf(name);
      if (spec === undefined) throw new GatewayError('NODE_TYPE_UNKNOWN', { name });
      return spec;
    },
  );
}
