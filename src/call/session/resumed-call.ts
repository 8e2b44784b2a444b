// A call that goes on in another process than before: what its log says about where it stands. The state of the
// conversation is rebuilt (events/state-rebuild); this file decides whether the call can go on, and from which time.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import { isFinal } from '../../workflow/engine/ending.ts';
import type { DialogueEngine, DialogueState } from '../../workflow/engine.ts';
import { mediaStartAt } from '../end/closing/cut-off-call.ts';
import { type RebuildFault, rebuildState } from '../events/state-rebuild.ts';
import type { NodePlace } from './dialogue/dialogue-record.ts';

export interface ResumedCall {
  state: DialogueState;
  /** The last event of the log that is in the state. */
  afterSeq: number;
  /** Facts of the state that the log does not have. */
  unlogged: readonly CallEventBody[];
  /** Wall clock at media time 0, milliseconds since 1970. */
  mediaStartAt: number;
  /** Media time of the answer, in milliseconds. */
  answeredMs: number;
  /** Media time of the last sign of the former process, in milliseconds. */
  lastMs: number;
  /** Length of the recording so far, in milliseconds; undefined if it is not on this machine. */
  recordedMs: number | undefined;
  /** Length of the opened file, in milliseconds: its end is silent from `recordedMs` on. */
  writtenMs: number;
}

/** Why a call cannot go on: it has ended or is about to, or its state is not known. */
export type ResumeRefusal = { why: 'over' } | RebuildFault;

/** Where the call stands at `now` (wall clock). `recordedMs`: the length of its recording, if it is on this machine. */
export function resumedCallOf(
  { run, engine }: { run: Run; engine: DialogueEngine },
  events: readonly CallEvent[],
  { recordedMs, now }: { recordedMs: number | undefined; now: number },
): ResumedCall | ResumeRefusal {
  const runContext = run.initialContext;
  const { state, seq, unlogged, fault } = rebuildState({ engine, events, runContext });
  const has = (type: CallEventBody['type']) => events.some(({ body }) => body.type === type);
  const isUntouched = fault?.why === 'not-recorded' && !has('node.entered');
  if (fault !== undefined && fault.why !== 'cut-off' && !isUntouched) return fault;
  const isOver = state.phase === 'ending' || state.phase === 'ended' || has('call.ended');
  const startAt = mediaStartAt(run, events);
  if (isOver || startAt === undefined) return { why: 'over' };
  return {
    state,
    afterSeq: seq,
    unlogged,
    mediaStartAt: startAt,
    answeredMs: Math.max(0, (run.startedAt?.getTime() ?? startAt) - startAt),
    lastMs: events.reduce((last, { mediaMs }) => Math.max(last, mediaMs), recordedMs ?? 0),
    recordedMs,
    writtenMs: Math.floor(Math.max(now - startAt, recordedMs ?? 0)),
  };
}

/** The log entry of a call that goes on at that media time. */
export function resumedEntry(
  { afterSeq, lastMs, recordedMs }: ResumedCall,
  mediaMs: number,
): CallEventBody {
  const gapMs = Math.max(0, Math.round(mediaMs - lastMs));
  const recordingGapMs = Math.max(0, Math.round(mediaMs - (recordedMs ?? 0)));
  return { type: 'call.resumed', afterSeq, gapMs, recordingGapMs };
}

/** Whether the conversation has begun, and nothing ends it. Media of a call that is being transferred end in any way. */
export function isUnderWay(state: DialogueState): boolean {
  const isOver = state.phase === 'ending' || state.phase === 'ended' || isFinal(state);
  return state.phase !== 'before' && !isOver && state.tools?.next.what !== 'transfer';
}

/** The node in which the call stands. */
export function placeOf(engine: DialogueEngine, { state }: ResumedCall): NodePlace {
  const { lastNode } = engine.summarize(state);
  return { nodeId: lastNode?.id ?? null, nodeName: lastNode?.name ?? null };
}
