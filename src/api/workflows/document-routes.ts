// Routes of documents for agents. This version supports none, so the list is empty: clients request it when they open
// an agent. Source: contract §10.3, §12.2.

import { z } from 'zod';
import type { Api } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { offsetParameter } from '../http/page-parameters.ts';
import { queryInteger } from '../http/values.ts';

const documentsOut = z
  .object({
    documents: z.array(z.never()),
    total: z.literal(0).describe('Documents.'),
    limit: z.int().describe('As in the query.'),
    offset: z.int().describe('As in the query.'),
  })
  .meta({ id: 'DocumentListResponse', description: 'An empty list.' });

export function documentRoutes(api: Api): void {
  api.get(
    '/knowledge-base/documents',
    {
      schema: {
        tags: ['documents'],
        security: keyRequired,
        operationId: 'listDocuments',
        summary: 'List documents',
        description: 'The documents of the knowledge base: none.',
        querystring: z.object({
          status: z
            .enum(['pending', 'processing', 'completed', 'failed'])
            .optional()
            .describe('Only documents in that state. The list is empty in any case.'),
          limit: queryInteger(1, 100).default(100).describe('Documents at most.'),
          offset: offsetParameter,
        }),
        response: { 200: documentsOut, ...faults() },
      },
    },
    async (request) => {
      const { limit, offset } = request.query;
      return { documents: [], total: 0 as const, limit, offset };
    },
  );
}
