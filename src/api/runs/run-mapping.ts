// A run as clients get it. In lists the heavy parts are null. Source: specification §2.5, contract decision 3 and §6.2.

import { effectiveEvents } from '../../call/events/event-log.ts';
import { feedbackItems } from '../../call/events/realtime-feedback.ts';
import { type CallStatus, callStatus, isStatusTransitionAllowed } from '../../model/provider.ts';
import {
  type Artifact,
  type Run,
  type RunFieldFacts,
  runFieldNames,
  runFields,
} from '../../model/run.ts';
import { isObject } from '../../std/json.ts';
import { artifactKey, linkTo, publicUrlOf } from '../files/run-artifacts.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { isoTime } from '../http/values.ts';
import type { FieldsOut, RunOut } from './run-schema.ts';

/** A run with all its parts. A run with files gets its public token here, and a new one after that has expired. */
export async function runDetail(deps: ApiDeps, run: Run): Promise<RunOut> {
  const hasFiles = run.recordingKey !== null || run.transcriptKey !== null;
  const token = hasFiles ? await deps.store.runs.publicToken(run.id) : null;
  const publicUrl = (artifact: Artifact): string | null =>
    token === null || artifactKey(run, artifact) === null
      ? null
      : publicUrlOf(deps, token, artifact);
  return {
    ...runListItem(deps, run),
    ...fieldsOut(run, { isDetail: true }),
    transcript_public_url: publicUrl('transcript'),
    recording_public_url: publicUrl('recording'),
    user_recording_public_url: publicUrl('user_recording'),
    bot_recording_public_url: publicUrl('bot_recording'),
    public_access_token: token,
    logs: await logsOf(deps, run),
  };
}

/** Logs of a run. During a call they come from its event log, at most a second old. */
async function logsOf({ store }: Pick<ApiDeps, 'store'>, run: Run): Promise<RunOut['logs']> {
  if (run.state !== 'running') return run.logs;
  const events = await store.runs.events(run.id);
  return { ...run.logs, realtime_feedback_events: feedbackItems(effectiveEvents(events)) };
}

export function runListItem(deps: ApiDeps, run: Run): RunOut {
  const url = (artifact: Artifact): string | null => {
    const key = artifactKey(run, artifact);
    return key === null ? null : linkTo(deps, key);
  };
  return {
    ...fieldsOut(run, { isDetail: false }),
    is_completed: run.state === 'completed',
    transcript_url: url('transcript'),
    recording_url: url('recording'),
    user_recording_url: url('user_recording'),
    bot_recording_url: url('bot_recording'),
    transcript_public_url: null,
    recording_public_url: null,
    user_recording_public_url: null,
    bot_recording_public_url: null,
    public_access_token: null,
    status: statusOf(run),
  };
}

/** The run's fields under their names in the API. */
function fieldsOut(run: Run, { isDetail }: { isDetail: boolean }): FieldsOut {
  const fields: Record<string, unknown> = {};
  for (const name of runFieldNames) {
    const { api }: RunFieldFacts = runFields[name];
    if (api === undefined) continue;
    const value = run[name];
    const out = value instanceof Date ? isoTime(value) : value;
    fields[api.name] = api.isDetail && !isDetail ? null : out;
  }
  return fields as FieldsOut; // Both follow `runFields`.
}

/** End reasons, which are statuses too, of calls that reached no person. */
const UNREACHED = ['busy', 'no-answer', 'failed', 'canceled', 'error'] as const;

/** Status in the form of a provider's call status: the provider's last one, or derived from how the call ended. */
function statusOf(run: Run): RunOut['status'] {
  if (run.state === 'running') return 'in-progress';
  if (run.state === 'initialized') return furthestCallback(run) ?? 'initiated';
  const reason = run.gatheredContext['call_status'] ?? run.disposition;
  return UNREACHED.find((each) => each === reason) ?? 'completed';
}

interface Callback {
  status: CallStatus;
  sequence: number;
}

/** The furthest call status of the callbacks, which arrive in any order; the provider's count decides within a
 *  stage. Other entries are ignored. */
function furthestCallback({ logs }: Run): CallStatus | undefined {
  const entries = logs['telephony_status_callbacks'];
  if (!Array.isArray(entries)) return undefined;
  let furthest: Callback | undefined;
  for (const entry of entries.map(callbackOf)) {
    if (entry !== undefined && isFurther(entry, furthest)) furthest = entry;
  }
  return furthest?.status;
}

function isFurther(one: Callback, other: Callback | undefined): boolean {
  if (other === undefined || isStatusTransitionAllowed(one.status, other.status)) return true;
  return !isStatusTransitionAllowed(other.status, one.status) && one.sequence > other.sequence;
}

function callbackOf(entry: unknown): Callback | undefined {
  if (!isObject(entry)) return undefined;
  const { data: status } = callStatus.safeParse(entry['status']);
  if (status === undefined) return undefined;
  const { sequence } = entry;
  return { status, sequence: typeof sequence === 'number' ? sequence : -1 };
}
