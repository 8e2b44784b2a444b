// How many statements the pages take that a dashboard asks for again and again: on a full processor each waits for its
// turn at the database, and for two processes.

import { expect, it } from 'vitest';
import { storeSeconds } from '../../../src/metrics/metrics.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);

/** Number of this process's statements so far; its background work makes none in these tests. */
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
  ['/workflow/fetch/ID', 1],
  ['/workflow/summary', 1],
  ['/organizations/telephony-configs', 1],
])('%s takes %i beside the check of its key', async (path, count) => {
  await stored.aRun();
  const url = path.replace('ID', stored.workflowId);
  // The first request notes the use of the key as well.
  await served.ok('GET', url);
  // The key is read again if a second has passed: not in each of three requests.
  const taken: number[] = [];
  for (let request = 0; request < 3; request++) {
    const before = await statements();
    await served.ok('GET', url);
    taken.push((await statements()) - before);
  }
  expect(Math.min(...taken)).toBe(count);
});
