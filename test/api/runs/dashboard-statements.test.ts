// How many statements the pages take that a dashboard asks for again and again: on a full processor each waits for its
// turn at the database, and for two processes.

import { expect, it } from 'vitest';
import { storeSeconds } from '../../../src/metrics/metrics.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);

/** Of this process; its background work makes none in these tests. */
async function statements(): Promise<number> {
  const { values } = await storeSeconds.get();
  return values
    .filter(({ metricName }) => metricName === 'patchbay_store_seconds_count')
    .reduce((sum, { value }) => sum + value, 0);
}

it.each([
  ['/workflow/ID/runs', 1],
  ['/workflow/ID/runs?sort_by=duration', 1],
  ['/calls/active', 1],
  ['/workflow/fetch/ID', 2],
  ['/workflow/summary', 1],
  ['/organizations/telephony-configs', 1],
])('%s takes %i beside the check of its key', async (path, most) => {
  await stored.aRun();
  const url = path.replace('ID', stored.workflowId);
  // The first request notes the use of the key as well.
  await served.ok('GET', url);
  const before = await statements();
  await served.ok('GET', url);
  const taken = (await statements()) - before;
  // The key is read again if a second has passed.
  expect([most, most + 1]).toContain(taken);
});
