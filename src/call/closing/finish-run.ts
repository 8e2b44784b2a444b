// Closes a run from its event log: outcome, transcript file, state `completed`. Used when a call ends,
// when it never connected, and for runs that a killed process left open.

import type { CallEvent } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import { isObject } from '../../std/json.ts';
import { feedbackItems } from '../log/realtime-feedback.ts';
import { runOutcomeOf } from '../log/run-outcome.ts';
import { transcriptText } from '../log/transcript.ts';
import type { CallDeps } from '../setup/call-deps.ts';

/** Between tries to store an outcome, and how many: a quarter of an hour. */
const AGAIN_MS = 10_000;
const TRIES_MAX = 90;

export function recordingKey(runId: string): string {
  return `recordings/${runId}.wav`;
}

export function transcriptKey(runId: string): string {
  return `transcripts/${runId}.txt`;
}

interface Closing {
  events: readonly CallEvent[];
  fallbackReason: EndReason;
  settings: Record<string, unknown>;
}

type FinishDeps = Pick<CallDeps, 'store' | 'files' | 'clock' | 'log' | 'onCompleted'>;

/** Never changes a run that is completed already. Files are written before the run names them. */
export async function finishRun(deps: FinishDeps, run: Run, closing: Closing): Promise<void> {
  const { store, files, clock, log } = deps;
  const outcome = runOutcomeOf(closing.events, closing.fallbackReason);
  const transcript = transcriptText(closing.events, withEndTimestamps(closing.settings));
  const hasTranscript = transcript !== '' && (await writeTranscript(deps, run.id, transcript));
  const recording = await files.stat(recordingKey(run.id)).catch((error: unknown) => {
    log.error({ err: error, runId: run.id }, 'recording not found on the disk');
  });
  await store.runs.patch(run.id, {
    state: 'completed',
    gatheredContext: outcome.gatheredContext,
    usageInfo: outcome.usageInfo,
    costInfo: outcome.costInfo,
    disposition: outcome.disposition,
    durationS: outcome.durationS,
    logs: { realtime_feedback_events: feedbackItems(closing.events) },
    endedAt: new Date(clock.now()),
    ...(recording === undefined ? {} : { recordingKey: recordingKey(run.id) }),
    ...(hasTranscript ? { transcriptKey: transcriptKey(run.id) } : {}),
  });
  await store.workflows.addDisposition(run.workflowId, outcome.disposition);
  log.info(
    { runId: run.id, reason: outcome.reason, seconds: Math.round(outcome.durationS) },
    'run completed',
  );
  deps.onCompleted?.();
}

/** Tries again while the store is away. What it misses is closed at the next start. */
export function finishLater(deps: CallDeps, run: Run, closing: Closing, tries = 1): void {
  deps.clock.after(AGAIN_MS, () => {
    deps.events
      .flush()
      .then(() => finishRun(deps, run, closing))
      .catch((error: unknown) => {
        deps.log.error({ err: error, runId: run.id, tries }, 'outcome not stored yet');
        if (tries < TRIES_MAX) finishLater(deps, run, closing, tries + 1);
      });
  });
}

async function writeTranscript(deps: FinishDeps, runId: string, text: string): Promise<boolean> {
  try {
    await deps.files.write(transcriptKey(runId), Buffer.from(text));
    return true;
  } catch (error) {
    // The words are in the event log as well; a full disk must not keep the run open.
    deps.log.error({ err: error, runId }, 'transcript not written');
    return false;
  }
}

function withEndTimestamps(settings: Record<string, unknown>): boolean {
  const chosen = settings['transcript_configuration'];
  return isObject(chosen) && chosen['include_end_timestamps'] === true;
}
