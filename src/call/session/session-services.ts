// What one session talks with: its audio, built from the plan, the provider's media and the process's services; and its
// services in the current node.

import { codecByName } from '../../codec/registry.ts';
import type { Log } from '../../log.ts';
import type { WorkflowConfigurations } from '../../model/workflow.ts';
import { CallAudio } from '../../pipeline/call-audio.ts';
import type { CallAudioEvent } from '../../pipeline/call-audio-event.ts';
import type { ContinuedRecording, RecordingFile } from '../../pipeline/recorder.ts';
import { defaultTuning, type TurnTuning } from '../../pipeline/turn/turn-tuning.ts';
import {
  type NodeSpeech,
  type SpeechPlace,
  type SpeechPlan,
  speechAt,
} from '../../speech/speech-plan.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSession, MediaStart } from '../../telephony/provider/media-session.ts';
import { answerTuningOf } from '../start/setup/answering-machine.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { CallServices } from '../start/setup/call-services.ts';
import { modelOfNode } from './dialogue/node-model.ts';
import type { SessionEvents } from './session-events.ts';

interface AudioParts {
  plan: CallPlan;
  start: MediaStart;
  media: MediaSession;
  recording: RecordingFile | undefined;
  /** Set for a call that goes on: another process has begun the recording, and found out who answered. */
  continued: ContinuedRecording | undefined;
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
    answer: parts.continued === undefined ? answerTuningOf(plan) : undefined,
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

interface CurrentServicesOptions {
  record: SessionEvents;
  /** The call's audio; undefined before the media flow. */
  audio: () => CallAudio | undefined;
  onChanged: (speech: NodeSpeech) => void;
}

/** The services of one call in its current node: at a node's change the voice changes with the next utterance, the
 *  recogniser after the caller's turn, the model with the next request. All of them are in the call's plan. */
export class CurrentServices {
  /** The language model, which passes each request to that of the current node. Undefined: the scripted policy leads
   *  the conversation. */
  readonly llm: NodeSpeech['llm'];
  readonly #plan: SpeechPlan;
  readonly #options: CurrentServicesOptions;
  #place: SpeechPlace = { nodeId: null };
  #current: NodeSpeech;

  constructor(plan: SpeechPlan, options: CurrentServicesOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#current = plan;
    this.llm = modelOfNode(plan, () => this.#current);
    plan.onPermanentFault = (fault) => options.record.fault(fault, false);
    plan.onServiceChanged = (change) => options.record.serviceChanged(change);
    options.record.voice = plan.tts;
  }

  get tts(): NodeSpeech['tts'] {
    return this.#current.tts;
  }

  get voice(): NodeSpeech['voice'] {
    return this.#current.voice;
  }

  /** Services for an announcement to a transfer's destination, with the voice of the node in which it is made. */
  consultation<Services extends object>(
    services: Services,
  ): Services & Pick<NodeSpeech, 'tts' | 'voice'> {
    const current = (): NodeSpeech => this.#current;
    return {
      ...services,
      get tts() {
        return current().tts;
      },
      get voice() {
        return current().voice;
      },
    };
  }

  /** Goes to another place: what is said from then on belongs to it. Of another agent, its first node follows. */
  moveTo(to: Partial<SpeechPlace>): void {
    this.#place = { ...this.#place, ...to };
    if ('agent' in to && to.nodeId === undefined) return;
    const next = speechAt(this.#plan, this.#place);
    if (next === this.#current) return;
    const { record, audio, onChanged } = this.#options;
    this.#current = next;
    record.voice = next.tts;
    audio()?.use(next);
    onChanged(next);
  }

  /** The audio of a line that the voice keeps, such as a greeting that another call has had rendered, or this one
   *  while it rang. */
  kept(text: string): Int16Array | undefined {
    return this.tts.kept?.(text, this.voice);
  }
}
