// Closes runs. Every end of a call or a text chat passes through this file, in this order: claim the end in the event
// log, hang up, store the events, write the transcript, complete the run, release the log, notify.
// A second closer or a kill at each step, and all deadlines: docs/closing.md.

import type { Log } from '../../../log.ts';
import { callSeconds, callsEnded } from '../../../metrics/metrics.ts';
import type { CallEvent } from '../../../model/call-event.ts';
import { type EndReason, faultReasons } from '../../../model/end-reason.ts';
import { costOf, type PriceTable } from '../../../model/price-table.ts';
import type { ProviderName } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { isObject } from '../../../std/json.ts';
import type { Spool } from '../../../store/files/file-store.ts';
import { recordingKey, transcriptKey } from '../../../store/files/run-files.ts';
import type { Store } from '../../../store/store.ts';
import type { EventLog, RunLog } from '../../events/event-log.ts';
import { effectiveEvents } from '../../events/event-log.ts';
import { feedbackItems } from '../../events/realtime-feedback.ts';
import { type RunOutcome, runOutcomeOf } from '../../events/run-outcome.ts';
import { runSummaryOf } from '../../events/run-summary.ts';
import { transcriptLines, transcriptText } from '../../events/transcript.ts';

/** Deadline for storing the events, and again for the outcome: a slower store counts as unavailable. On a busy machine
 *  one statement may wait 10 s for its turn, and as long for its answer. */
const STORE_MS_MAX = 30_000;
/** Interval of the attempts to store an outcome, and their number: a quarter of an hour. */
const AGAIN_MS = 10_000;
const TRIES_MAX = 90;
/** Items stored with the run, about 6 MB: two hours of a talkative call, the last ones of a longer call. The event
 *  log has all. */
const FEEDBACK_ITEMS_MAX = 20_000;

export type EndedBy = 'caller' | 'agent' | 'provider' | 'gateway';

export interface RunEnding {
  reason: EndReason;
  by: EndedBy;
  /** Seconds since the answer. Default: 0, the call was never connected. */
  durationS?: number;
  /** Media time of the end, in milliseconds. Default: 0. */
  mediaMs?: number;
  /** When the call ended, milliseconds since 1970. Default: now. */
  endedAt?: number;
  /** The fault, if there was one: becomes a fatal fault of the run. */
  fault?: { code: string; message: string };
  /** Counts the call among those that ended at this provider, and its length if it has a duration. */
  provider?: ProviderName;
  /** Workflow configurations of the version that ran. Default: read if there is a transcript to write. */
  settings?: Record<string, unknown>;
  /** Whether a review or webhook follows. Default: read from the agent. */
  hasAfterwork?: boolean;
  /** Run by the closer that claims the end, before anything is stored. Must not reject. */
  onClaimed?: () => Promise<void>;
  /** Run before the run is completed, in each attempt. If it rejects, the closing has failed. */
  onCompleting?: () => Promise<unknown>;
}

export interface RunClosingDeps {
  store: Pick<Store, 'runs' | 'workflows' | 'serviceFaults'>;
  /** Files on this gateway's disk: the end of a call waits for no other machine. */
  files: Pick<Spool, 'stat' | 'write'>;
  events: EventLog;
  /** Price table; undefined: runs have no cost. */
  prices?: PriceTable | undefined;
  clock: Clock;
  log: Log;
}

type Ended = Pick<RunEnding, 'reason' | 'settings' | 'hasAfterwork'>;

/** Facts about a completed run for other parts of this process. */
export type CompletedRun = { runId: string; hasAfterwork: boolean };

export class RunClosing {
  readonly #deps: RunClosingDeps;
  /** Closings in progress, by run: a second closer in this process waits for the first. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Called for every run that is completed in this process. Must not throw. */
  onCompleted: ((completed: CompletedRun) => void) | undefined;

  constructor(deps: RunClosingDeps) {
    this.#deps = deps;
  }

