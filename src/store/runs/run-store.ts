// Runs, their lists and their event logs as one repository.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { listActiveCalls, newestRunId, runsToFollow } from './active-calls.ts';
import { type DialledCall, RunDials } from './run-dials.ts';
import { appendEvents, readEvents, readEventsAfter } from './run-events.ts';
import { insertNewRun } from './run-insertion.ts';
import { listRuns } from './run-list.ts';
import { LeftOverRuns, runOwner, takenRuns, unplacedRuns } from './run-owners.ts';
import { findByToken, publicToken, publicTokens } from './run-tokens.ts';
import {
  appendCallback,
  countOpenRuns,
  findByProviderCall,
  findRun,
  getRun,
  patchInitialized,
  patchRun,
} from './runs.ts';

export type RunStore = ReturnType<typeof runStore>;

export function runStore(context: StoreContext) {
  const leftOver = new LeftOverRuns(context);
  const dials = new RunDials(context);
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
    unplaced: unplacedRuns,
    adopt: (_context, id: string) => dials.adopt(id),
    dialled: (_context, call: DialledCall) => dials.dialled(call),
    taken: takenRuns,
    countOpen: countOpenRuns,
    appendEvents,
    events: readEvents,
    eventsAfter: readEventsAfter,
    toFollow: runsToFollow,
    newestId: newestRunId,
  });
}
