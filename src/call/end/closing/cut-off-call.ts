// A call whose process was killed: its duration and end, and the destinations of warm transfers that were left without
// a party (dialled, ringing, or listening to the announcement). Derived from the run's events, its recording and the
// provider's reports. Uses no clock: the call was over long before it is closed.

import type { Log } from '../../../log.ts';
import type { CallEvent, CallEventBody } from '../../../model/call-event.ts';
import type { Run } from '../../../model/run.ts';
import { isWarmTransfer } from '../../../model/transfer-id.ts';
import { isObject } from '../../../std/json.ts';
import type { FileStore } from '../../../store/files/file-store.ts';
import { recordedSeconds } from '../../../store/files/recording-tracks.ts';
import { recordingKey } from '../../../store/files/run-files.ts';
import type { RunEnding } from './run-closing.ts';

/** Status of the entry that is stored when the provider has returned the id of the destination's call. */
export const DIALLED = 'transfer-dialled';
/** Statuses, in entries of the run's callbacks, of a destination that is connected to no other party. */
const LEFT: ReadonlySet<string> = new Set([
  DIALLED,
  'transfer-ringing',
  'transfer-answered',
  'transfer-answering-machine',
]);

/** Result for a cut-off call. `durationS` is absent for a call without audio. */
type CutOff = Pick<RunEnding, 'durationS'> & { mediaMs: number; endedAt: number };

/** Events that need a caller on the line. Others may follow for seconds after the caller has left. */
const ON_THE_LINE: ReadonlySet<CallEventBody['type']> = new Set([
  'media.started',
  'media.interrupted',
  'media.restored',
  'call.resumed',
  'call.held',
  'call.unheld',
  'node.entered',
  'user.turn',
  'user.backchannel',
  'agent.said',
  'interruption',
  'turn.latency',
  'dtmf',
]);

/** Length of the run's recording; undefined if there is none on this machine. Never rejects. */
export async function recordedMs(
  { files, log }: { files: Pick<FileStore, 'stat'>; log: Log },
  runId: string,
): Promise<number | undefined> {
  try {
    const recording = await files.stat(recordingKey(runId));
    return recording && 1_000 * recordedSeconds(recording.size);
  } catch (error) {
    log.error({ err: error, runId }, 'length of the recording not known');
    return undefined;
  }
}

/** Computes duration and end. `recorded`: the result of `recordedMs`. */
export function cutOffOf(
  run: Run,
  events: readonly CallEvent[],
  recorded: number | undefined,
): CutOff {
  const startAt = mediaStartAt(run, events);
  if (startAt === undefined) return { mediaMs: 0, endedAt: lastSignAt(run, events) };
  const answeredMs =
    run.state === 'running' ? Math.max(0, (run.startedAt?.getTime() ?? 0) - startAt) : undefined;
  const spokenMs = lastMs(events.filter(({ body }) => ON_THE_LINE.has(body.type)));
  const knownMs = recorded ?? (answeredMs ?? 0) + reportedMs(run);
  const mediaMs = Math.max(spokenMs, knownMs);
  const endedAt = startAt + mediaMs;
  if (answeredMs === undefined) return { mediaMs, endedAt };
  return { mediaMs, endedAt, durationS: Math.max(0, mediaMs - answeredMs) / 1_000 };
}

/** Usage of the speech services, as far as it is known, for a session that was killed before it noted its usage.
 *  Empty if the session has noted it. */
export function usageOf(
  run: Run,
  events: readonly CallEvent[],
  durationS: number,
): CallEventBody[] {
  if (events.some(({ body }) => body.type === 'speech.usage')) return [];
  const services = run.initialContext['runtime_configuration'];
  if (!isObject(services)) return [];
  const usage: CallEventBody[] = [];
  const {
    tts_provider: tts,
    tts_model: voice,
    stt_provider: stt,
    stt_model: recognizer,
  } = services;
  if (typeof tts === 'string') {
    const characters = heardCharacters(events);
    usage.push({ type: 'speech.usage', service: tts, model: String(voice), characters });
  }
  if (typeof stt === 'string') {
    const seconds = durationS;
    usage.push({ type: 'recognition.usage', service: stt, model: String(recognizer), seconds });
  }
  return usage;
}

/** Characters that the caller heard. Text that was synthesized beyond that is lost with the process. */
function heardCharacters(events: readonly CallEvent[]): number {
  return events.reduce(
    (sum, { body }) => sum + (body.type === 'agent.said' ? body.text.length : 0),
    0,
  );
}

/** Wall clock at media time 0; undefined before the media. `media.started` may have been lost with the process. */
export function mediaStartAt(
  { startedAt }: Pick<Run, 'startedAt'>,
  events: readonly CallEvent[],
): number | undefined {
  const started = events.find(({ body }) => body.type === 'media.started');
  return started === undefined ? startedAt?.getTime() : started.at - started.mediaMs;
}

function lastMs(events: readonly CallEvent[]): number {
  return events.reduce((last, { mediaMs }) => Math.max(last, mediaMs), 0);
}

/** Milliseconds that the call was up according to the provider; 0 if it has reported none. */
function reportedMs(run: Run): number {
  const seconds = callbacksOf(run).map(({ duration }) => duration);
  return 1_000 * Math.max(0, ...seconds.filter((each) => typeof each === 'number'));
}

/** Wall clock of the last known sign of a call without media. */
function lastSignAt(run: Run, events: readonly CallEvent[]): number {
  const reported = callbacksOf(run).map(({ timestamp }) => Date.parse(String(timestamp)));
  const known = [run.createdAt.getTime(), ...reported.filter(Number.isFinite)];
  return events.reduce((last, { at }) => Math.max(last, at), Math.max(...known));
}

/** The provider's callbacks that the store has kept: about a hundred at most. */
function callbacksOf({ logs }: Run): Record<string, unknown>[] {
  const entries = logs['telephony_status_callbacks'];
  return Array.isArray(entries) ? entries.filter(isObject) : [];
}

/** The provider's ids of calls to destinations that were left without a party, as stored when the provider returned
 *  them. Excludes destinations that are over or connected to the caller. */
export function leftDestinations({ logs }: Run, events: readonly CallEvent[]): string[] {
  const entries = logs['telephony_status_callbacks'];
  if (!Array.isArray(entries)) return [];
  const left = new Map<string, string>();
  const others = new Set(
    events.flatMap(({ body }) =>
      body.type === 'transfer.result' && !LEFT.has(`transfer-${body.outcome}`)
        ? [body.transferId]
        : [],
    ),
  );
  for (const entry of entries) {
    if (!isObject(entry)) continue;
    const { transfer_id: id, call_id: callId, status } = entry;
    if (typeof id !== 'string' || typeof callId !== 'string' || !isWarmTransfer(id)) continue;
    if (LEFT.has(String(status))) left.set(id, callId);
    else others.add(id);
  }
  for (const id of others) left.delete(id);
  return [...left.values()];
}