  /** Closes the run of a call. Of several closers the first one's reason counts; a closing may be repeated after
   *  a failure. Throws STORE_UNAVAILABLE, TIMED_OUT. */
  end(run: Run, ending: RunEnding): Promise<void> {
    return this.#once(run, async () => {
      const runLog = await this.#deps.events.open(run.id);
      await this.#claim(runLog, ending);
      await this.#flush(run);
      await ending.onCompleting?.();
      await this.#complete(run, runLog, ending);
      this.#deps.events.release(run.id); // After a failure it stays, for the next attempt.
      this.#deps.events.live.notifyStored([run.id]);
      this.onCompleted?.({ runId: run.id, hasAfterwork: ending.hasAfterwork ?? true });
    });
  }

  /** Like `end`, for a closer without a retry of its own. Never rejects: while the store is away it tries again;
   *  if it gives up, crash recovery closes the run at the next start. */
  async endSurely(run: Run, ending: RunEnding, tries = 1): Promise<void> {
    const { clock, log, events } = this.#deps;
    try {
      await this.end(run, ending);
    } catch (error) {
      log.error({ err: error, runId: run.id, tries }, 'outcome not stored yet');
      if (tries < TRIES_MAX) {
        clock.after(AGAIN_MS, () => void this.endSurely(run, ending, tries + 1));
      } else {
        events.release(run.id);
      }
    }
  }

  /** Closes a run whose end is already in its log, such as a text chat's. Throws STORE_UNAVAILABLE, TIMED_OUT. */
  finish(run: Run, ended: Ended): Promise<void> {
    return this.#once(run, async () => {
      const { events } = this.#deps;
      try {
        await this.#complete(run, await events.open(run.id), ended);
      } finally {
        events.release(run.id);
      }
      events.live.notifyStored([run.id]);
      this.onCompleted?.({ runId: run.id, hasAfterwork: ended.hasAfterwork ?? true });
    });
  }

  #once(run: Run, close: () => Promise<void>): Promise<void> {
    const known = this.#underWay.get(run.id);
    if (known !== undefined) return known;
    const closing = close().finally(() => this.#underWay.delete(run.id));
    this.#underWay.set(run.id, closing);
    return closing;
  }

  /** All closers in this process share the log object: the one that appends the end first has claimed it. */
  async #claim({ events, append }: RunLog, ending: RunEnding): Promise<void> {
    if (events.some(({ body }) => body.type === 'call.ended')) return;
    const { reason, by, durationS, mediaMs = 0, endedAt, fault, provider } = ending;
    if (fault !== undefined) append({ type: 'fault', ...fault, fatal: true }, mediaMs, endedAt);
    append({ type: 'call.ended', reason, by, durationS: durationS ?? 0 }, mediaMs, endedAt);
    if (provider !== undefined) {
      callsEnded.inc({ provider, reason });
      if (durationS !== undefined) callSeconds.observe({ provider }, durationS);
    }
    await ending.onClaimed?.();
  }

  /** Stores the run's events. Events that the store refuses now stay in the queue; the outcome does not need them. */
  async #flush({ id }: Run): Promise<void> {
    const { clock, events, log } = this.#deps;
    await withDeadline(clock, STORE_MS_MAX, 'store the events', events.flush()).catch(
      (error: unknown) => log.warn({ err: error, runId: id }, 'events not stored in time'),
    );
  }

  /** Stores the outcome. Never changes how a completed run ended. Files are written before the run names them, and
   *  the workflow lists the disposition before the run is completed: after a kill in between, the run is still open. */
  async #complete(run: Run, { events }: RunLog, ended: Ended): Promise<void> {
    const { clock, store, log } = this.#deps;
    const counting = effectiveEvents(events);
    const outcome = runOutcomeOf(counting, ended.reason);
    const { faults, worked } = serviceResultsOf(counting);
    const storing = async (): Promise<void> => {
      const files = await this.#files(run, counting, ended.settings);
      await store.workflows.addDisposition(run.workflowId, outcome.disposition);
      await store.runs.patch(run.id, {
        ...this.#patch(outcome, counting),
        ...files,
        servicesWorked: worked,
        summary: runSummaryOf(counting, run, outcome),
        ...(ended.hasAfterwork === false ? { hasAfterwork: false } : {}),
      });
      await this.#noteFaults(run, faults);
    };
    await withDeadline(clock, STORE_MS_MAX, 'store the outcome', storing());
    const seconds = Math.round(outcome.durationS);
    const facts = { runId: run.id, reason: outcome.reason, seconds };
    const faultCodes = faultReasons.has(outcome.reason) ? faultCodesOf(counting) : [];
    if (faultCodes.length === 0) log.info(facts, 'run completed');
    else log.warn({ ...facts, faultCodes }, 'run completed');
  }

  /** Notes faults of speech services for their owner. The run is completed even if this fails. */
  async #noteFaults(
    { id: runId, organizationId }: Run,
    faults: readonly MetServiceFault[],
  ): Promise<void> {
    const { store, log } = this.#deps;
    try {
      for (const fault of faults) await store.serviceFaults.note({ organizationId, runId }, fault);
    } catch (error) {
      log.warn({ err: error, runId }, 'faults of speech services not stored');
    }
  }

  #patch({ reason: _, endedAt, ...fields }: RunOutcome, events: readonly CallEvent[]) {
    const { prices } = this.#deps;
    const cost = prices && costOf(fields.usageInfo, prices);
    return {
      state: 'completed' as const,
      ...fields,
      costInfo: { ...fields.costInfo, ...cost },
      logs: { realtime_feedback_events: feedbackItems(events).slice(-FEEDBACK_ITEMS_MAX) },
      endedAt: new Date(endedAt ?? this.#deps.clock.now()),
    };
  }

  /** The keys of the recording and of the transcript, where they exist. */
  async #files(
    run: Run,
    events: readonly CallEvent[],
    settings: Record<string, unknown> | undefined,
  ): Promise<{ recordingKey?: string; transcriptKey?: string }> {
    const { files, log } = this.#deps;
    const hasTranscript = await this.#writeTranscript(run, events, settings);
    const recording = await files.stat(recordingKey(run.id)).catch((error: unknown) => {
      log.error({ err: error, runId: run.id }, 'recording not found on the disk');
    });
    return {
      // An empty file: the media ended before any audio.
      ...(recording === undefined || recording.size === 0
        ? {}
        : { recordingKey: recordingKey(run.id) }),
      ...(hasTranscript ? { transcriptKey: transcriptKey(run.id) } : {}),
    };
  }

  async #writeTranscript(
    run: Run,
    events: readonly CallEvent[],
    known: Record<string, unknown> | undefined,
  ): Promise<boolean> {
    if (transcriptLines(events).length === 0) return false;
    const { files, log, store } = this.#deps;
    const settings =
      known ?? (await store.workflows.version(run.workflowId, run.definitionId))?.configurations;
    const text = transcriptText(events, withEndTimestamps(settings));
    try {
      await files.write(transcriptKey(run.id), Buffer.from(text));
      return true;
    } catch (error) {
      // The event log has the words as well; a full disk must not keep the run open.
      log.error({ err: error, runId: run.id }, 'transcript not written');
      return false;
    }
  }
}

