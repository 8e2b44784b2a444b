// Wait lines (fillers) of one call: lines that explain a wait for the agent, rendered when the conversation begins, and
// the waiting tone. A watchdog against silence requests them while an answer is due and a model, tool, recogniser or
// voice is late.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { NodeSpeech } from '../../speech/speech-plan.ts';
import { joined } from '../../speech/tts/service-voice.ts';
import type { TextToSpeech } from '../../speech/tts/tts.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { transferUnderWay } from '../../workflow/engine/tool-results.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { DialogueRunner } from './dialogue/dialogue-runner.ts';

/** Voices whose lines are kept: each has ten lines of a few seconds. */
const VOICES_MAX = 3;
/** Lines of one call at most, a few seconds each. */
const LINES_MAX = 20;
/** Samples of one line at most: ten seconds at 8 kHz. */
const SAMPLES_MAX = 80_000;
/** Consecutive failures of a voice after which no further line is rendered. */
const FAILURES_MAX = 2;
/** Silence after a line, before the tone. The line's own silence is added: 1.6 s in all. */
const TONE_MS = 1_000;
/** Pause between two lines, while the tone sounds. */
const NEXT_LINE_MS = 8_000;
/** Interval of the checks while the caller speaks. */
const LOOK_MS = 500;

interface WaitLinesOptions {
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

/** Lines of the agent that are rendered when the call begins, in the call's own voice, so that they need no service
 *  later when a service is late. */
export class PreparedLines {
  readonly #tts: TextToSpeech;
  readonly #voice: string | undefined;
  readonly #log: Log;
  readonly #lines = new Map<string, Int16Array>();
  /** Lines whose rendering has begun. */
  readonly #begun = new Set<string>();
  readonly #abort = new AbortController();

  constructor(options: { tts: TextToSpeech; voice: string | undefined; log: Log }) {
    this.#tts = options.tts;
    this.#voice = options.voice;
    this.#log = options.log;
  }

  /** Renders the lines one after the other, each once. A line that cannot be rendered is not played. Never rejects. */
  async prepare(texts: readonly string[]): Promise<void> {
    let failures = 0;
    for (const text of texts.slice(0, LINES_MAX)) {
      if (this.#lines.has(text) || this.#begun.has(text)) continue;
      if (this.#abort.signal.aborted || failures >= FAILURES_MAX) return;
      this.#begun.add(text);
      try {
        await this.#render(text);
        failures = 0;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        failures += 1;
        this.#log.warn({ code: codeOf(error) }, 'line not rendered ahead');
      } finally {
        this.#begun.delete(text);
      }
    }
  }

  /** Samples of a line at 8 kHz, borrowed. Undefined: it is not rendered, or not yet. */
  samples(text: string): Int16Array | undefined {
    return this.#lines.get(text);
  }

  close(): void {
    this.#abort.abort();
  }

  async #render(text: string): Promise<void> {
    const parts: Int16Array[] = [];
    let length = 0;
    await this.#tts.synthesize(
      { text, voice: this.#voice, isFixed: true, isAhead: true },
      {
        onAudio(samples) {
          length += samples.length;
          if (length <= SAMPLES_MAX) parts.push(samples);
        },
        onWords: () => undefined,
      },
      this.#abort.signal,
    );
    if (length > 0 && length <= SAMPLES_MAX) this.#lines.set(text, joined(parts));
  }
}

interface SilenceWatchdogOptions {
  clock: Clock;
  /** Silence before the first line, in milliseconds. 0: there are no lines. */
  lineMs: number;
  hasTone: boolean;
  /** Whether the caller waits for the agent. */
  isOwed(): boolean;
  /** Monotonic milliseconds since which both sides are silent; in the future while audio is played; Infinity while
   *  the caller speaks. */
  silentSince(): number;
  onLine(): void;
  onTone(): void;
  /** Called when the wait is over or the caller speaks: a tone that sounds must stop. */
  onToneEnd(): void;
}

/** Watchdog against silence: decides when a line or the tone is due, not what. One timer for each call, armed only while
 *  an answer is due. */
export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  #timer: Timer | undefined;
  #isClosed = false;
  /** Monotonic milliseconds at which the wait began; undefined while the agent owes nothing. */
  #owedSince: number | undefined;
  /** Number of lines since the caller's last turn. */
  #lines = 0;
  /** The silence, by its start, in which the tone was begun. */
  #toneSince = Number.NaN;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  /** Reports something that may begin or end a wait. */
  note(): void {
    if (this.#isClosed || this.#timer !== undefined || !this.#options.isOwed()) return;
    this.#owedSince ??= this.#options.clock.monotonicMs();
    this.#look(TONE_MS);
  }

  /** Reports that the caller has finished a turn: the wait counts from their last word. */
  turn(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#lines = 0;
    this.#owedSince = Number.NEGATIVE_INFINITY;
  }

  /** Reports that a line cannot be played: the tone takes its place, if the agent has one. */
  lineFailed(): void {
    if (this.#isClosed || !this.#options.hasTone) return;
    this.#toneSince = this.#options.silentSince();
    this.#options.onTone();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    const { clock, isOwed } = this.#options;
    if (this.#isClosed) return;
    if (!isOwed()) {
      this.#owedSince = undefined;
      this.#endTone();
      return;
    }
    const silentSince = this.#options.silentSince();
    const since = Math.max(silentSince, this.#owedSince ?? silentSince);
    const silentMs = clock.monotonicMs() - since;
    // Silence may begin again at any time.
    if (since === Infinity) this.#endTone();
    const nextMs = since === Infinity ? LOOK_MS : this.#act(silentMs, silentSince);
    this.#look(Math.min(TONE_MS, nextMs));
  }

  #endTone(): void {
    if (Number.isNaN(this.#toneSince)) return;
    this.#toneSince = Number.NaN;
    this.#options.onToneEnd();
  }

  /** Requests what is due. Returns the milliseconds until the next check. */
  #act(silentMs: number, silentSince: number): number {
    const { lineMs, hasTone, onLine, onTone } = this.#options;
    if (this.#lines === 0 && lineMs > 0) {
      if (silentMs < lineMs) return lineMs - silentMs;
      this.#lines += 1;
      onLine();
      return TONE_MS;
    }
    const isTone = !hasTone || this.#toneSince === silentSince;
    const nextMs = isTone ? NEXT_LINE_MS : TONE_MS;
    if (silentMs < nextMs) return nextMs - silentMs;
    if (isTone && lineMs > 0) {
      this.#lines += 1;
      onLine();
    } else if (!isTone) {
      this.#toneSince = silentSince;
      onTone();
    }
    return TONE_MS;
  }
}
