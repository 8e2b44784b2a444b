// Runs, their lists and their logs as the one repository that the other rooms see.

import type { StoreContext } from '../db/store-context.ts';
import { listActiveCalls, newestRunId, runsToFollow } from './active-calls.ts';
import { LeftOverRuns } from './left-over-runs.ts';
import { appendEvents, readEvents, readEventsAfter } from './run-events.ts';
import { listRuns } from './run-list.ts';
import { adoptRun, runOwner } from './run-owners.ts';
import type { RunStore } from './run-store.ts';
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

export function runStore(context: StoreContext): RunStore {
  const leftOver = new LeftOverRuns(context);
  return {
    create: (...from) => insertNewRun(context, ...from),
    get: (organizationId, id) => getRun(context, organizationId, id),
    find: (id) => findRun(context, id),
    findByProviderCall: (...from) => findByProviderCall(context, ...from),
    list: (scope, page) => listRuns(context, scope, page),
    patch: (id, patch) => patchRun(context, id, patch),
    patchInitialized: (...from) => patchInitialized(context, ...from),
    appendCallback: (...from) => appendCallback(context, ...from),
    publicToken: (id) => publicToken(context, id),
    publicTokens: (ids) => publicTokens(context, ids),
    findByToken: (token) => findByToken(context, token),
    activeCalls: (...from) => listActiveCalls(context, ...from),
    openRuns: () => leftOver.take(),
    owner: (id) => runOwner(context, id),
    adopt: (id) => adoptRun(context, id),
    countOpen: () => countOpenRuns(context),
    appendEvents: (events) => appendEvents(context, events),
    events: (runId) => readEvents(context, runId),
    eventsAfter: (...from) => readEventsAfter(context, ...from),
    toFollow: (...from) => runsToFollow(context, ...from),
    newestId: (organizationId) => newestRunId(context, organizationId),
  };
}