function withEndTimestamps(settings: Record<string, unknown> | undefined): boolean {
  const chosen = settings?.['transcript_configuration'];
  return isObject(chosen) && chosen['include_end_timestamps'] === true;
}

/** Fault codes without duplicates, in the order of the log. */
function faultCodesOf(events: readonly CallEvent[]): string[] {
  const codes = events.flatMap(({ body }) => (body.type === 'fault' ? [body.code] : []));
  return [...new Set(codes)];
}

type MetServiceFault = Parameters<Store['serviceFaults']['note']>[1];
type ServiceName = Pick<MetServiceFault, 'job' | 'service'>;

interface ServiceResults {
  /** The last fault of each service. */
  faults: MetServiceFault[];
  worked: ServiceName[];
}

const JOBS = { 'model.usage': 'llm', 'speech.usage': 'tts', 'recognition.usage': 'stt' } as const;

/** Results of a call's speech services, from its log: services with a fault that lasts until their owner changes
 *  something, and services that worked. A service with such a fault did not work, even if it did before or after. */
function serviceResultsOf(events: readonly CallEvent[]): ServiceResults {
  const faults = new Map<string, MetServiceFault>();
  const worked = new Map<string, ServiceName>();
  for (const { body } of events) {
    if (body.type === 'fault') {
      if (body.service === undefined) continue;
      const { job, name: service, kind, detail } = body.service;
      faults.set(`${job} ${service}`, { job, service, kind, detail });
    } else if (
      body.type === 'model.usage' ||
      body.type === 'speech.usage' ||
      body.type === 'recognition.usage'
    ) {
      const job = JOBS[body.type];
      worked.set(`${job} ${body.service}`, { job, service: body.service });
    }
  }
  for (const key of faults.keys()) worked.delete(key);
  return { faults: [...faults.values()], worked: [...worked.values()] };
}
