// After a change to telephony, its lists and pages are read anew.

import { invalidatePaths } from '../../api/client.ts';

export async function telephonyChanged(): Promise<void> {
  await invalidatePaths('/api/v1/organizations/telephony-config');
}
