// Wait lines (fillers) of one call: lines that explain a wait for the agent, rendered when the conversation begins, and
// the waiting tone. Connects the silence watchdog with the call's audio and its dialogue.

import type { Log } from '../../log.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { NodeSpeech } from '../../speech/speech-plan.ts';
import type { Clock } from '../../std/clock.ts';
import { transferUnderWay } from '../../workflow/engine/tool-results.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { PreparedLines } from '../start/setup/prepared-lines.ts';
import type { DialogueRunner } from './dialogue/dialogue-runner.ts';
import { SilenceWatchdog } from './dialogue/silence-watchdog.ts';

/** Voices whose lines are kept: each has ten lines of a few seconds. */
const VOICES_MAX = 3;

export interface WaitLinesOptions {
  plan: Pick<CallPlan, 'engine' | 'settings' | 'speech'>;
  clock: Clock;
  log: Log;
  audio: () => CallAudio | undefined;
  /** Whether the parties cannot hear each other. */
  isSuspended: () => boolean;
  dialogue: () => Pick<DialogueRunner, 'isAsking' | 'state' | 'dispatch'>;
}

/** Lines of one voice. Nodes with the same voice share them. */
interface LinesOfVoice extends Pick<NodeSpeech, 'tts' | 'voice'> {
  lines: PreparedLines;
}

export class WaitLines {
  /** Prepared lines, the most recently used last. */
  #prepared: LinesOfVoice[] = [];
  #speech: NodeSpeech;
  readonly #options: WaitLinesOptions;
  readonly #watchdog: SilenceWatchdog;
  #hasBegun = false;

  constructor(options: WaitLinesOptions) {
    const { plan, clock, audio } = options;
    const { filler_delay_seconds: delayS, waiting_tone_enabled: hasTone } = plan.settings;
    this.#options = options;
    this.#speech = plan.speech;
    this.#watchdog = new SilenceWatchdog({
      clock,
      lineMs: delayS * 1_000,
      hasTone,
      isOwed: () => this.#isOwed(),
      silentSince: () => audio()?.silentSince ?? clock.monotonicMs(),
      onLine: () => options.dialogue().dispatch({ type: 'waiting' }),
      onTone: () => audio()?.hold(true),
      onToneEnd: () => audio()?.hold(false),
    });
  }

  /** Begins the wait lines with the conversation. Outages and faults are explained even by an agent that never
   *  explains a wait. */
  begin(): void {
    this.#hasBegun = true;
    this.#prepare();
  }

  /** Uses the voice of the current node for the lines. */
  use(speech: NodeSpeech): void {
    this.#speech = speech;
    if (this.#hasBegun) this.#prepare();
  }

  /** Samples of a line at 8 kHz, borrowed. Undefined: it is not rendered, or not yet. */
  samples(text: string): Int16Array | undefined {
    return this.#ofVoice()?.lines.samples(text);
  }

  #prepare(): void {
    const { plan, log, dialogue } = this.#options;
    const { tts, voice } = this.#speech;
    const used = this.#ofVoice() ?? { tts, voice, lines: new PreparedLines({ tts, voice, log }) };
    this.#prepared = [...this.#prepared.filter((each) => each !== used), used];
    if (this.#prepared.length > VOICES_MAX) this.#prepared.shift()?.lines.close();
    const { waits, faults } = plan.engine.waitLines(dialogue().state);
    const hasLines = plan.settings.filler_delay_seconds > 0;
    void used.lines.prepare(hasLines ? [...waits, ...faults] : faults);
  }

  /** Reports something that may begin or end a wait. */
  note(): void {
    this.#watchdog.note();
  }

  /** Reports that the caller has finished a turn. */
  callerTurn(): void {
    this.#options.audio()?.hold(false);
    this.#watchdog.turn();
  }

  /** Reports that a line is not rendered: only the tone then shows that the call is still up. */
  unsaid(utteranceId: number): void {
    const { dialogue } = this.#options;
    if (this.#isOwed()) this.#watchdog.lineFailed();
    const unheard = { utteranceId, heardText: '', interrupted: true } as const;
    dialogue().dispatch({ type: 'utterance-finished', ...unheard });
  }

  close(): void {
    this.#watchdog.close();
    for (const { lines } of this.#prepared) lines.close();
  }

  #ofVoice(): LinesOfVoice | undefined {
    const { tts, voice } = this.#speech;
    return this.#prepared.find((each) => each.tts === tts && each.voice === voice);
  }

  #isOwed(): boolean {
    const { state, isAsking } = this.#options.dialogue();
    const audio = this.#options.audio();
    if (audio === undefined || this.#options.isSuspended()) return false;
    if (state.phase !== 'talking' && state.phase !== 'closing') return false;
    if (audio.owesSpeech || audio.callerSpeaking) return true;
    // The other side of a transfer has its own sounds.
    return isAsking && transferUnderWay(state) === undefined;
  }
}
