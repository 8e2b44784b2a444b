// Runs, their lists and their event logs as one repository.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { listActiveCalls, newestRunId, runsToFollow } from './active-calls.ts';
import { noteFetched } from './pre-call-results.ts';
import { type DialledCall, RunDials } from './run-dials.ts';
import { appendEvents, readEventEnds, readEvents, readEventsAfter } from './run-events.ts';
import {
  addRecording,
  closedRuns,
  filesElsewhere,
  filesStored,
  runsWithoutRecording,
} from './run-files.ts';
import { insertNewRun } from './run-insertion.ts';
import { listRuns } from './run-list.ts';
import {
  runOwner,
  runsNotHeld,
  takeLeftRun,
  takenRuns,
  takeOrphanedRuns,
  takeTalkingRun,
  unplacedRuns,
} from './run-owners.ts';
import { searchRuns } from './run-search.ts';
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
  const dials = new RunDials(context);
  return withContext(context, {
    takeOrphaned: takeOrphanedRuns,
    takeTalking: takeTalkingRun,
    takeLeft: takeLeftRun,
    create: insertNewRun,
    get: getRun,
    find: findRun,
    findByProviderCall,
    list: listRuns,
    search: searchRuns,
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
    takeOver: (_context, id: string) => dials.takeOver(id),
    notHeld: runsNotHeld,
    noteFetched,
    dialled: (_context, call: DialledCall) => dials.dialled(call),
    taken: takenRuns,
    countOpen: countOpenRuns,
    appendEvents,
    events: readEvents,
    eventEnds: readEventEnds,
    eventsAfter: readEventsAfter,
    toFollow: runsToFollow,
    newestId: newestRunId,
    withoutRecording: runsWithoutRecording,
    addRecording,
    closed: closedRuns,
    filesStored,
    filesElsewhere,
  });
}
