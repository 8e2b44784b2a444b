// Runs, their lists and their event logs as one repository.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { listActiveCalls, newestRunId, runsToFollow } from './active-calls.ts';
import { LeftOverRuns } from './left-over-runs.ts';
import { appendEvents, readEvents, readEventsAfter } from './run-events.ts';
import { takenRuns } from './run-fencing.ts';
import { listRuns } from './run-list.ts';
import { adoptRun, runOwner } from './run-owners.ts';
import { findByToken, publicToken, publicTokens } from './run-tokens.ts';
import {
  appendCallback,
  countOpenRuns,
  findByProviderCall,
  findRun,
  getRun,
  insertNewRun,
  patchInitialized,
  patchRun,
} from './runs.ts';

export type RunStore = ReturnType<typeof runStore>;

export function runStore(context: StoreContext) {
  const leftOver = new LeftOverRuns(context);
  return withContext(context, {
    openRuns: () => leftOver.take(),
    create: insertNewRun,
    get: getRun,
    find: findRun,
    findByProviderCall,
    list: listRuns,
    patch: patchRun,
    patchInitialized,
    appendCallback,
    publicToken,
    publicTokens,
    findByToken,
    activeCalls: listActiveCalls,
    owner: runOwner,
    adopt: adoptRun,
    taken: takenRuns,
    countOpen: countOpenRuns,
    appendEvents,
    events: readEvents,
    eventsAfter: readEventsAfter,
    toFollow: runsToFollow,
    newestId: newestRunId,
  });
}
