// What our client and the vendor's SDK send alike (fixtures/wire/azure): the address without keys and ids, and the context.

import type { AzureSttServer } from '../../../fakes/services/azure-stt-server.ts';

/** The key; ids are random. */
export const AZURE_HEADERS = ['ocp-apim-subscription-key'];

export function contextsIn({ bodies }: AzureSttServer): Record<string, unknown>[] {
  return bodies.flatMap(([path, body]) =>
    path === 'speech.context' ? [body as Record<string, unknown>] : [],
  );
}
