// The services of one call in its current node: at a node's change the voice changes with the next utterance, the
// recogniser after the caller's turn, the model with the next request. All of them are in the call's plan.

import type { CallAudio } from '../../pipeline/call-audio.ts';
import { type NodeSpeech, nodeSpeechOf, type SpeechPlan } from '../../speech/speech-plan.ts';
import { modelOfNode } from './dialogue/node-model.ts';
import type { SessionEvents } from './session-events.ts';

export interface CurrentServicesOptions {
  record: SessionEvents;
  /** The call's audio; undefined before the media flow. */
  audio: () => CallAudio | undefined;
  onChanged: (speech: NodeSpeech) => void;
}

export class CurrentServices {
  /** The language model, which passes each request to that of the current node. Undefined: the scripted policy leads
   *  the conversation. */
  readonly llm: NodeSpeech['llm'];
  readonly #plan: SpeechPlan;
  readonly #options: CurrentServicesOptions;
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

  /** Enters a node: what is said from then on belongs to it. */
  enter(nodeId: string): void {
    const next = nodeSpeechOf(this.#plan, nodeId);
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
