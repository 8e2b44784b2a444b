// How runs begin on a client's word: by a request that may come twice, or first without a call. The
// statements are in run-starts.ts.

import type { Run } from '../../model/run.ts';
import type { NewRun } from './new-run.ts';

/** What a client named its request for a call, and what it asked for. */
export interface StartKey {
  key: string;
  /** The same for the same request: SHA-256, hexadecimal. */
  requestHash: string;
}

export interface StartedRun {
  run: Run;
  /** False if it was begun before, by a request with the same key or by the same call. */
  isNew: boolean;
}

/** The call of a run that was created without one. */
export interface CallOfRun {
  organizationId: string;
  workflowId: string;
  runId: string;
  mode: string;
  configurationId: string;
  /** Merged into the run's. */
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
}

export interface RunStartStore {
  /** The run that a request with this key began within the last day. Throws START_KEY_REUSED. */
  startedBy(organizationId: string, key: StartKey): Promise<Run | undefined>;
  /** Throws CALL_LIMIT_REACHED, START_KEY_REUSED. Run and key are stored together or not at all. */
  start(input: NewRun, limit: number, key: StartKey | undefined): Promise<StartedRun>;
  /** Whether the run was created without a call and has not been started. */
  isIdle(runId: string): Promise<boolean>;
  /** A run without a call; it takes no one's place. */
  createIdle(input: NewRun): Promise<Run>;
  /** The same for a run without a call. Throws RUN_NOT_FOUND, RUN_HAS_CALL, RUN_OF_OTHER_WORKFLOW, then
   *  what `start` throws. */
  startIdle(call: CallOfRun, limit: number, key: StartKey | undefined): Promise<StartedRun>;
}
