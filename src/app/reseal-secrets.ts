// Seals stored secrets with the newest key at each start, so that an old key can be removed.

import type { Log } from '../log.ts';
import type { StoreHandle } from '../store/open.ts';

export async function resealSecrets(store: StoreHandle, log: Log): Promise<void> {
  const resealed = await store.resealSecrets();
  if (resealed > 0) log.info({ configurations: resealed }, 'secrets are sealed by the newest key');
}
