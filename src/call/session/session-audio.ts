// One call's audio as its plan, its provider's media and the process' services make it.

import { codecByName } from '../../codec/registry.ts';
import type { Log } from '../../log.ts';
import { CallAudio } from '../../pipeline/call-audio.ts';
import type { CallAudioListener } from '../../pipeline/call-audio-listener.ts';
import type { AnsweredBy } from '../../pipeline/listen/answering-machine-detector.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaStart } from '../../telephony/provider/media-protocol.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { createMachineDetector } from '../setup/answering-machine.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import { turnSettings } from './turn-settings.ts';

interface AudioParts {
  plan: CallPlan;
  start: MediaStart;
  link: MediaSession;
  recording: RecordingFile | undefined;
  clock: Clock;
  listener: CallAudioListener;
  onAnsweredBy: (answeredBy: AnsweredBy) => void;
  log: Log;
}

/** It is recorded, and heard from `listen` on. Throws MEDIA_CODEC. */
export function openAudio(
  { mediaClock, vad, stt, tts, voice }: CallDeps,
  { plan, start, link, onAnsweredBy, ...parts }: AudioParts,
): CallAudio {
  const { marks, leadMs } = link.traits;
  return new CallAudio({
    ...parts,
    isDeaf: true,
    mediaClock,
    vad,
    stt,
    tts,
    voice,
    hearsKeys: !plan.provider.capabilities.digitsIn,
    codecIn: codecByName(start.codecIn),
    codecOut: codecByName(start.codecOut),
    wire: link,
    inflow: link.inflow,
    lead: { aimMs: leadMs.aim, maxMs: leadMs.max, stepMs: leadMs.step },
    marks,
    tuning: turnSettings(plan.settings),
    ambient: plan.ambient,
    machine: createMachineDetector(plan, onAnsweredBy),
  });
}
