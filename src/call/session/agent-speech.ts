// What the agent is told to say, on its way to the caller: fixed texts, recorded clips, and a model's words
// as they come. It decides nothing; what was heard comes back to the session.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { DialogueAction } from '../../workflow/engine/dialogue-events.ts';
import type { Generation } from '../dialogue/generation.ts';
import type { CallClips } from '../setup/sound-library.ts';
import type { SessionEvents } from './session-events.ts';

type Act<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;

export class AgentSpeech {
  readonly #record: SessionEvents;
  readonly #generation: Generation;
  readonly #clips: CallClips;
  readonly #audio: () => CallAudio | undefined;

  constructor(deps: {
    record: SessionEvents;
    generation: Generation;
    clips: CallClips;
    /** Undefined before the media flows: nothing is said then. */
    audio: () => CallAudio | undefined;
  }) {
    this.#record = deps.record;
    this.#generation = deps.generation;
    this.#clips = deps.clips;
    this.#audio = deps.audio;
  }

  /** A clip whose sound is not there is spoken. */
  say({ utteranceId, kind, text, clipId, interruptible }: Act<'say'>): void {
    this.#record.utterance(utteranceId, kind);
    if (clipId !== undefined) {
      const samples = this.#clips.samples(clipId);
      if (samples !== undefined) {
        this.#audio()?.play({ utteranceId, interruptible, text, samples });
        return;
      }
      const reason = 'its file cannot be read';
      this.#record.fault(new GatewayError('CLIP_UNUSABLE', { name: clipId, reason }), false);
    }
    const speech = this.#audio()?.speak({ utteranceId, interruptible });
    this.#record.spoken(text);
    speech?.text(text);
    speech?.end();
  }

  generate(action: Act<'generate'>): void {
    const { utteranceId, kind, interruptible } = action;
    this.#record.utterance(utteranceId, kind);
    const speech = this.#audio()?.speak({ utteranceId, interruptible });
    if (speech === undefined) return;
    this.#generation.start(action, {
      text: (delta) => {
        this.#record.spoken(delta);
        speech.text(delta);
      },
      end: () => speech.end(),
      cancel: () => speech.cancel(),
    });
  }
}
