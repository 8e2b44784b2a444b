// Closes the session of a connected call: stops the speech, closes the services and the recording, hangs up, closes the
// socket. Each step has a deadline; a step that fails is logged, and the next one still runs. call/end/closing closes the
// run.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import { withDeadline } from '../../std/deadline.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import type { EndedBy } from '../end/closing/run-closing.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { SessionDeps } from './session-deps.ts';
import type { SessionEvents } from './session-events.ts';

/** Deadline for closing the services and the recording. */
const AUDIO_CLOSE_MS = 5_000;
/** Shortest talk in which the caller's audio is missing, in seconds: it begins within one. */
const AUDIO_MISSING_S_MIN = 3;

interface Ending {
  plan: CallPlan;
  record: SessionEvents;
  audio: CallAudio | undefined;
  recording: RecordingFile | undefined;
  /** Whether another process has begun the call, and has used services. */
  isResumed: boolean;
  media: MediaSession | undefined;
  log: Log;
  /** The provider's id of the call, if known. */
  callId: string | null;
  durationS: number;
  /** Media time of the end, and of this moment, in milliseconds. */
  endMs: number;
  mediaMs: number;
  reason: EndReason;
  by: EndedBy;
  /** Whether another process has taken the run, and the call with it. */
  isTaken: boolean;
}

/** Closes the session. Never rejects. */
export async function closeSession(deps: SessionDeps, ending: Ending): Promise<void> {
  const { plan, media, log, durationS, endMs, mediaMs, reason, by } = ending;
  const endedAt = deps.clock.now() - Math.max(0, mediaMs - endMs);
  const attempt = async (step: string, work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error({ err: error, step }, 'closing step failed');
    }
  };

  const audioClosed = closeAudio(ending);
  const closing = withDeadline(deps.clock, AUDIO_CLOSE_MS, 'close the audio', audioClosed);
  const callId = callToHangUp(ending);
  // Recognisers take up to two seconds for their last words: the hang-up does not wait for them.
  await Promise.all([
    attempt('close the audio', () => closing).then(() =>
      attempt('release the services', () => plan.speech.release?.()),
    ),
    callId === null ? undefined : attempt('hang up', () => deps.hangUps.hangUp(plan, callId)),
  ]);
  await attempt('close the media', () => media?.close(ending.isTaken ? 'taken' : 'over', reason));
  await deps.closing.endSurely(plan.run, {
    reason,
    by,
    durationS,
    mediaMs: endMs,
    endedAt,
    provider: plan.provider.name,
    settings: plan.storedSettings,
    hasAfterwork: plan.hasAfterwork,
  });
}

/** Closes the services of a call that another session goes on with, and its recording, which that one continues. Never
 *  rejects. */
export async function leaveSession(
  { clock }: Pick<SessionDeps, 'clock'>,
  { plan, audio, media, log }: Pick<Ending, 'plan' | 'audio' | 'media' | 'log'>,
): Promise<void> {
  try {
    audio?.stop();
    const closed = audio?.close() ?? Promise.resolve(undefined);
    await withDeadline(clock, AUDIO_CLOSE_MS, 'close the audio', closed);
    await plan.speech.release?.();
  } catch (error) {
    log.error({ err: error }, 'services of a call that goes on not closed');
  }
  media?.close('unwanted');
}

async function closeAudio(ending: Ending): Promise<void> {
  const { audio, record } = ending;
  audio?.stop();
  noteMissingAudio(ending);
  const recording = await (audio ?? ending.recording)?.close();
  if (recording !== undefined) record.note({ type: 'recording.finished', ...recording });
  if (audio === undefined && !ending.isResumed) return;
  const seconds = ending.durationS;
  const { stt } = ending.plan.speech;
  for (const spoken of record.charactersSpoken) record.note({ type: 'speech.usage', ...spoken });
  if (stt === undefined || record.isCounted('stt')) return;
  record.note({ type: 'recognition.usage', service: stt.name, model: stt.model, seconds });
}

/** Notes one-way audio: media that were connected for a while, and brought nothing of the caller. */
function noteMissingAudio({ audio, record, durationS, isResumed }: Ending): void {
  if (audio === undefined || audio.hasHeard || isResumed || durationS < AUDIO_MISSING_S_MIN) return;
  const seconds = Math.round(durationS);
  record.fault(new GatewayError('CALLER_AUDIO_MISSING', { seconds }), false);
}

/** The id of the call to hang up; null if no hang-up is needed: the caller has hung up (unless only the media have
 *  ended), or was transferred and goes on talking, or goes on in another process. */
function callToHangUp({ by, callId, reason, plan, isTaken }: Ending): string | null {
  const { closeEndsCall, afterMedia } = plan.provider.capabilities;
  const hasLeft = by === 'caller' && closeEndsCall;
  const goesOn = reason === 'transfer_call' || (isTaken && afterMedia === 'stays');
  const isGone = hasLeft || by === 'provider' || goesOn;
  return isGone ? null : callId;
}
