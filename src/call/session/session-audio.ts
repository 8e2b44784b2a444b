// Builds one call's audio from its plan, its provider's media and the process's services.

import { codecByName } from '../../codec/registry.ts';
import type { Log } from '../../log.ts';
import type { WorkflowConfigurations } from '../../model/workflow.ts';
import { CallAudio } from '../../pipeline/call-audio.ts';
import type { CallAudioEvent } from '../../pipeline/call-audio-event.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import { defaultTuning, type TurnTuning } from '../../pipeline/turn/turn-tuning.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSession, MediaStart } from '../../telephony/provider/media-session.ts';
import { machineDetectionOf } from '../start/setup/answering-machine.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { CallServices } from '../start/setup/call-services.ts';

interface AudioParts {
  plan: CallPlan;
  start: MediaStart;
  media: MediaSession;
  recording: RecordingFile | undefined;
  clock: Clock;
  onEvent: (event: CallAudioEvent) => void;
  log: Log;
}

/** Opens the call's audio, which is recorded at once and processed from `listen` on. Throws MEDIA_CODEC. */
export function openAudio(
  { mediaClock, vad }: CallServices,
  { plan, start, media, ...parts }: AudioParts,
): CallAudio {
  const { marks, lead } = media.traits;
  return new CallAudio({
    ...parts,
    isInputMuted: true,
    mediaClock,
    vad,
    stt: plan.speech.stt,
    tts: plan.speech.tts,
    voice: plan.speech.voice,
    language: plan.speech.language,
    wordsLanguage: plan.speech.wordsLanguage,
    agentLanguage: plan.settings.agent_language,
    detectsInBandDtmf: !plan.provider.capabilities.digitsIn,
    codecIn: codecByName(start.codecIn),
    codecOut: codecByName(start.codecOut),
    wire: media,
    inflow: media.inflow,
    lead,
    marks,
    tuning: turnSettings(plan.settings),
    ambient: plan.ambient,
    machine: machineDetectionOf(plan),
  });
}

/** Converts a workflow's turn settings (contract §5.5) to the pipeline's. */
function turnSettings(settings: WorkflowConfigurations): TurnTuning {
  return {
    ...defaultTuning,
    turnMaxMs: settings.user_turn_stop_timeout * 1_000,
    start: {
      strategy: settings.turn_start_strategy,
      wordsMin: settings.turn_start_min_words,
      pauseMs: settings.provisional_vad_pause_secs * 1_000,
    },
  };
}
