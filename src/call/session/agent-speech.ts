// The agent's speech on its way to the caller: fixed texts, recorded clips, and a model's words as they arrive. Makes
// no decisions; the session gets the heard words back.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { UtteranceText } from '../../pipeline/call-audio-options.ts';
import type { CallClips } from '../start/setup/sound-library.ts';
import type { GenerateAction, SayAction } from './dialogue/dialogue-runner.ts';
import type { GenerationSink } from './dialogue/generation.ts';
import type { SessionEvents } from './session-events.ts';
import type { PreparedLines } from './wait-lines.ts';

export class AgentSpeech {
  readonly #record: SessionEvents;
  readonly #clips: CallClips;
  readonly #lines: Pick<PreparedLines, 'samples'>;
  readonly #kept: (text: string) => Int16Array | undefined;
  readonly #onUnsaid: (utteranceId: number) => void;
  readonly #audio: () => CallAudio | undefined;
  /** The model's last answer. */
  #answer: UtteranceText | undefined;

  constructor(deps: {
    record: SessionEvents;
    clips: CallClips;
    lines: Pick<PreparedLines, 'samples'>;
    /** The audio of a line that the voice keeps, such as a greeting that another call has had rendered, or this one
     *  while it rang. */
    kept: (text: string) => Int16Array | undefined;
    /** Called when an interjection is not rendered and so will not be said. */
    onUnsaid: (utteranceId: number) => void;
    /** The call's audio; undefined before the media flow, when nothing is said. */
    audio: () => CallAudio | undefined;
  }) {
    this.#record = deps.record;
    this.#clips = deps.clips;
    this.#lines = deps.lines;
    this.#kept = deps.kept;
    this.#onUnsaid = deps.onUnsaid;
    this.#audio = deps.audio;
  }

  /** Says a text or a clip. A clip without its audio is spoken. */
  say(action: SayAction): void {
    const { utteranceId, kind, text, clipId, interruptible } = action;
    if (action.isInterjection === true) {
      this.#interject(action);
      return;
    }
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
    const rendered = this.#lines.samples(text) ?? this.#kept(text);
    if (rendered !== undefined) {
      this.#audio()?.play({ utteranceId, interruptible, text, samples: rendered });
      return;
    }
    const speech = this.#audio()?.speak({ utteranceId, interruptible });
    this.#record.spoken(text);
    speech?.text(text);
    speech?.end();
  }

  /** Keeps the caller from interrupting the current answer: it turned out to be the last one of the call. */
  keepAnswer(): void {
    this.#answer?.keep();
  }

  #interject({ utteranceId, kind, text }: SayAction): void {
    const audio = this.#audio();
    const samples = this.#lines.samples(text);
    if (audio === undefined || samples === undefined) {
      this.#onUnsaid(utteranceId);
      return;
    }
    this.#record.utterance(utteranceId, kind, { isAnswer: false });
    audio.interject({ utteranceId, text, samples });
  }

  /** Accepts a model's words as they arrive. */
  openAnswer({ utteranceId, kind, interruptible }: GenerateAction): GenerationSink | undefined {
    this.#record.utterance(utteranceId, kind);
    const speech = this.#audio()?.speak({ utteranceId, interruptible });
    if (speech === undefined) return undefined;
    this.#answer = speech;
    return {
      text: (delta) => {
        this.#record.spoken(delta);
        speech.text(delta);
      },
      breakOff: () => speech.breakOff(),
      end: () => speech.end(),
      cancel: () => speech.cancel(),
    };
  }
}
