// Work on a configuration of which one runs at a time, over all gateways: two examinations disturb each other's test
// channels, and two syncs overwrite each other's settings at the provider.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { PlaceStore } from '../../store/db/places.ts';

/** Time after the longest work in which the place of a process that is gone is free. */
const EXTRA_MS = 5_000;

/** Runs the work, which takes at most `msMax`. Throws EXAMINATION_RUNNING. */
export async function oneAtATime<T>(
  places: PlaceStore,
  { name, msMax }: { name: string; msMax: number },
  work: () => Promise<T>,
): Promise<T> {
  const giveBack = await places.take(name, { max: 1, ms: msMax + EXTRA_MS });
  if (giveBack === undefined) throw new GatewayError('EXAMINATION_RUNNING');
  try {
    return await work();
  } finally {
    await giveBack();
  }
}
