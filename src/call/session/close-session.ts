// Closes the session of a connected call: stops the speech, closes the services and the recording, hangs up, closes the
// socket. Each step has a deadline; a step that fails is logged, and the next one still runs. call/end/closing closes the
// run.

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

interface Ending {
  plan: CallPlan;
  record: SessionEvents;
  audio: CallAudio | undefined;
  recording: RecordingFile | undefined;
  media: MediaSession | undefined;
  log: Log;
  /** The provider's id of the call, if known. */
  callId: string | null;
  durationS: number;
  /** Media time of the end, in milliseconds. */
  endMs: number;
  reason: EndReason;
  by: EndedBy;
}

/** Closes the session. Never rejects. */
export async function closeSession(deps: SessionDeps, ending: Ending): Promise<void> {
  const { plan, media, log, durationS, endMs, reason, by } = ending;
  const endedAt = deps.clock.now() - Math.max(0, (ending.audio?.mediaMs ?? endMs) - endMs);
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
  await attempt('close the media', () => media?.close('over'));
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

async function closeAudio(ending: Ending): Promise<void> {
  const { audio, record } = ending;
  if (audio === undefined) {
    await ending.recording?.close();
    return;
  }
  const seconds = ending.durationS;
  audio.stop();
  const recording = await audio.close();
  if (recording !== undefined) record.note({ type: 'recording.finished', ...recording });
  const { stt } = ending.plan.speech;
  for (const spoken of record.charactersSpoken) record.note({ type: 'speech.usage', ...spoken });
  if (stt === undefined || record.isCounted('stt')) return;
  record.note({ type: 'recognition.usage', service: stt.name, model: stt.model, seconds });
}

/** The id of the call to hang up; null if no hang-up is needed: the caller has hung up (unless only the media have
 *  ended), or was transferred and goes on talking. */
function callToHangUp({ by, callId, reason, plan }: Ending): string | null {
  const hasLeft = by === 'caller' && plan.provider.capabilities.closeEndsCall;
  const isGone = hasLeft || by === 'provider' || reason === 'transfer_call';
  return isGone ? null : callId;
}
