// The closing order of a call: stop speaking, close the services and the recording, hang up, close the
// socket, store the outcome. Each step has a deadline; one that fails is logged and the next still runs.

import type { Log } from '../../log.ts';
import { callSeconds, callsEnded } from '../../metrics/metrics.ts';
import type { CallEvent } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import { deadlineSignal, withDeadline } from '../../std/deadline.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { finishLater, finishRun } from '../closing/finish-run.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import type { SessionEvents } from './session-events.ts';

export type EndedBy = 'caller' | 'agent' | 'provider' | 'gateway';

/** Services and recording close within this time. */
const AUDIO_CLOSE_MS = 5_000;
const HANG_UP_MS = 5_000;
const STORE_MS = 10_000;

interface Ending {
  plan: CallPlan;
  record: SessionEvents;
  events: readonly CallEvent[];
  audio: CallAudio | undefined;
  recording: RecordingFile | undefined;
  link: MediaSession | undefined;
  log: Log;
  /** The provider's id of the call, as far as we know it. */
  callId: string | null;
  durationS: number;
  reason: EndReason;
  by: EndedBy;
}

export async function closeSession(deps: CallDeps, ending: Ending): Promise<void> {
  const { plan, record, link, log } = ending;
  const attempt = (what: string, ms: number, work: () => Promise<unknown>) =>
    withDeadline(deps.clock, ms, what, work()).then(
      () => true,
      (error: unknown) => {
        log.error({ err: error, step: what }, 'closing step failed');
        return false;
      },
    );

  const { durationS } = ending;
  await attempt('close the audio', AUDIO_CLOSE_MS, () => closeAudio(deps, ending));
  await attempt('hang up', HANG_UP_MS, () => hangUp(deps, ending));
  link?.close();
  record.note({ type: 'call.ended', reason: ending.reason, by: ending.by, durationS });
  await attempt('store the events', STORE_MS, () => deps.events.flush());
  const { events, reason: fallbackReason } = ending;
  const closing = { events, fallbackReason, settings: plan.storedSettings };
  const isStored = await attempt('store the outcome', STORE_MS, () =>
    finishRun(deps, plan.run, closing),
  );
  if (!isStored) finishLater(deps, plan.run, closing);
  const provider = plan.provider.name;
  callsEnded.inc({ provider, reason: ending.reason });
  callSeconds.observe({ provider }, durationS);
}

async function closeAudio(deps: CallDeps, ending: Ending): Promise<void> {
  const { audio, record } = ending;
  if (audio === undefined) {
    await ending.recording?.close();
    return;
  }
  const seconds = ending.durationS;
  audio.stop();
  const recording = await audio.close();
  if (recording !== undefined) record.note({ type: 'recording.finished', ...recording });
  const { tts, stt } = deps;
  record.note({
    type: 'speech.usage',
    service: tts.name,
    model: tts.model,
    characters: record.charactersSpoken,
  });
  if (stt === undefined) return;
  record.note({ type: 'recognition.usage', service: stt.name, model: stt.model, seconds });
}

/** A caller who hung up is gone already; one who was handed over goes on talking. */
async function hangUp(deps: CallDeps, ending: Ending): Promise<void> {
  const { plan, by, callId, reason } = ending;
  const isGone = by === 'caller' || by === 'provider' || reason === 'transfer_call';
  if (isGone || callId === null) return;
  const deadline = deadlineSignal(deps.clock, HANG_UP_MS, 'hang up');
  try {
    await plan.provider.control.hangUp(plan.configuration.credentials, callId, deadline.signal);
  } finally {
    deadline.done();
  }
}
