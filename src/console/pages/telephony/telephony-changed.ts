// After a change to telephony, its lists and pages are read anew.

import { queries } from '../../api/client.ts';

export async function telephonyChanged(): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) =>
      String(queryKey[1]).startsWith('/api/v1/organizations/telephony-config'),
  });
}
