// The preview of an uploaded contact file, before a campaign is created from it. Extension of the contract (§9.3).

import { z } from 'zod';
import { previewContacts } from '../../campaign/campaign-settings.ts';
import { contactFault, FAULTS_LISTED_MAX } from '../../campaign/contact-faults.ts';
import { ROWS_SHOWN_MAX } from '../../campaign/contact-report.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { idIn } from '../http/values.ts';

const query = z.object({
  source_id: z
    .string()
    .min(1)
    .max(2_000)
    .describe('The `file_key` of `createContactsUpload`, to whose link the file was sent.'),
  workflow_id: idIn
    .optional()
    .describe('The agent that shall call: the file needs columns for its template variables.'),
});

const preview = z
  .object({
    columns: z.array(z.string()).describe('Names of the columns, as calls get them.'),
    rows: z
      .array(
        z.object({
          row: z.int().describe('Row in the file; the header is row 1.'),
          cells: z.array(z.string()),
        }),
      )
      .describe(`The first rows, ${ROWS_SHOWN_MAX} at most, with shortened cells.`),
    row_count: z.int().describe('Rows that are not blank, without the header.'),
    contact_count: z.int().describe('Rows that would be called.'),
    faults: z
      .array(contactFault)
      .describe(`What is wrong with the file: the first ${FAULTS_LISTED_MAX} faults.`),
    fault_count: z.int().describe('All faults. 0: a campaign takes the file.'),
  })
  .meta({ id: 'ContactPreviewResponse', description: 'A contact file as a campaign reads it.' });

export function contactPreviewRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign/contacts/preview',
    {
      schema: {
        tags: ['campaigns'],
        security: keyRequired,
        operationId: 'previewContacts',
        summary: 'Preview a contact file',
        description:
          'Reads an uploaded contact file to its end, as a campaign would, and creates nothing.',
        querystring: query,
        response: {
          200: preview,
          ...faults(
            ...AGENT_FAULTS,
            'CAMPAIGN_SOURCE_KEY_INVALID',
            'FILE_FORBIDDEN',
            'CAMPAIGN_SOURCE_INVALID',
            'FILES_UNAVAILABLE',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { source_id: sourceId, workflow_id: workflowId = null } = request.query;
      const report = await previewContacts(deps, organizationId, { sourceId, workflowId });
      return {
        columns: report.columns,
        rows: report.rows,
        row_count: report.rowsTotal,
        contact_count: report.contacts,
        faults: report.faults,
        fault_count: report.faultsTotal,
      };
    },
  );
}
