// An uploaded contact file as a campaign would read it, by the gateway.

import { skipToken, useQuery } from '@tanstack/react-query';
import { patientClient, type Schema } from '../../api/client.ts';

export type ContactPreview = Schema<'ContactPreviewResponse'>;

/** The preview of the file with that key. `agentId`: whose template variables need columns; empty: none is chosen yet. */
export function useContactPreview(sourceId: string | undefined, agentId: string) {
  return useQuery({
    queryKey: ['contacts', sourceId, agentId],
    queryFn:
      sourceId === undefined
        ? skipToken
        : async ({ signal }): Promise<ContactPreview> => {
            const agent = agentId === '' ? {} : { workflow_id: agentId };
            const { data } = await patientClient.GET('/api/v1/campaign/contacts/preview', {
              params: { query: { source_id: sourceId, ...agent } },
              signal,
            });
            if (data === undefined) throw new Error('The gateway gave no preview of the file.');
            return data;
          },
  });
}
