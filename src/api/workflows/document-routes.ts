// Routes of documents for agents. This version supports none, so the list is empty: clients request it when they open
// an agent. Source: contract §10.3, §12.2.

import { z } from 'zod';
import type { Api } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { queryInteger } from '../http/values.ts';

const documentsOut = z
  .object({
    documents: z.array(z.never()),
    total: z.literal(0),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'DocumentListResponse' });

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
          status: z.enum(['pending', 'processing', 'completed', 'failed']).optional(),
          limit: queryInteger(1, 100).default(100),
          offset: queryInteger(0).default(0),
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
